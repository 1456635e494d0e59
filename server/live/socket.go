package live

import (
	"errors"
	"io"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"rankcast/hub"
)

const (
	// socketBuffer is what an idle socket keeps for reading and for writing, in
	// place of net/http's 4 KiB each. A control frame (127 bytes at most) must fit
	// into the writing one whole, or it would go out in two writes.
	socketBuffer = 256
	// writeChunk is what a slow client must accept within the write timeout, so
	// that one that takes a large frame slowly is not mistaken for one that is gone.
	writeChunk = 2 << 10
	// notSentLowat is how much may wait in the kernel, unsent, before a socket
	// counts as full: what lies there is old by the time it goes out.
	notSentLowat = 16 << 10
)

// socket is the connection below a WebSocket. The library reads from it and
// writes control frames to it; the hub's shards write prebuilt frames past the
// library. mu keeps these apart, so that no frame is cut by another.
type socket struct {
	net.Conn
	raw      syscall.RawConn            // nil where the connection has none
	timeout  time.Duration              // for a write to be accepted
	client   atomic.Pointer[hub.Client] // to tell when there is room again; nil at first
	running  *sync.WaitGroup            // of whoever waits for what the socket starts
	buffered []byte                     // came with the handshake; the reader's

	mu         sync.Mutex  // held by whoever writes
	turnedAway atomic.Bool // a frame was turned away since mu was free
	closing    bool        // a close frame is out, so nothing may follow; guarded by mu

	// What attempt works on; guarded by mu. It is bound once, for a closure for
	// each write would be an allocation for each frame.
	attempt func(fd uintptr) bool
	buf     []byte
	n       int
	err     error
}

func newSocket(conn net.Conn, early []byte, timeout time.Duration, running *sync.WaitGroup) *socket {
	s := &socket{Conn: conn, buffered: early, timeout: timeout, running: running}
	if c, ok := conn.(syscall.Conn); ok {
		if raw, err := c.SyscallConn(); err == nil {
			s.raw = raw
			setNotSentLowat(raw, notSentLowat)
		}
	}
	s.attempt = func(fd uintptr) bool {
		s.n, s.err = syscall.Write(int(fd), s.buf)
		return true // never wait
	}
	return s
}

// attach names the client whose frames these are, and has it sent what it may
// have missed until now.
func (s *socket) attach(c *hub.Client) {
	s.client.Store(c)
	c.Ready()
}

// notifyReady tells the hub that a frame would be taken now.
func (s *socket) notifyReady() {
	if c := s.client.Load(); c != nil {
		c.Ready()
	}
}

// Send writes a frame if the connection takes it now, or a part of it now: the
// rest is then on its way. It is the hub's way in and does not block.
func (s *socket) Send(f *hub.Frame) bool {
	if !s.mu.TryLock() {
		// Whoever writes looks at starved after unlocking. It may have unlocked
		// just before starved was set, so look once more.
		s.turnedAway.Store(true)
		if !s.mu.TryLock() {
			return false
		}
	}
	if rest := s.tryWrite(f.WebSocket()); len(rest) > 0 {
		s.running.Go(func() { // takes mu over
			s.write(rest)
			s.mu.Unlock()
			s.notifyReady() // there may be news by now
		})
	} else {
		s.mu.Unlock()
	}
	return true
}

// closeWith writes a frame and a close frame behind it, after which nothing goes
// out. It does not block: for a connection that is full it waits elsewhere.
func (s *socket) closeWith(f *hub.Frame, code closeCode) {
	last := slices.Concat(f.WebSocket(), code.frame())
	end := func(rest []byte) {
		s.write(rest)
		s.closing = true
		s.mu.Unlock()
	}
	if !s.mu.TryLock() {
		s.running.Go(func() { s.mu.Lock(); end(last) })
	} else if rest := s.tryWrite(last); len(rest) > 0 {
		s.running.Go(func() { end(rest) })
	} else {
		end(nil)
	}
}

// tryWrite writes what fits without waiting and returns the rest. The caller holds mu.
func (s *socket) tryWrite(b []byte) (rest []byte) {
	if s.closing {
		return nil
	}
	if s.raw == nil {
		return b
	}
	s.buf, s.n, s.err = b, 0, nil
	err := s.raw.Write(s.attempt)
	s.buf = nil
	switch {
	case err != nil:
		s.fail()
		return nil
	case s.err == nil:
		return b[s.n:]
	case errors.Is(s.err, syscall.EAGAIN) || errors.Is(s.err, syscall.EINTR):
		return b
	default:
		s.fail()
		return nil
	}
}

// write waits until all is written, as long as some is accepted in time. The
// caller holds mu.
func (s *socket) write(b []byte) {
	if s.closing {
		return
	}
	for len(b) > 0 {
		piece := b[:min(len(b), writeChunk)]
		s.Conn.SetWriteDeadline(time.Now().Add(s.timeout))
		if _, err := s.Conn.Write(piece); err != nil {
			s.fail()
			return
		}
		b = b[len(piece):]
	}
	// The next attempt must not meet this deadline.
	s.Conn.SetWriteDeadline(time.Time{})
}

// fail gives the connection up; its reader notices and cleans up. The caller holds mu.
func (s *socket) fail() {
	s.closing = true
	s.Close()
}

// reply writes a frame, waiting for its turn. It is the session's own way in:
// a client that does not read its replies is not read any further.
func (s *socket) reply(f *hub.Frame) {
	s.mu.Lock()
	s.write(f.WebSocket())
	s.unlock()
}

// linger reads on for a moment, if a close frame is out: to close a connection
// with bytes unread resets it, and the close frame could be lost to the client.
func (s *socket) linger() {
	s.mu.Lock()
	closing := s.closing
	s.mu.Unlock()
	if !closing {
		return
	}
	const most, atMost = 1 << 20, time.Second
	s.Conn.SetReadDeadline(time.Now().Add(atMost))
	io.CopyN(io.Discard, s.Conn, most)
}

// unlock unlocks, and calls whoever was turned away meanwhile.
func (s *socket) unlock() {
	s.mu.Unlock()
	if s.turnedAway.CompareAndSwap(true, false) {
		s.notifyReady()
	}
}

// Read is the library's.
func (s *socket) Read(b []byte) (int, error) {
	if len(s.buffered) > 0 {
		n := copy(b, s.buffered)
		if s.buffered = s.buffered[n:]; len(s.buffered) == 0 {
			s.buffered = nil
		}
		return n, nil
	}
	return s.Conn.Read(b)
}

// Write is the library's, for control frames: one call each.
func (s *socket) Write(b []byte) (int, error) {
	s.mu.Lock()
	s.write(b)
	if len(b) > 0 && b[0]&0x0f == 8 {
		s.closing = true
	}
	s.unlock()
	return len(b), nil
}
