package live

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"rankcast/hub"
	"rankcast/server/access"
	"rankcast/server/internal/problem"
)

// update applies an update. The session reads the next message after it has
// answered this one, so that a client's updates keep their order.
func (ss *session) update(m *message) error {
	if err := m.fields.Only("type", "id", "board", "update"); err != nil {
		return err
	}
	body, err := m.fields.Object("update")
	if err != nil {
		return err
	}
	return ss.write(m, "update", func() (any, error) {
		return ss.sessions.updater.Update(ss.sessions.calls, m.about.Name, body)
	})
}

// event applies an event.
func (ss *session) event(m *message) error {
	if err := m.fields.Only("type", "id", "event", "data"); err != nil {
		return err
	}
	body, err := m.fields.Object("data")
	if err != nil {
		return err
	}
	return ss.write(m, "data", func() (any, error) {
		return ss.sessions.updater.Event(ss.sessions.calls, m.caller, m.about.Name, body)
	})
}

// write waits for the turn of a message, does what it asks for, and answers it. field is the field of the message
// that holds what is written.
func (ss *session) write(m *message, field string, do func() (any, error)) error {
	release, err := ss.slot.AcquireWrite(ss.sessions.calls, m.size)
	if err != nil {
		return err
	}
	answer, err := ss.writeNow(m, field, do)
	release()
	if err != nil {
		return err
	}
	return ss.replyResult(m.id, answer)
}

// writeNow is write in the turn of the message. It refuses a caller that has lost its rights during the wait.
func (ss *session) writeNow(m *message, field string, do func() (any, error)) (answer any, err error) {
	if m.caller, err = ss.sessions.cfg.Guard.Reverify(m.caller, m.version); err != nil {
		return nil, err
	}
	if err := m.caller.Check(access.ScopeWrite, m.about); err != nil {
		return nil, err
	}
	if answer, err = do(); err != nil {
		return nil, problem.InItem(field, err)
	}
	return answer, nil
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
