package server

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"rankcast/hub"
	"rankcast/ranking"
)

// retryAfter is what a caller is told to wait when the store is away or busy.
const retryAfter = time.Second

var (
	errForbidden = errors.New("forbidden")
	errNotFound  = errors.New("not found")
	errMethod    = errors.New("method not allowed")
	errHandshake = errors.New("not a WebSocket handshake")
)

// errReadOnly is what a socket gets that sends an update where none may.
var errReadOnly error = &ranking.FieldError{Field: "type", Reason: "may not be update or event: this server takes none over sockets", Kind: errForbidden}

// errReadOnlyThere is what one gets that a page of another site has opened.
var errReadOnlyThere error = &ranking.FieldError{Field: "type", Reason: "may not be update or event: this server takes none from pages of other sites", Kind: errForbidden}

// errOtherSite is what a page of another site gets.
var errOtherSite error = &ranking.FieldError{Field: "Origin", Reason: "is not this page's own", Kind: errForbidden}

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

// logFailure logs one failed request a second: in an outage they all fail alike.
func (s *Server) logFailure(c echo.Context, err error) {
	now, last := time.Now().UnixNano(), s.loggedAt.Load()
	if now-last >= int64(time.Second) && s.loggedAt.CompareAndSwap(last, now) {
		s.log.Warn("request failed (others of this second are not logged)", "method", c.Request().Method, "path", c.Request().URL.Path, "error", err)
	}
}

type problemJSON struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Code   string `json:"code"`
	Detail string `json:"detail"`
	Field  string `json:"field,omitempty"`

	*stoppedJSON // of an import
}

// fail answers a request with a problem, or a person with a page that says that there is
// none. It is Echo's error handler.
func (s *Server) fail(err error, c echo.Context) {
	if c.Response().Committed {
		return
	}
	var router *echo.HTTPError
	if errors.As(err, &router) {
		switch router.Code {
		case http.StatusNotFound:
			err = fmt.Errorf("%w: %s", errNotFound, c.Request().URL.Path)
		case http.StatusMethodNotAllowed:
			err = fmt.Errorf("%w: %s", errMethod, c.Request().Method)
		}
	}
	if r := c.Request(); errors.Is(err, errNotFound) && mayBePage(r) {
		c.Response().Header().Set("Vary", "Accept, Accept-Language")
		if acceptsHTML(r.Header.Values("Accept")) {
			if err = s.missing.serve(c); err == nil || c.Response().Committed {
				return
			}
		}
	}
	p := describe(err)
	var stopped *stoppedImport
	var report *stoppedJSON
	if errors.As(err, &stopped) {
		report = stopped.report(&p)
	}
	// A caller that has gone is no news, and whoever asks for readiness gets it.
	if p.status >= 500 && c.Request().Context().Err() == nil && !errors.Is(err, errNotReady) {
		s.logFailure(c, err)
	}
	if p.status == http.StatusServiceUnavailable {
		c.Response().Header().Set("Retry-After", strconv.Itoa(int(retryAfter.Seconds())))
	}
	if err := writeJSON(c, p.status, "application/problem+json", problemJSON{
		Type: "about:blank", Title: http.StatusText(p.status), Status: p.status, Code: p.code, Detail: p.message, Field: p.field, stoppedJSON: report,
	}); err != nil {
		s.log.Debug("cannot answer", "error", err)
	}
}
