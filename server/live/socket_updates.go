package live

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"rankcast/hub"
	"rankcast/server/internal/problem"
	"rankcast/server/internal/request"
)

// update applies an update. The session reads the next message after it has answered this one, so
// that a client's updates keep their order.
func (ss *session) update(id jsontext.Value, o request.Object) error {
	if err := o.Only("type", "id", "board", "update"); err != nil {
		return err
	}
	board, err := o.RequiredText("board")
	if err != nil {
		return err
	}
	body, err := o.Object("update")
	if err != nil {
		return err
	}
	answer, err := ss.sessions.updater.Update(ss.sessions.calls, board, body)
	if err != nil {
		return problem.InItem("update", err)
	}
	return ss.replyResult(id, answer)
}

// event applies an event.
func (ss *session) event(id jsontext.Value, o request.Object) error {
	if err := o.Only("type", "id", "event", "data"); err != nil {
		return err
	}
	event, err := o.RequiredText("event")
	if err != nil {
		return err
	}
	body, err := o.Object("data")
	if err != nil {
		return err
	}
	answer, err := ss.sessions.updater.Event(ss.sessions.calls, event, body)
	if err != nil {
		return problem.InItem("data", err)
	}
	return ss.replyResult(id, answer)
}

// replyResult sends the answer that HTTP would give, as a result frame.
func (ss *session) replyResult(id jsontext.Value, answer any) error {
	fields, err := json.Marshal(answer)
	if err != nil {
		return fmt.Errorf("encode an answer: %w", err)
	}
	b, err := json.Marshal(struct {
		Type   string         `json:"type"`
		ID     jsontext.Value `json:"id,omitzero"`
		Fields jsontext.Value `json:",embed"`
	}{"result", id, fields})
	if err != nil {
		return fmt.Errorf("encode an answer: %w", err)
	}
	ss.socket.reply(hub.NewFrame(b))
	return nil
}
