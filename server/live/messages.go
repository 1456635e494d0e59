package live

import (
	"bytes"
	"cmp"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"rankcast/ranking/definition"
	"rankcast/server/access"
	"rankcast/server/internal/problem"
	"rankcast/server/internal/request"
)

// errReadOnly refuses an update or event on a node whose sockets are read-only.
var errReadOnly error = &definition.FieldError{Field: "type",
	Reason: "update and event are not allowed on sockets of this server (--no-socket-writes); send them from your own server, by HTTP",
	Kind:   problem.ErrForbidden}

// errCrossOriginUpdate refuses an update or event from a page of another site that has not sent credentials.
var errCrossOriginUpdate error = &definition.FieldError{Field: "type",
	Reason: "update and event need a token from a page of another site; send auth first, or send them from your own server, by HTTP",
	Kind:   problem.ErrForbidden}

// handle decodes one message and acts on it, unless a limit has refused it. It returns the message's id,
// also beside an error: a client needs it to find what was refused.
func (ss *session) handle(encoded []byte, refused error) (id jsontext.Value, err error) {
	o, err := request.ParseObject("message", bytes.Clone(encoded)) // encoded is the session's; the answer may come later
	if id = o["id"]; id != nil {
		if k := id.Kind(); k != '0' && k != '"' || len(id) > maxIDBytes || !id.IsValid() {
			return nil, cmp.Or(err, definition.Invalid("id", "want a number or a string of up to 128 bytes"))
		}
	}
	if err != nil {
		return id, err
	}
	if refused != nil {
		return id, refused
	}
	fields := request.FieldsOf(o)
	name := fields.Text("type")
	kind := messageTypeOf(name, o)
	switch {
	case fields.Err != nil:
		return id, fields.Err
	case name == "":
		return id, definition.Invalid("type", "is missing")
	case kind == nil:
		return id, definition.Invalid("type", fmt.Sprintf("is %.30q; want subscribe, unsubscribe, update, event, auth or ping", name))
	}
	m := &message{id: id, fields: fields, size: len(encoded)}
	m.caller, m.version = ss.present()
	if err := ss.authorize(kind.MessageNeed, m); err != nil {
		return id, err
	}
	if err := o.Only(kind.fields...); err != nil {
		return id, err
	}
	return id, kind.act(ss, m)
}

// authorize refuses a message that its caller may not send, before the server looks at what it is about: a client
// must not learn which boards and events there are. It takes a token of the caller's rate.
func (ss *session) authorize(n MessageNeed, m *message) error {
	if n.Scope == 0 {
		return nil
	}
	if n.Scope == access.ScopeWrite {
		if err := ss.checkWrites(m.caller); err != nil {
			return err
		}
	}
	name := m.fields.RequiredText(n.Field)
	if m.fields.Err != nil {
		return m.fields.Err
	}
	guard := ss.sessions.cfg.Guard
	var err error
	if m.caller, err = guard.Reverify(m.caller, m.version); err != nil {
		return err
	}
	if _, err := guard.Take(m.caller, ss.slot.Address(), 1, 0); err != nil {
		return err
	}
	m.about = access.Resource{Type: n.Resource, Name: name}
	return m.caller.Check(n.Scope, m.about)
}

// checkWrites returns an error if a caller may write nothing over this socket.
func (ss *session) checkWrites(c *access.Caller) error {
	switch {
	case ss.sessions.cfg.ReadOnly:
		return errReadOnly
	case ss.crossOrigin && !c.Authenticated(): // HTTP refuses such a page too
		return errCrossOriginUpdate
	}
	return nil
}

// ping answers a ping, with the time.
func (ss *session) ping(m *message) error {
	ss.socket.reply(answerFrameAt("pong", m.id, ss.sessions.store.Now()))
	return nil
}
