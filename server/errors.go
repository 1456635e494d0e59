package server

import (
	"errors"
	"net/http"

	"rankcast/ranking/definition"
	"rankcast/server/access"
	"rankcast/server/internal/gate"
	"rankcast/server/internal/problem"
)

// Explain describes an error of the store as the API does: by its code, the field that is wrong or "", and a message. It
// is for a process that applies updates without a Server.
func Explain(err error) (code, field, message string) {
	p := problem.Of(err)
	return p.Code, p.Field, p.Message
}

type refusalJSON struct {
	Error errorJSON `json:"error"`
}

type errorJSON struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Field   string `json:"field,omitempty"`
}

func newRefusal(c *access.Caller, err error) refusalJSON {
	p := problem.For(c, err)
	return refusalJSON{errorJSON{Code: p.Code, Message: p.Message, Field: p.Field}}
}

// notCountedError is the error of a request whose updates or events have not counted.
type notCountedError struct{ error }

func (e *notCountedError) Unwrap() error { return e.error }

// Extend is part of gate.Extended. Counted is false if no update of this request has counted, and absent if the server
// does not say.
func (e *notCountedError) Extend(p gate.Problem) any {
	if p.Status != http.StatusServiceUnavailable {
		return p
	}
	return struct {
		gate.Problem
		Counted bool `json:"counted"`
	}{p, false}
}

// markNotCounted marks an error of the store about the updates or the events of a request, if it says that none has
// counted.
func markNotCounted(err error) error {
	if err == nil || errors.Is(err, definition.ErrOutcomeUnknown) {
		return err
	}
	return &notCountedError{err}
}
