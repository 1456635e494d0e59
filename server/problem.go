package server

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"rankcast/hub"
	"rankcast/ranking"
)

var (
	errForbidden = errors.New("forbidden")
	errNotFound  = errors.New("not found")
	errMethod    = errors.New("method not allowed")
	errHandshake = errors.New("not a WebSocket handshake")
)

// errOtherSite is what a page of another site gets.
var errOtherSite error = &ranking.FieldError{Field: "Origin", Reason: "is not this page's own", Kind: errForbidden}

// errNotReady is why a node should get no traffic. It shows as unavailable.
var errNotReady = fmt.Errorf("%w: not ready", ranking.ErrUnavailable)

// problems is how errors look to a caller. The first that fits counts.
var problems = []struct {
	err    error
	status int
	code   string
}{
	{ranking.ErrInvalid, http.StatusBadRequest, "invalid_request"},
	{errHandshake, http.StatusBadRequest, "invalid_request"},
	{errForbidden, http.StatusForbidden, "forbidden"},
	{ranking.ErrUnknownBoard, http.StatusNotFound, "unknown_board"},
	{ranking.ErrUnknownPeriod, http.StatusNotFound, "unknown_period"},
	{ranking.ErrUnknownEvent, http.StatusNotFound, "unknown_event"},
	{ranking.ErrUnknownMember, http.StatusNotFound, "unknown_member"},
	{errNotFound, http.StatusNotFound, "not_found"},
	{errMethod, http.StatusMethodNotAllowed, "method_not_allowed"},
	{ranking.ErrIDMismatch, http.StatusConflict, "idempotency_mismatch"},
	{ranking.ErrNotOpen, http.StatusConflict, "not_open"},
	{ranking.ErrConflict, http.StatusConflict, "conflict"},
	{ranking.ErrTooLarge, http.StatusRequestEntityTooLarge, "too_large"},
	{ranking.ErrOutOfRange, http.StatusUnprocessableEntity, "out_of_range"},
	{ranking.ErrOverloaded, http.StatusServiceUnavailable, "unavailable"},
	{ranking.ErrUnavailable, http.StatusServiceUnavailable, "unavailable"},
	{hub.ErrClosed, http.StatusServiceUnavailable, "unavailable"},
}

// problem is an error as a caller sees it.
type problem struct {
	status  int
	code    string
	message string
	field   string
}

// describe finds what to tell of err. What is nobody's business outside (an
// unknown error, or the store's own words) stays inside.
func describe(err error) problem {
	p := problem{status: http.StatusInternalServerError, code: "internal", message: "something went wrong; it has been logged"}
	for _, known := range problems {
		if errors.Is(err, known.err) {
			p = problem{status: known.status, code: known.code, message: err.Error()}
			break
		}
	}
	var field *ranking.FieldError
	if errors.As(err, &field) {
		p.field, p.message = field.Field, field.Error()
	}
	// Names that a caller made up may be of any bytes.
	p.field, p.message = strings.ToValidUTF8(p.field, "\uFFFD"), strings.ToValidUTF8(p.message, "\uFFFD")
	if p.status == http.StatusServiceUnavailable {
		switch {
		case errors.Is(err, ranking.ErrOutcomeUnknown):
			p.message = "the store failed; an update may or may not have been applied: send it again with the same id"
		case errors.Is(err, ranking.ErrOverloaded):
			p.message = "too many updates are waiting; nothing was applied"
		case errors.Is(err, errNotReady), errors.Is(err, hub.ErrClosed):
			p.message = err.Error()
		default:
			p.message = "the store is not available"
		}
	}
	return p
}

// at names the place of a field within a larger request: updates[3].score.
func at(place string, err error) error {
	var field *ranking.FieldError
	if !errors.As(err, &field) {
		return err
	}
	return &ranking.FieldError{Field: place + "." + field.Field, Reason: field.Reason, Kind: field.Kind}
}

// within names the place in the message of what is wrong with what it carries; what
// is wrong with the board or the event as a whole stands beside that.
func within(place string, err error) error {
	for _, kind := range []error{ranking.ErrUnknownBoard, ranking.ErrUnknownPeriod, ranking.ErrUnknownEvent, ranking.ErrNotOpen, ranking.ErrConflict} {
		if errors.Is(err, kind) {
			return err
		}
	}
	return at(place, err)
}
