package server

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"rankcast/server/access"
	"rankcast/server/internal/origin"
	"rankcast/server/internal/problem"
)

// CheckOrigin returns an error for a value that Config.Origins does not accept: one that is not an
// origin, or that no browser would send in that form.
func CheckOrigin(value string) error { return origin.Check(value) }

// CheckAvatarOrigin returns an error for a value that Config.AvatarOrigins does not accept: one that is not an origin
// by https, or by http of this machine.
func CheckAvatarOrigin(value string) error { return origin.CheckAvatars(value) }

const (
	// allowedHeaders are the fields that pages of other sites may send.
	allowedHeaders = "Authorization, Content-Type, Idempotency-Key, Last-Event-ID"
	allowedMethods = "GET, HEAD, POST, PUT, DELETE"
	// exposedHeaders are the fields that they may read.
	exposedHeaders = "RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate, X-Request-Id"
	// preflightAge is how long a browser may keep the answer to a preflight, in seconds.
	preflightAge = "600"
)

// isPrivate reports whether no page of another site may read the answers of a route: moderation, and whole
// boards.
func (n need) isPrivate() bool { return n.scope&(access.ScopeModerate|access.ScopeAdmin) != 0 }

// allowOrigins sets the CORS headers that let pages of the allowed origins read answers, and answers their
// preflights. A page of another origin cannot read the answer, so its browser says no more than that: the log
// names the flag. allowOrigins admits no request: rejectCrossOrigin and authorize decide on those.
func allowOrigins(allowed *origin.List, needOf func(c echo.Context, method string) need) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			r, h := c.Request(), c.Response().Header()
			method := r.Method
			asked := r.Header.Get("Access-Control-Request-Method")
			isPreflight := method == http.MethodOptions && asked != ""
			if isPreflight {
				method = asked
			}
			if !strings.HasPrefix(r.URL.Path, "/v1/") || needOf(c, method).isPrivate() {
				return next(c)
			}
			if !allowed.None() {
				h.Add("Vary", "Origin")
			}
			from := r.Header.Get("Origin")
			if from == "" {
				return next(c)
			}
			if !allowed.Allows(from) {
				if isRead := r.Method == http.MethodGet || r.Method == http.MethodHead; isRead && origin.IsForeign(r) {
					allowed.LogRefusal(r)
				}
				return next(c)
			}
			if allowed.HasAny() {
				from = origin.Any
			}
			h.Set("Access-Control-Allow-Origin", from)
			if isPreflight {
				h.Set("Access-Control-Allow-Methods", allowedMethods)
				h.Set("Access-Control-Allow-Headers", allowedHeaders)
				h.Set("Access-Control-Max-Age", preflightAge)
				return c.NoContent(http.StatusNoContent)
			}
			h.Set("Access-Control-Expose-Headers", exposedHeaders)
			return next(c)
		}
	}
}

// rejectCrossOrigin refuses requests that change something and that a browser sends for a page of
// another site (CSRF), unless that page shows credentials and its origin is allowed: no browser adds those by
// itself. Requests of programs carry no origin and pass.
func rejectCrossOrigin(allowed *origin.List) echo.MiddlewareFunc {
	protection := http.NewCrossOriginProtection()
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			r := c.Request()
			if protection.Check(r) == nil || callerOf(c).Authenticated() && allowed.Allows(r.Header.Get("Origin")) {
				return next(c)
			}
			return problem.ErrCrossOrigin
		}
	}
}
