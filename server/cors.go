package server

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"rankcast/server/internal/origin"
	"rankcast/server/internal/problem"
)

// CheckOrigin returns an error for a value that Config.Origins does not accept: one that is not an
// origin, or that no browser would send in that form.
func CheckOrigin(value string) error { return origin.Check(value) }

// privateReads are the reads that no page of another site may do: moderation, and whole boards.
var privateReads = map[string]bool{
	"/v1/audit": true, "/v1/hidden/:kind": true, "/v1/boards/:board/hidden": true, "/v1/boards/:board/export": true, "/v1/members/:kind/:member/erasure": true,
}

// allowReads sets the CORS headers that let pages of the allowed origins read answers. A page of another
// origin cannot read the answer, so its browser says no more than that: the log names the flag. allowReads
// admits no request: rejectCrossOrigin decides on those.
func allowReads(allowed *origin.List) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			r, h := c.Request(), c.Response().Header()
			if r.Method != http.MethodGet && r.Method != http.MethodHead || !strings.HasPrefix(r.URL.Path, "/v1/") || privateReads[c.Path()] {
				return next(c)
			}
			if !allowed.None() {
				h.Add("Vary", "Origin")
			}
			switch from := r.Header.Get("Origin"); {
			case from == "":
			case allowed.HasAny():
				h.Set("Access-Control-Allow-Origin", origin.Any)
			case allowed.Allows(from):
				h.Set("Access-Control-Allow-Origin", from)
			case origin.IsForeign(r):
				allowed.LogRefusal(from)
			}
			return next(c)
		}
	}
}

// rejectCrossOrigin refuses requests that change something and that a browser sends for a page of
// another site (CSRF). Requests of programs carry no origin and pass.
func rejectCrossOrigin(next echo.HandlerFunc) echo.HandlerFunc {
	protection := http.NewCrossOriginProtection()
	return func(c echo.Context) error {
		if err := protection.Check(c.Request()); err != nil {
			return problem.ErrCrossOrigin
		}
		return next(c)
	}
}
