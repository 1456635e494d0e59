package gate

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v5"

	"rankcast/ranking/definition"
	"rankcast/server/access"
	"rankcast/server/internal/problem"
	"rankcast/server/internal/respond"
)

// storeRetry is the Retry-After while the store is unavailable or overloaded.
const storeRetry = time.Second

// retryAfter is the Retry-After of an answer in whole seconds, 1 at least; 0 for none.
func retryAfter(status int, err error) int {
	after := time.Duration(0)
	var refused *access.Refusal
	var keys *access.KeysUnavailableError
	var field *definition.FieldError
	switch {
	case errors.As(err, &refused):
		after = max(refused.RetryAfter, time.Second)
	case errors.As(err, &keys):
		after = keys.RetryAfter
	case errors.As(err, &field) && field.RetryAfter > 0:
		after = field.RetryAfter
	case status == http.StatusServiceUnavailable:
		after = storeRetry
	}
	return seconds(after)
}

// seconds rounds a time up to whole seconds.
func seconds(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }

// LogFailure logs a failed request, see WarnOnceASecond. The path may name a member, so the line has the route, and the
// board or event.
func (g *Gate) LogFailure(c *echo.Context, err error) {
	about := []any{"method", c.Request().Method, "route", DocumentedPath(c.Path()), "request", requestID(c), "error", err}
	for _, name := range []string{"board", "event"} {
		if value := c.Param(name); value != "" {
			about = append(about, name, value)
		}
	}
	g.WarnOnceASecond("request failed", about...)
}

// NoteRefusal logs that a caller may not do what it asked for: one line a minute for callers without valid
// credentials, and one for those without the rights.
func (g *Gate) NoteRefusal(err error) {
	switch {
	case errors.Is(err, access.ErrUnauthorized):
		g.unauthorized.Add(func(since uint64) {
			g.cfg.Log.Warn("callers have no valid key or token", "refusals", since)
		})
	case errors.Is(err, access.ErrForbidden):
		g.forbidden.Add(func(since uint64) {
			g.cfg.Log.Warn("callers may not do what they ask for, by the access file or the definition of an event", "refusals", since)
		})
	}
}

// requestIDField is the field of a request, and of an answer with an error, that identifies the request in the logs of
// proxies and nodes.
const requestIDField = "X-Request-Id"

// maxRequestID bounds the id of a request, in bytes.
const maxRequestID = 64

// requestID returns the id of a request: that which the request brings along, if that is short and printable, or else a
// new one. The answer carries it.
func requestID(c *echo.Context) string {
	answer := c.Response().Header()
	if id := answer.Get(requestIDField); id != "" {
		return id
	}
	id := c.Request().Header.Get(requestIDField)
	printable := func(r rune) bool { return r > ' ' && r <= '~' }
	if id == "" || len(id) > maxRequestID || strings.ContainsFunc(id, func(r rune) bool { return !printable(r) }) {
		id = rand.Text()
	}
	answer.Set(requestIDField, id)
	return id
}

// WarnOnceASecond logs one failure a second: in an outage all requests fail in the same way.
func (g *Gate) WarnOnceASecond(failure string, attributes ...any) {
	now, last := time.Now().UnixNano(), g.loggedAt.Load()
	if now-last >= int64(time.Second) && g.loggedAt.CompareAndSwap(last, now) {
		g.cfg.Log.Warn(failure+" (the log has one failure a second)", attributes...)
	}
}

// Problem is the answer to a failed request (RFC 9457).
type Problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Code   string `json:"code"`
	Detail string `json:"detail"`
	Field  string `json:"field,omitempty"`
}

// Extended is an error with more to say than a Problem. Extend returns the answer: the fields of p, and its own.
type Extended interface {
	error
	Extend(p Problem) any
}

// HandleError answers a failed request with a problem (RFC 9457), or with the "not found" page if a
// person asked for a page. It is Echo's error handler.
func (g *Gate) HandleError(c *echo.Context, err error) {
	if respond.HasBegun(c) {
		return
	}
	err = routeError(c, err)
	if errors.Is(err, problem.ErrNotFound) {
		served, pageErr := g.cfg.NotFound(c)
		if served {
			return
		}
		err = cmp.Or(pageErr, err)
	}
	p := problem.For(g.callerOr(c), err)
	id := requestID(c)
	g.NoteRefusal(err)
	g.cfg.Log.Debug("request refused", "method", c.Request().Method, "path", c.Request().URL.Path, "request", id, "status", p.Status,
		"code", p.Code, "error", err)
	// The log leaves out callers that have disconnected, and failed readiness checks. The fetch of keys has a log
	// of its own: any token could fill this one.
	if p.Status >= 500 && c.Request().Context().Err() == nil && !errors.Is(err, problem.ErrNotReady) &&
		!errors.Is(err, access.ErrKeysUnavailable) {
		g.LogFailure(c, err)
	}
	if fields := challenge(c.Request(), err); fields != "" {
		c.Response().Header().Set("WWW-Authenticate", fields)
	}
	if seconds := retryAfter(p.Status, err); seconds > 0 {
		c.Response().Header().Set("Retry-After", strconv.Itoa(seconds))
	}
	var body any = Problem{Type: "about:blank", Title: http.StatusText(p.Status), Status: p.Status, Code: p.Code,
		Detail: p.Message, Field: p.Field}
	if extended := Extended(nil); errors.As(err, &extended) {
		body = extended.Extend(body.(Problem))
	}
	if err := respond.JSON(c, p.Status, "application/problem+json", body); err != nil {
		g.cfg.Log.Debug("the server cannot write an answer", "error", err)
	}
}

// routeError words the router's error about a request that has no handler. It returns other errors as they are.
func routeError(c *echo.Context, err error) error {
	r, hint := c.Request(), ""
	if isRead := r.Method == http.MethodGet || r.Method == http.MethodHead; !isRead && !strings.HasPrefix(r.URL.Path, "/v1/") {
		hint = "; paths of the API begin with /v1" // pages are only read
	}
	switch {
	case errors.Is(err, echo.ErrMethodNotAllowed):
		allowed := strings.TrimPrefix(c.Response().Header().Get(echo.HeaderAllow), http.MethodOptions+", ")
		return fmt.Errorf("%w: %s; want %s%s", problem.ErrMethodNotAllowed, r.Method, allowed, hint)
	case errors.Is(err, echo.ErrNotFound):
		return fmt.Errorf("%w: %s%s", problem.ErrNotFound, r.URL.Path, hint)
	}
	return err
}
