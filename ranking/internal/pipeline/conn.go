package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// maxOutput is the size of the output that waits to be written, in bytes, from which on the
// connection takes no further call.
const maxOutput = 16 << 20

// errFull reports that more output waits than maxOutput.
var errFull = errors.New("too much output waits for the connection")

// errClosedEarly reports that a connection takes no commands any more.
var errClosedEarly = errors.New("the connection is closed")

// maxKept is the greatest capacity of an output buffer that the connection keeps, in bytes. It
// is twice the size of the largest batch of the store.
const maxKept = 256 << 10

// call holds the commands of one Send on one connection.
type call struct {
	cmds    []redis.Cmder
	wake    chan role // takes both roles without blocking; set by enqueue
	head    bool      // the call was alone when it got its place, so it reads at once
	unsent  bool      // its bytes are in conn.out; guarded by conn.mu
	replies int       // number of cmds with a reply
}

// role is what a call in flight does next for all calls of the connection.
type role int

const (
	write role = iota // write conn.out
	read              // read the replies of the call
)

// conn is one connection. The calls in flight hold its two roles: at most one call reads, and at
// most one writes. The mutex is never held during I/O.
type conn struct {
	socket       net.Conn
	owner        *redis.Client // initialised the socket; closing it closes the socket
	probe        probe
	in           *reader
	readTimeout  time.Duration // 0: none
	writeTimeout time.Duration // 0: none
	failed       chan struct{} // closed when err is set

	mu      sync.Mutex
	queue   []*call     // in flight, in order; the first call holds the role read
	out     []byte      // commands not handed to a writer yet
	spare   []byte      // a buffer for out
	unsent  []*call     // those with bytes in out
	wakes   []chan role // of calls that have ended
	writing bool        // a call holds the role write
	retired bool        // takes no further calls, and closes when the queue is empty
	err     error       // why the connection is closed
}

func newConn(readTimeout, writeTimeout time.Duration) *conn {
	return &conn{readTimeout: max(readTimeout, 0), writeTimeout: max(writeTimeout, 0), failed: make(chan struct{})}
}

// open makes the connection ready for use.
func (c *conn) open(socket net.Conn, owner *redis.Client) error {
	c.socket, c.owner, c.in = socket, owner, newReader(socket)
	c.probe.watch(socket)
	return socket.SetDeadline(time.Time{})
}

// takes reports whether the connection takes a further call.
func (c *conn) takes() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.takesLocked()
}

func (c *conn) takesLocked() bool { return c.err == nil && !c.retired }

// enqueue gives the call its place behind all earlier calls, and writes its commands unless
// another call is writing. An error means that nothing was sent.
func (c *conn) enqueue(ctx context.Context, call *call) error {
	c.mu.Lock()
	if !c.takesLocked() {
		c.mu.Unlock()
		return errClosedEarly
	}
	if len(c.queue) == 0 && (c.in.buffered() > 0 || !c.probe.isSilent()) {
		c.mu.Unlock()
		c.fail(errClosedEarly)
		return errClosedEarly
	}
	if len(c.out) > maxOutput {
		c.mu.Unlock()
		return errFull
	}
	out, err := appendCommands(c.out, call.cmds)
	if err != nil {
		c.mu.Unlock()
		return err
	}
	c.out = out
	call.head, call.unsent = len(c.queue) == 0, true
	if n := len(c.wakes); n > 0 {
		call.wake, c.wakes = c.wakes[n-1], c.wakes[:n-1]
	} else {
		call.wake = make(chan role, 2)
	}
	c.queue, c.unsent = append(c.queue, call), append(c.unsent, call)
	writes := !c.writing
	c.writing = true
	c.mu.Unlock()
	if writes {
		c.write(ctx)
	}
	return nil
}

// write writes what waits, and passes the role on when more waits afterwards.
func (c *conn) write(ctx context.Context) {
	c.mu.Lock()
	if c.err != nil {
		c.mu.Unlock()
		return
	}
	buf, of := c.out, c.unsent
	c.out, c.spare, c.unsent = c.spare[:0], nil, nil
	for _, call := range of {
		call.unsent = false
	}
	c.mu.Unlock()

	c.socket.SetWriteDeadline(deadline(ctx, c.writeTimeout))
	n, err := c.socket.Write(buf)
	if err != nil {
		if n == 0 { // Redis has none of these commands
			c.mu.Lock()
			for _, call := range of {
				call.unsent = true
			}
			c.mu.Unlock()
		}
		c.fail(orEnd(ctx, err))
		return
	}

	c.mu.Lock()
	defer c.mu.Unlock()
	if cap(buf) <= maxKept {
		c.spare = buf
	}
	if c.writing = len(c.unsent) > 0 && c.err == nil; c.writing {
		c.unsent[0].wake <- write
	}
}

