package live

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"rankcast/ranking"
	"rankcast/server/internal/problem"
	"rankcast/server/internal/request"
)

// errReadOnly refuses an update or event on a node whose sockets are read-only.
var errReadOnly error = &ranking.FieldError{Field: "type", Reason: "update and event are not allowed on sockets of this server (--no-socket-writes); send them from your own server, by HTTP", Kind: problem.ErrForbidden}

// errCrossOriginUpdate refuses an update or event from a page of another site.
var errCrossOriginUpdate error = &ranking.FieldError{Field: "type", Reason: "update and event are not allowed from a page of another site; send them from your own server, by HTTP", Kind: problem.ErrForbidden}

// handle decodes one message and acts on it, unless a limit has refused it. It returns the message's id,
// also beside an error: a client needs it to find what was refused.
func (ss *session) handle(message []byte, refused error) (id jsontext.Value, err error) {
	o, err := request.ParseObject("message", message)
	if err != nil {
		return nil, err
	}
	if id = o["id"]; id != nil {
		if k := id.Kind(); k != '0' && k != '"' || len(id) > maxIDBytes {
			return nil, ranking.Invalid("id", "want a number or a string of up to 128 bytes")
		}
	}
	if refused != nil {
		return id, refused
	}
	kind, err := o.Text("type")
	if err != nil {
		return id, err
	}
	if kind == "update" || kind == "event" {
		switch {
		case ss.sessions.cfg.ReadOnly:
			return id, errReadOnly
		case ss.crossOrigin: // HTTP refuses such a page too
			return id, errCrossOriginUpdate
		}
	}
	switch kind {
	case "subscribe":
		return id, ss.subscribe(id, o)
	case "unsubscribe":
		return id, ss.unsubscribe(id, o)
	case "update", "event":
		release, err := ss.slot.AcquireWrite(ss.sessions.calls, len(message))
		if err != nil {
			return id, err
		}
		defer release()
		if kind == "update" {
			return id, ss.update(id, o)
		}
		return id, ss.event(id, o)
	case "ping":
		if err := o.Only("type", "id"); err != nil {
			return id, err
		}
		ss.socket.reply(answerFrameAt("pong", id, ss.sessions.store.Now()))
		return id, nil
	case "":
		return id, ranking.Invalid("type", "is missing")
	default:
		return id, ranking.Invalid("type", fmt.Sprintf("is %.30q; want subscribe, unsubscribe, update, event or ping", kind))
	}
}
