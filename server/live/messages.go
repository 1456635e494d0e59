package live

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"rankcast/ranking"
	"rankcast/server/internal/problem"
	"rankcast/server/internal/request"
)

// errReadOnly is what a socket gets that sends an update where none may.
var errReadOnly error = &ranking.FieldError{Field: "type", Reason: "may not be update or event: this server takes none over sockets", Kind: problem.ErrForbidden}

// errCrossOriginUpdate is what one gets that a page of another site has opened.
var errCrossOriginUpdate error = &ranking.FieldError{Field: "type", Reason: "may not be update or event: this server takes none from pages of other sites", Kind: problem.ErrForbidden}

// act does what a message asks for, and returns its id.
func (ss *session) act(message []byte) (id jsontext.Value, err error) {
	o, err := request.ParseObject("message", message)
	if err != nil {
		return nil, err
	}
	if id = o["id"]; id != nil {
		if k := id.Kind(); k != '0' && k != '"' || len(id) > maxIDBytes {
			return nil, ranking.Invalid("id", "want a number or a string of up to 128 bytes")
		}
	}
	kind, err := o.Text("type")
	if err != nil {
		return id, err
	}
	if kind == "update" || kind == "event" {
		switch {
		case ss.sessions.cfg.ReadOnly:
			return id, errReadOnly
		case ss.crossOrigin: // which could not send it over HTTP either
			return id, errCrossOriginUpdate
		}
	}
	switch kind {
	case "subscribe":
		return id, ss.subscribe(id, o)
	case "unsubscribe":
		return id, ss.unsubscribe(id, o)
	case "update":
		return id, ss.update(id, o)
	case "event":
		return id, ss.event(id, o)
	case "ping":
		if err := o.Only("type", "id"); err != nil {
			return id, err
		}
		ss.socket.reply(timedFrame("pong", id, ss.sessions.store.Now()))
		return id, nil
	case "":
		return id, ranking.Invalid("type", "is missing")
	default:
		return id, ranking.Invalid("type", fmt.Sprintf("is %.30q; want subscribe, unsubscribe, update, event or ping", kind))
	}
}
