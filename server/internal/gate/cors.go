package gate

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v5"

	"rankcast/ranking/definition"
	"rankcast/server/internal/origin"
	"rankcast/server/internal/problem"
)

const (
	// allowedHeaders are the fields that pages of other sites may send.
	allowedHeaders = "Authorization, Content-Type, Idempotency-Key, Last-Event-ID"
	allowedMethods = "GET, HEAD, POST, PUT, DELETE"
	// exposedHeaders are the fields that they may read.
	exposedHeaders = "RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate, X-Request-Id"
	// preflightAge is how long a browser may keep the answer to a preflight, in seconds.
	preflightAge = "600"
	// maxOriginReason bounds the text about an origin in a problem, in bytes.
	maxOriginReason = 400
)

// corsMethod is the method of a request, or that which a preflight asks for.
func corsMethod(r *http.Request) (method string, isPreflight bool) {
	if asked := r.Header.Get("Access-Control-Request-Method"); r.Method == http.MethodOptions && asked != "" {
		return asked, true
	}
	return r.Method, false
}

// allowOrigins sets the CORS headers that let pages of the allowed origins read answers. It stands before all that may
// refuse a request: a page that cannot read a refusal takes it for an outage, and tries again at once. So a preflight
// passes, too, where a layer below refuses it: the request itself gets the refusal.
//
// allowOrigins admits no request: rejectCrossOrigin and authorize decide on those.
func (g *Gate) allowOrigins(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c *echo.Context) error {
		r, h := c.Request(), c.Response().Header()
		method, isPreflight := corsMethod(r)
		if g.cfg.Origins.None() || !strings.HasPrefix(r.URL.Path, "/v1/") || g.needOf(c, method).IsPrivate() {
			return next(c)
		}
		h.Add("Vary", "Origin")
		from := r.Header.Get("Origin")
		if from == "" || !g.cfg.Origins.Allows(from) {
			return next(c)
		}
		if g.cfg.Origins.HasAny() {
			from = origin.Any
		}
		h.Set("Access-Control-Allow-Origin", from)
		if !isPreflight {
			h.Set("Access-Control-Expose-Headers", exposedHeaders)
			return next(c)
		}
		h.Set("Access-Control-Allow-Methods", allowedMethods)
		h.Set("Access-Control-Allow-Headers", allowedHeaders)
		h.Set("Access-Control-Max-Age", preflightAge)
		if err := next(c); err != nil {
			return c.NoContent(http.StatusNoContent)
		}
		return nil
	}
}

// errPrivateRoute refuses the preflight of a request that no page of another site may send.
var errPrivateRoute error = &definition.FieldError{
	Field: "Origin", Reason: "is another site: none may moderate, define or read whole boards from a page", Kind: problem.ErrForbidden,
}

// answerPreflights answers the preflights of allowed origins, and tells all others which flag would allow them. A page
// cannot read why its request fails, so the log names the flag, too.
func (g *Gate) answerPreflights(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c *echo.Context) error {
		r := c.Request()
		method, isPreflight := corsMethod(r)
		isRead := r.Method == http.MethodGet || r.Method == http.MethodHead
		if !isPreflight && !isRead || !strings.HasPrefix(r.URL.Path, "/v1/") || !origin.IsForeign(r) {
			return next(c)
		}
		isPrivate, isAllowed := g.needOf(c, method).IsPrivate(), g.cfg.Origins.Allows(r.Header.Get("Origin"))
		if !isPrivate && !isAllowed {
			g.cfg.Origins.LogRefusal(r)
		}
		switch {
		case isRead:
			return next(c)
		case isPrivate:
			return errPrivateRoute
		case !isAllowed:
			return &definition.FieldError{Field: "Origin", Reason: "is another site: " + g.cfg.Origins.Refusal(r, maxOriginReason),
				Kind: problem.ErrForbidden}
		}
		return c.NoContent(http.StatusNoContent)
	}
}

// errAnonymousPage refuses a request without credentials from a page of an allowed origin.
var errAnonymousPage error = &definition.FieldError{
	Field: "Origin", Reason: "is another site, whose pages send with a key or a token", Kind: problem.ErrForbidden,
}

// crossOrigin finds the requests that a browser sends for a page of another site. It never changes.
var crossOrigin = http.NewCrossOriginProtection()

// rejectCrossOrigin refuses requests that change something and that a browser sends for a page of
// another site (CSRF), unless that page shows credentials and its origin is allowed: no browser adds those by
// itself. Requests of programs carry no origin and pass.
func (g *Gate) rejectCrossOrigin(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c *echo.Context) error {
		r := c.Request()
		switch {
		case crossOrigin.Check(r) == nil:
			return next(c)
		case !g.cfg.Origins.Allows(r.Header.Get("Origin")):
			return problem.ErrCrossOrigin
		case !Caller(c).Authenticated():
			return errAnonymousPage
		}
		return next(c)
	}
}
