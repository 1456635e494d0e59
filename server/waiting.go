package server

import (
	"context"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"rankcast/server/access"
	"rankcast/server/internal/request"
)

// countedBytes is the size of a body, or of a piece of an answer, from which it counts as memory that waits
// for a slow client. A connection holds about as much for itself.
const countedBytes = 4 << 10

// waitingWriter counts each large piece of an answer until the client has accepted it. Otherwise clients
// that ask for large pages, and do not read them, would take any amount of memory.
type waitingWriter struct {
	http.ResponseWriter
	limits  *access.Limits
	address access.Address
}

// Unwrap is for http.ResponseController.
func (w *waitingWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Write fails with access.ErrOverloaded if the node has no room for the piece any more.
func (w *waitingWriter) Write(b []byte) (int, error) {
	if len(b) < countedBytes {
		return w.ResponseWriter.Write(b)
	}
	wait := w.add(len(b), func() {})
	n, err := w.ResponseWriter.Write(b)
	if !wait.End() {
		return n, access.ErrOverloaded
	}
	return n, err
}

// countBody counts a large body, which may arrive slowly, until done is called. A body whose length is not
// known, or that a handler reads in parts, counts as the largest one.
//
// If the node gives the request up, its context ends: also one whose body has arrived keeps it no longer.
func (w *waitingWriter) countBody(c echo.Context) (done func()) {
	r := c.Request()
	n := int(min(r.ContentLength, request.MaxBody))
	if n < 0 {
		n = request.MaxBody
	}
	if n < countedBytes {
		return func() {}
	}
	ctx, cancel := context.WithCancel(r.Context())
	c.SetRequest(r.WithContext(ctx))
	wait := w.add(n, cancel)
	return func() {
		wait.End()
		cancel()
	}
}

// add counts memory. If the node gives the connection up, its reads and writes fail at once, and cut is called.
func (w *waitingWriter) add(bytes int, cut func()) *access.Wait {
	control := http.NewResponseController(w.ResponseWriter)
	return w.limits.AddWaiting(w.address, access.Memory{Own: bytes}, func() {
		past := time.Unix(1, 0)
		control.SetReadDeadline(past)
		control.SetWriteDeadline(past)
		cut()
	})
}
