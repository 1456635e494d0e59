package problem

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"rankcast/hub"
	"rankcast/ranking"
)

var (
	ErrForbidden        = errors.New("forbidden")
	ErrNotFound         = errors.New("not found")
	ErrMethodNotAllowed = errors.New("method not allowed")
	ErrHandshake        = errors.New("not a WebSocket handshake")
)

// ErrCrossOrigin is what a page of another site gets.
var ErrCrossOrigin error = &ranking.FieldError{Field: "Origin", Reason: "is not this page's own", Kind: ErrForbidden}

// ErrNotReady is why a node should get no traffic. It shows as unavailable.
var ErrNotReady = fmt.Errorf("%w: not ready", ranking.ErrUnavailable)

// table is how errors look to a caller. The first that fits counts.
var table = []struct {
	err    error
	status int
	code   string
}{
	{ranking.ErrInvalid, http.StatusBadRequest, "invalid_request"},
	{ErrHandshake, http.StatusBadRequest, "invalid_request"},
	{ErrForbidden, http.StatusForbidden, "forbidden"},
	{ranking.ErrUnknownBoard, http.StatusNotFound, "unknown_board"},
	{ranking.ErrUnknownPeriod, http.StatusNotFound, "unknown_period"},
	{ranking.ErrUnknownEvent, http.StatusNotFound, "unknown_event"},
	{ranking.ErrUnknownMember, http.StatusNotFound, "unknown_member"},
	{ErrNotFound, http.StatusNotFound, "not_found"},
	{ErrMethodNotAllowed, http.StatusMethodNotAllowed, "method_not_allowed"},
	{ranking.ErrIDMismatch, http.StatusConflict, "idempotency_mismatch"},
	{ranking.ErrNotOpen, http.StatusConflict, "not_open"},
	{ranking.ErrConflict, http.StatusConflict, "conflict"},
	{ranking.ErrTooLarge, http.StatusRequestEntityTooLarge, "too_large"},
	{ranking.ErrOutOfRange, http.StatusUnprocessableEntity, "out_of_range"},
	{ranking.ErrOverloaded, http.StatusServiceUnavailable, "unavailable"},
	{ranking.ErrUnavailable, http.StatusServiceUnavailable, "unavailable"},
	{hub.ErrClosed, http.StatusServiceUnavailable, "unavailable"},
}

// Problem is an error as a caller sees it.
type Problem struct {
	Status  int
	Code    string
	Message string
	Field   string
}

// Of finds what to tell of err. What is nobody's business outside (an
// unknown error, or the store's own words) stays inside.
func Of(err error) Problem {
	p := Problem{Status: http.StatusInternalServerError, Code: "internal", Message: "something went wrong; it has been logged"}
	for _, known := range table {
		if errors.Is(err, known.err) {
			p = Problem{Status: known.status, Code: known.code, Message: err.Error()}
			break
		}
	}
	var field *ranking.FieldError
	if errors.As(err, &field) {
		p.Field, p.Message = field.Field, field.Error()
	}
	// Names that a caller made up may be of any bytes.
	p.Field, p.Message = strings.ToValidUTF8(p.Field, "\uFFFD"), strings.ToValidUTF8(p.Message, "\uFFFD")
	if p.Status == http.StatusServiceUnavailable {
		switch {
		case errors.Is(err, ranking.ErrOutcomeUnknown):
			p.Message = "the store failed; an update may or may not have been applied: send it again with the same id"
		case errors.Is(err, ranking.ErrOverloaded):
			p.Message = "too many updates are waiting; nothing was applied"
		case errors.Is(err, ErrNotReady), errors.Is(err, hub.ErrClosed):
			p.Message = err.Error()
		default:
			p.Message = "the store is not available"
		}
	}
	return p
}

// At names the place of a field within a larger request: updates[3].score.
func At(place string, err error) error {
	var field *ranking.FieldError
	if !errors.As(err, &field) {
		return err
	}
	return &ranking.FieldError{Field: place + "." + field.Field, Reason: field.Reason, Kind: field.Kind}
}

// InItem names the place in the message of what is wrong with what it carries; what
// is wrong with the board or the event as a whole stands beside that.
func InItem(place string, err error) error {
	for _, kind := range []error{ranking.ErrUnknownBoard, ranking.ErrUnknownPeriod, ranking.ErrUnknownEvent, ranking.ErrNotOpen, ranking.ErrConflict} {
		if errors.Is(err, kind) {
			return err
		}
	}
	return At(place, err)
}
