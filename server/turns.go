package server

import (
	"context"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
)

// answerTime is the time within which a write gets an answer, also while Redis hangs.
const answerTime = 2 * time.Second

// turnBody is the body of a write. The write has its turn from when its body has arrived until end.
type turnBody struct {
	io.ReadCloser
	server  *Server
	c       echo.Context
	release func() // nil: it is not the turn of the write
}

// Begin is for request.ReadBody.
func (b *turnBody) Begin(c echo.Context, bytes int) error {
	waited, err := b.begin(c.Request().Context(), bytes)
	if err != nil || waited < answerTime/8 {
		return err
	}
	// The wait is part of the time within which the server promises an answer.
	ctx, cancel := context.WithTimeout(c.Request().Context(), max(answerTime-waited, answerTime/8))
	release := b.release
	b.release = func() {
		cancel()
		release()
	}
	c.SetRequest(c.Request().WithContext(ctx))
	return nil
}

// begin returns an error also if the caller has lost its rights while the body arrived.
func (b *turnBody) begin(ctx context.Context, bytes int) (waited time.Duration, err error) {
	b.end()
	if b.release, waited, err = b.server.limits.AcquireWrite(ctx, clientOf(b.c), bytes); err == nil {
		err = b.server.reauthorize(b.c)
	}
	return waited, err
}

// end ends the turn, if it is the turn of the write.
func (b *turnBody) end() {
	if b.release != nil {
		b.release()
		b.release = nil
	}
}

// takeTurns makes requests wait for their turn: a write once its body has arrived, a read at once. The turn of
// a read ends when its answer is complete: a client that reads slowly keeps none. What lasts has no turn.
func (s *Server) takeTurns(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r, w := c.Request(), c.Response().Writer.(*waitingWriter)
		switch r.Method {
		case http.MethodGet, http.MethodHead:
			if takesNoTurn(c.Path()) {
				return next(c)
			}
			var err error
			if w.release, err = s.limits.AcquireRead(r.Context(), w.address); err != nil {
				return err
			}
			defer w.endTurn()
		case http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodPatch:
			body := &turnBody{ReadCloser: r.Body, server: s, c: c}
			r.Body = body
			defer body.end()
			if r.ContentLength == 0 {
				if err := body.Begin(c, 0); err != nil {
					return err
				}
			}
		}
		return next(c)
	}
}

// takesNoTurn reports whether requests of a route that reads take no turns. The answers of sockets, event streams and
// exports go on for longer than the server works on them, and have limits of their own. An overloaded node must
// answer with its metrics.
func takesNoTurn(route string) bool {
	return strings.HasSuffix(route, "/live") || strings.HasSuffix(route, "/export") || route == metricsPath
}
