package live

import (
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"rankcast/hub"
	"rankcast/ranking/definition"
	"rankcast/server/internal/problem"
)

// answerFrame is the answer to the message with that id.
func answerFrame(kind string, id jsontext.Value) *hub.Frame {
	return answerFrameAt(kind, id, time.Time{})
}

// answerFrameAt is such an answer with the time by the clock of Redis, unless that is zero.
// A client that counts down to the end of a period then does not depend on its own clock.
func answerFrameAt(kind string, id jsontext.Value, now time.Time) *hub.Frame {
	b := append([]byte(`{"type":"`), kind...)
	b = append(b, '"')
	if id != nil {
		b = append(b, `,"id":`...)
		b = append(b, id...)
	}
	if !now.IsZero() {
		b = append(b, `,"now":"`...)
		b = now.AppendFormat(b, definition.TimeForm)
		b = append(b, '"')
	}
	return hub.NewFrame(append(b, '}'))
}

// errorJSON is an error: the answer to the message with that id, or the end of a subscription to a board or a feed.
type errorJSON struct {
	Type    string         `json:"type"` // "error"
	ID      jsontext.Value `json:"id,omitzero"`
	Board   string         `json:"board,omitzero"`
	Feed    string         `json:"feed,omitzero"`
	Code    string         `json:"code"`
	Message string         `json:"message"`
	Field   string         `json:"field,omitempty"`
}

func (e errorJSON) encode() []byte {
	e.Type = "error"
	b, err := json.Marshal(e)
	if err != nil {
		panic(err) // it holds strings and valid JSON only
	}
	return b
}

func errorFrame(id jsontext.Value, p problem.Problem) *hub.Frame {
	return hub.NewFrame(errorJSON{ID: id, Code: p.Code, Message: p.Message, Field: p.Field}.encode())
}