// wait returns when each command of the call has a value or an error. ctx is that of enqueue.
func (c *conn) wait(ctx context.Context, call *call) {
	done := ctx.Done()
	for !call.head {
		select {
		case r := <-call.wake:
			if r == read {
				call.head = true
			} else {
				c.write(ctx)
			}
		case <-c.failed:
			c.refuse(call)
			return
		case <-done:
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				c.fail(ctx.Err())
			}
			done = nil
		}
	}
	if err := c.read(ctx, call); err != nil {
		c.fail(orEnd(ctx, err))
		c.refuse(call)
		return
	}
	c.pass()
}

// read reads the replies of a call.
func (c *conn) read(ctx context.Context, call *call) error {
	if err := c.socket.SetReadDeadline(deadline(ctx, c.readTimeout)); err != nil {
		return err
	}
	for _, cmd := range call.cmds {
		v, err := c.in.reply()
		if err != nil {
			return err
		}
		call.replies++
		store(cmd, v)
		if redis.HasErrorPrefix(cmd.Err(), "READONLY") {
			c.retire() // a new connection may reach the new primary
		}
	}
	return nil
}

// store gives a command its reply.
func store(cmd redis.Cmder, v any) {
	switch v := v.(type) {
	case nil:
		cmd.SetErr(redis.Nil)
	case replyError:
		cmd.SetErr(v)
	default:
		cmd.(Command).SetVal(v)
	}
}

// pass removes the first call, which has all its replies, and wakes the next one.
func (c *conn) pass() {
	c.mu.Lock()
	if c.err != nil {
		c.mu.Unlock()
		return
	}
	c.wakes = append(c.wakes, c.queue[0].wake)
	c.queue = slices.Delete(c.queue, 0, 1)
	if len(c.queue) > 0 {
		c.queue[0].wake <- read
	}
	ends := len(c.queue) == 0 && c.retired
	c.mu.Unlock()
	if ends {
		c.fail(errClosedEarly)
	}
}

// retire lets the connection take no further calls.
func (c *conn) retire() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.retired = true
}

// closeIdle closes the connection unless it has a call in flight.
func (c *conn) closeIdle() {
	c.mu.Lock()
	idle := len(c.queue) == 0
	c.retired = c.retired || idle
	c.mu.Unlock()
	if idle {
		c.fail(errClosedEarly)
	}
}

// fail closes the connection. All calls in flight end.
func (c *conn) fail(err error) {
	c.mu.Lock()
	first := c.err == nil
	if first {
		c.err = err
		close(c.failed)
	}
	c.mu.Unlock()
	if first {
		c.socket.Close()
		c.owner.Close()
	}
}

// refuse gives an error to each command of the call that has no reply.
func (c *conn) refuse(call *call) {
	c.mu.Lock()
	err := fmt.Errorf("no answer from Redis: %w", c.err)
	if call.unsent {
		err = fmt.Errorf("%w: %w", ErrNotSent, c.err)
	}
	c.mu.Unlock()
	for _, cmd := range call.cmds[call.replies:] {
		cmd.SetErr(err)
	}
}

// deadline is the end of ctx, or the end of a timeout that begins now, if that is earlier.
func deadline(ctx context.Context, timeout time.Duration) time.Time {
	end, ok := ctx.Deadline()
	if timeout > 0 {
		if own := time.Now().Add(timeout); !ok || own.Before(end) {
			return own
		}
	}
	return end
}

// orEnd names the end of ctx as the cause of an error that it has caused.
func orEnd(ctx context.Context, err error) error {
	if end, ok := ctx.Deadline(); ok && !time.Now().Before(end) {
		return fmt.Errorf("%w: %w", context.DeadlineExceeded, err)
	}
	switch {
	case errors.Is(err, io.EOF):
		return fmt.Errorf("the connection was closed by Redis: %w", err)
	case errors.Is(err, net.ErrClosed): // by a hook: fail notes its error before it closes
		return fmt.Errorf("another Redis has become the master: %w", err)
	}
	return err
}
