package problem

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"rankcast/hub"
	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/server/access"
)

var (
	ErrForbidden            = access.ErrForbidden
	ErrNotFound             = errors.New("not found")
	ErrMethodNotAllowed     = errors.New("method not allowed")
	ErrHandshake            = errors.New("not a WebSocket handshake")
	ErrMisdirectedRequest   = errors.New("misdirected request")
	ErrUnsupportedMediaType = errors.New("unsupported media type")
)

// ErrCrossOrigin refuses a request from a page of another site.
var ErrCrossOrigin error = &definition.FieldError{
	Field: "Origin", Reason: "is the origin of another site that --origins does not allow", Kind: ErrForbidden,
}

// ErrNotReady is the error of a readiness check. Its code is unavailable.
var ErrNotReady = fmt.Errorf("%w: not ready", definition.ErrUnavailable)

// table maps errors to HTTP statuses and codes. The first match counts.
var table = []struct {
	err    error
	status int
	code   string
}{
	{definition.ErrInvalid, http.StatusBadRequest, "invalid_request"},
	{ErrHandshake, http.StatusBadRequest, "invalid_request"},
	{access.ErrUnauthorized, http.StatusUnauthorized, "unauthorized"},
	{ErrForbidden, http.StatusForbidden, "forbidden"},
	{definition.ErrForbidden, http.StatusForbidden, "forbidden"},
	{definition.ErrUnknownBoard, http.StatusNotFound, "unknown_board"},
	{definition.ErrUnknownPeriod, http.StatusNotFound, "unknown_period"},
	{definition.ErrUnknownEvent, http.StatusNotFound, "unknown_event"},
	{definition.ErrUnknownMember, http.StatusNotFound, "unknown_member"},
	{definition.ErrUnknownHistory, http.StatusNotFound, "unknown_history"},
	{ErrNotFound, http.StatusNotFound, "not_found"},
	{ErrMethodNotAllowed, http.StatusMethodNotAllowed, "method_not_allowed"},
	{definition.ErrIDMismatch, http.StatusConflict, "idempotency_mismatch"},
	{definition.ErrNotOpen, http.StatusConflict, "not_open"},
	{definition.ErrConflict, http.StatusConflict, "conflict"},
	{definition.ErrTooLarge, http.StatusRequestEntityTooLarge, "too_large"},
	{ErrUnsupportedMediaType, http.StatusUnsupportedMediaType, "unsupported_media_type"},
	{ErrMisdirectedRequest, http.StatusMisdirectedRequest, "misdirected_request"},
	{definition.ErrOutOfRange, http.StatusUnprocessableEntity, "out_of_range"},
	{access.ErrRateLimited, http.StatusTooManyRequests, "rate_limited"},
	{definition.ErrTooManyIDs, http.StatusTooManyRequests, "limit_reached"},
	{access.ErrLimitReached, http.StatusTooManyRequests, "limit_reached"},
	{access.ErrOverloaded, http.StatusServiceUnavailable, "overloaded"},
	{access.ErrKeysUnavailable, http.StatusServiceUnavailable, "unavailable"},
	{definition.ErrOverloaded, http.StatusServiceUnavailable, "unavailable"},
	{definition.ErrUnavailable, http.StatusServiceUnavailable, "unavailable"},
	{hub.ErrClosed, http.StatusServiceUnavailable, "unavailable"},
}

// Problem is an error as a client sees it, over HTTP (RFC 9457) or over a socket.
type Problem struct {
	Status  int
	Code    string
	Message string
	Field   string
}

// Of describes err for a client. It hides internals: the text of an unknown error, and of an error of
// the store. But it names a right that Redis does not give to the server, for only its operator can
// help.
func Of(err error) Problem {
	p := Problem{Status: http.StatusInternalServerError, Code: "internal", Message: "an internal error occurred; the server has logged it"}
	for _, known := range table {
		if errors.Is(err, known.err) {
			p = Problem{Status: known.status, Code: known.code, Message: err.Error()}
			break
		}
	}
	var field *definition.FieldError
	if errors.As(err, &field) {
		p.Field, p.Message = field.Field, field.Error()
	}
	// A client may send names of any bytes.
	p.Field, p.Message = strings.ToValidUTF8(p.Field, "\uFFFD"), strings.ToValidUTF8(p.Message, "\uFFFD")
	if p.Status == http.StatusServiceUnavailable {
		var missing *definition.MissingRightsError
		switch {
		case errors.Is(err, definition.ErrOutcomeUnknown):
			p.Message = "the store failed; an update may or may not have been applied: send it again with the same id"
		case errors.Is(err, definition.ErrOverloaded) && field != nil: // its message says of what there is too much
		case errors.Is(err, definition.ErrOverloaded):
			p.Message = "too many requests are waiting; the server has done nothing of this one"
		case errors.Is(err, ErrNotReady), errors.Is(err, hub.ErrClosed), errors.Is(err, access.ErrOverloaded),
			errors.Is(err, access.ErrKeysUnavailable):
			p.Message = err.Error()
		case errors.As(err, &missing):
			p.Message = missing.Error()
		case ranking.IsSlotMoving(err):
			p.Message = "the store is not available: " + ranking.OutageOf(err).Reason
		default:
			p.Message = "the store is not available"
		}
	}
	return p
}

// For is Of for a caller: a caller who may not read all definitions gets no hint at others than the one that it
// asked for.
func For(c *access.Caller, err error) Problem {
	var field *definition.FieldError
	if !c.MayAll() && errors.As(err, &field) && field.Hint != "" {
		unhinted := *field
		unhinted.Hint = ""
		err = &unhinted
	}
	return Of(err)
}

// At prefixes the field of an error with its place in a larger request: updates[3].score.
func At(place string, err error) error {
	var field *definition.FieldError
	if !errors.As(err, &field) {
		return err
	}
	placed := *field
	placed.Field = place + "." + field.Field
	return &placed
}

// InItem does as At for an error about an item, and leaves an error about the board or the event as a
// whole alone.
func InItem(place string, err error) error {
	for _, kind := range []error{definition.ErrUnknownBoard, definition.ErrUnknownPeriod, definition.ErrUnknownEvent, definition.ErrNotOpen,
		definition.ErrConflict} {
		if errors.Is(err, kind) {
			return err
		}
	}
	return At(place, err)
}
