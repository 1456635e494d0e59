package live

import (
	"github.com/go-json-experiment/json/jsontext"

	"rankcast/hub"
	"rankcast/server/access"
	"rankcast/server/internal/problem"
	"rankcast/server/internal/request"
)

// update applies an update. The session reads the next message after it has
// answered this one, so that a client's updates keep their order.
func (ss *session) update(m *message) error {
	return ss.write(m, "update", func(body request.Object) ([]byte, error) {
		return ss.sessions.updater.Update(ss.sessions.calls, m.about.Name, body)
	})
}

// event applies an event.
func (ss *session) event(m *message) error {
	return ss.write(m, "data", func(body request.Object) ([]byte, error) {
		return ss.sessions.updater.Event(ss.sessions.calls, m.caller, m.about.Name, body)
	})
}

// write waits for the turn of a message, does what it asks for, and answers it. field is the field of the message
// that holds what is written.
func (ss *session) write(m *message, field string, do func(body request.Object) ([]byte, error)) error {
	body := m.fields.Object(field)
	if m.fields.Err != nil {
		return m.fields.Err
	}
	release, err := ss.slot.AcquireWrite(ss.sessions.calls, m.size)
	if err != nil {
		return err
	}
	answer, err := ss.writeNow(m, field, func() ([]byte, error) { return do(body) })
	release()
	if err != nil {
		return err
	}
	ss.replyResult(m.id, answer)
	return nil
}

// writeNow is write in the turn of the message. It refuses a caller that has lost its rights during the wait.
func (ss *session) writeNow(m *message, field string, do func() ([]byte, error)) (answer []byte, err error) {
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
func (ss *session) replyResult(id jsontext.Value, answer []byte) {
	b := make([]byte, 0, len(answer)+len(id)+len(`{"type":"result","id":,`))
	b = append(b, `{"type":"result",`...)
	if len(id) > 0 {
		b = append(append(append(b, `"id":`...), id...), ',')
	}
	ss.socket.reply(hub.NewFrame(append(b, answer[len("{"):]...)))
}
