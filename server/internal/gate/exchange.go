package gate

import (
	"context"
	"io"
	"net/http"

	"github.com/labstack/echo/v5"

	"rankcast/server/access"
	"rankcast/server/internal/request"
	"rankcast/server/live"
)

// countedBytes is the size of a body, or of a piece of an answer, from which it counts as memory that waits
// for a slow client. A connection holds about as much for itself.
const countedBytes = 4 << 10

// exchange is a request and its answer: what the gate knows of the caller, and the memory that waits for the client. It
// counts each large piece of an answer until the client has accepted it. Otherwise clients that ask for large pages, and
// do not read them, would take any amount of memory.
type exchange struct {
	http.ResponseWriter
	limits  *access.Limits
	address access.Address
	conn    context.Context // of the request as it came: live.HangUp takes it
	caller  *access.Caller  // nil before authenticate
	version uint64          // of the access file, or an earlier one, at which caller had its rights
	tokens  int             // that the request has taken of its caller's rate
	release func()          // ends the turn of a read; nil: it has none
	body    *countedBody    // of the request; nil: it is small
}

// Unwrap is for http.ResponseController.
func (w *exchange) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader ends the turn of a read, whose answer is complete.
func (w *exchange) WriteHeader(status int) {
	w.endTurn()
	w.ResponseWriter.WriteHeader(status)
}

// endTurn ends the turn of a read, if it has one.
func (w *exchange) endTurn() {
	if w.release != nil {
		w.release()
		w.release = nil
	}
}

// Write fails with access.ErrOverloaded if the node has no room for the piece any more.
func (w *exchange) Write(b []byte) (int, error) {
	w.endTurn() // without WriteHeader before it, the first piece begins the answer
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

// countBody counts a body as its bytes arrive, from countedBytes on, until done is called.
//
// If the node gives the request up, its context ends: also one whose body has arrived keeps it no longer.
func (w *exchange) countBody(c *echo.Context) (done func()) {
	r := c.Request()
	if r.ContentLength >= 0 && r.ContentLength < countedBytes {
		return func() {}
	}
	ctx, cancel := context.WithCancel(r.Context())
	r = r.WithContext(ctx)
	w.body = &countedBody{ReadCloser: r.Body, w: w, cut: cancel, most: request.MaxBody}
	r.Body = w.body
	c.SetRequest(r)
	return func() {
		if w.body.wait != nil {
			w.body.wait.End()
		}
		cancel()
	}
}

// countedBody is a body whose bytes count as memory once they have arrived.
type countedBody struct {
	io.ReadCloser
	w       *exchange
	cut     func()
	most    int          // bytes of it that the handler holds at most
	arrived int          // at most most
	counted int          // of these
	wait    *access.Held // nil: none counts yet
}

func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.arrived = min(b.arrived+n, b.most)
	switch more := b.arrived - b.counted; {
	case more < countedBytes: // too few to count them
	case b.wait == nil:
		b.counted, b.wait = b.arrived, b.w.add(more, b.cut)
	default:
		b.counted = b.arrived
		b.wait.Grow(more)
	}
	return n, err
}

// HoldAtMost says that the handler of a request holds so many bytes of its body at most, in place of the whole body.
func HoldAtMost(c *echo.Context, bytes int) {
	if body := c.Response().(*exchange).body; body != nil {
		body.most = bytes
	}
}

// streamBytes is about what a stream of HTTP/2 takes while its client accepts nothing: 13 KB were measured. By
// HTTP/1.1 a connection has one request, and counts as a connection.
const streamBytes = 16 << 10

// CountStream counts a request that shares its connection with others, until done is called. done sends the rest
// of the answer: it waits for its client there, where it counts, and not in the HTTP server. If the node gives the
// request up, its context ends.
func (g *Gate) CountStream(w http.ResponseWriter, r *http.Request) (counted *http.Request, done func()) {
	ctx, cancel := context.WithCancel(r.Context())
	stream := &exchange{ResponseWriter: w, limits: g.cfg.Limits, address: g.addresses.Of(r), conn: r.Context()}
	count := &streamCount{stream.add(streamBytes, cancel)}
	return r.WithContext(context.WithValue(ctx, countKey{}, count)), func() {
		if count.wait == nil { // an error, or the end of an answer, is left
			count.wait = stream.add(streamBytes, cancel)
		}
		http.NewResponseController(w).Flush()
		count.wait.End()
		cancel()
	}
}

type countKey struct{}

// streamCount is what CountStream has begun for a request. The goroutine of the request uses it.
type streamCount struct{ wait *access.Held } // nil: it has ended

// EndCount ends the count of a request that has a limit of its own from now on, until its handler returns. It returns
// an error if the node has given the request up.
func EndCount(r *http.Request) error {
	count, ok := r.Context().Value(countKey{}).(*streamCount)
	if !ok || count.wait == nil {
		return nil
	}
	wait := count.wait
	if count.wait = nil; !wait.End() {
		return access.ErrOverloaded
	}
	return nil
}

// add counts memory. If the node gives the request up, it closes the connection, and calls cut. That may be after
// the request, also in a goroutine of the hub, so it uses nothing of the request's.
func (w *exchange) add(bytes int, cut func()) *access.Held {
	conn := w.conn
	return w.limits.Hold(w.address, access.Memory{Own: bytes}, func() {
		live.HangUp(conn)
		cut()
	})
}
