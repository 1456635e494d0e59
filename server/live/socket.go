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
	"rankcast/server/access"
)

const (
	// writeChunk is the number of bytes that a slow client must accept within the write
	// timeout. A client that accepts a large frame slowly thus keeps its connection.
	writeChunk = 2 << 10
	// notSentLowat bounds the unsent bytes in the kernel, beyond which a socket counts as
	// full: frames that wait there are old when they go out.
	notSentLowat = 16 << 10
	// gatherBytes is the most bytes of frames that go out in one write. Beyond it a copy costs more than a write.
	gatherBytes = 16 << 10
	// lingerTime is how long the node waits for a client to take the close frame and to close the
	// connection.
	lingerTime = time.Second
	// refusedBytes bounds what the node reads, and discards, from a client that it has refused.
	refusedBytes = 64 << 10
)

// socket is the connection of a WebSocket. Its session reads from it and writes answers to it. The hub's shards write prebuilt frames
// to it directly.
type socket struct {
	conn     net.Conn           // its Write takes no lock
	raw      syscall.RawConn    // nil if the connection has none, and for TLS
	timeout  time.Duration      // for a chunk to be accepted
	running  *sync.WaitGroup    // counts the goroutines that the socket starts
	slot     *access.SocketSlot // counts the frames that wait
	metrics  *metrics
	givenUp  atomic.Bool // the node needs the room of the frame that waits
	made     time.Time
	lastRead atomic.Int64    // when the client last sent anything, ns since made by the monotonic clock
	pingedAt time.Duration   // when the node last pinged, since made; only KeepAlive's goroutine accesses it
	buffered []byte          // came with the handshake and have not been read yet; the reader owns them
	ending   atomic.Bool     // a close frame is on its way: no frame counts any more, in either direction
	stopped  <-chan struct{} // closed when the node stops; nil: never

	writeLock
	closeCode atomic.Uint32 // of the close frame that the node sent; 0: none
	closing   bool          // a close frame was sent, so no frame may follow; guarded by mu
	gathered  *gathering    // what Send has taken since the last Flush; nil: nothing. With it, the hub holds mu

	// The state of attempt; guarded by mu. attempt is bound once: a closure for each write
	// would be an allocation for each frame.
	attempt func(fd uintptr) bool
	buf     []byte
	n       int
	err     error
}

func newSocket(conn net.Conn, buffered []byte, timeout time.Duration, running *sync.WaitGroup, slot *access.SocketSlot,
	m *metrics) *socket {
	s := &socket{conn: conn, buffered: buffered, timeout: timeout, running: running, slot: slot, metrics: m, made: time.Now(),
		raw: rawOf(conn)}
	s.attempt = func(fd uintptr) bool {
		s.n, s.err = writeNow(fd, s.buf)
		return true // never wait
	}
	return s
}

// Free reports whether the socket takes frames now, and if so keeps it for the hub until Flush. The hub calls it; it never
// blocks.
func (s *socket) Free() bool {
	if s.gathered == nil && s.tryLock() {
		s.gathered = gatherings.Get().(*gathering)
	}
	return s.gathered != nil
}

// Send takes a frame, which Flush writes together with others. Where it would make them too long, they are written before, and a long
// one at once. Send reports false if another write is under way. The hub calls it; it never blocks.
func (s *socket) Send(f *hub.Frame, changed time.Time) bool {
	if s.ending.Load() {
		return true
	}
	if s.gathered != nil && s.gathered.size+f.Size() > gatherBytes {
		s.Flush()
	}
	if !s.Free() {
		return false
	}
	s.gathered.add(f, changed)
	if f.Size() > gatherBytes {
		s.Flush()
	}
	return true
}

// Flush writes what Send has taken as far as the connection accepts it now; a goroutine then writes the rest. The hub calls
// it; it never blocks. If too much waits on the node meanwhile, the goroutine closes the connection without a close frame: half a
// frame leaves no room for one.
func (s *socket) Flush() {
	g := s.gathered
	if g == nil {
		return
	}
	s.gathered = nil
	if s.ending.Load() { // nothing of it has been written
		s.mu.Unlock()
		g.release()
		return
	}
	rest, whole := s.tryWriteAll(g.pieces())
	if whole {
		sent := !s.closing // a broken connection drops frames
		s.mu.Unlock()
		if sent {
			g.count(s.metrics)
		}
		g.release()
		return
	}
	wait := s.slot.Hold(g.wait(), s.giveUp)
	s.running.Go(func() { // it now holds mu
		for _, piece := range rest {
			s.write(piece)
		}
		if !wait.End() {
			s.fail()
		}
		if !s.closing {
			g.count(s.metrics)
		}
		g.release() // until now, other frames share the rows of its frames
		s.mu.Unlock()
		s.notifyReady() // there may be a newer frame
	})
}

// giveUp makes the write of a frame that waits fail at once. It does not block: the goroutine that writes
// closes the connection.
func (s *socket) giveUp() {
	s.givenUp.Store(true)
	s.conn.SetWriteDeadline(past) // for the write that is under way
}

// giveUpReading makes the read of a message fail at once, so that the session ends. It does not block.
func (s *socket) giveUpReading() { s.conn.SetReadDeadline(past) }

// tryWriteAll writes what the connection accepts without waiting. It returns the rest, and whether the
// connection has accepted all. The caller holds mu.
func (s *socket) tryWriteAll(pieces [3][]byte) (rest [3][]byte, whole bool) {
	whole = true
	for i, piece := range pieces {
		if whole && len(piece) > 0 {
			piece = s.tryWrite(piece)
			whole = len(piece) == 0
		}
		rest[i] = piece
	}
	return rest, whole
}

// closeWith writes a frame and then a close frame, after which the socket sends nothing. It does not
// block: if the connection is full, a goroutine waits.
func (s *socket) closeWith(f *hub.Frame, code closeCode) {
	pieces := f.WebSocket()
	s.endWith(slices.Concat(pieces[0], pieces[1], pieces[2], code.frame("")), code)
}

// endWith writes the last bytes of a socket, a close frame with a code at their end. It does not block: if the
// connection is full, a goroutine waits.
func (s *socket) endWith(last []byte, code closeCode) {
	s.noteClose(code)
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

// noteClose records the code of the first close frame that the node sends.
func (s *socket) noteClose(code closeCode) { s.closeCode.CompareAndSwap(0, uint32(code)) }

// push writes frames. It does not block: if the connection is full, a goroutine waits. What waits counts.
func (s *socket) push(b []byte) {
	locked := s.mu.TryLock()
	if locked {
		if b = s.tryWrite(b); len(b) == 0 {
			s.unlock()
			return
		}
	}
	wait := s.slot.Hold(access.Memory{Own: len(b)}, s.giveUp)
	s.running.Go(func() {
		if !locked {
			s.mu.Lock()
		}
		s.write(b)
		if !wait.End() {
			s.fail()
		}
		s.unlock()
	})
}

// tryWrite writes what the connection accepts without waiting, and returns the rest. The caller
// holds mu.
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

// write writes all of b. It waits as long as the client accepts each chunk within the timeout. The
// caller holds mu.
func (s *socket) write(b []byte) {
	if s.closing {
		return
	}
	for len(b) > 0 {
		piece := b[:min(len(b), writeChunk)]
		s.conn.SetWriteDeadline(time.Now().Add(s.timeout))
		if s.givenUp.Load() { // the deadline above may have replaced that of giveUp
			s.fail()
			return
		}
		if _, err := s.conn.Write(piece); err != nil {
			s.fail()
			return
		}
		b = b[len(piece):]
	}
	// The deadline is for this write only.
	s.conn.SetWriteDeadline(time.Time{})
}

// Close closes the connection at once. The Close of a TLS connection would wait for five seconds until a full
// connection has room for its last message, which a WebSocket does not need: it has close frames.
func (s *socket) Close() error { return below(s.conn).Close() }

// fail closes the connection; the session's reader notices and cleans up. The caller holds mu.
func (s *socket) fail() {
	s.closing = true
	s.Close()
}

// reply writes a frame and waits until it is written. The session calls it: while a client does not
// read its replies, the session does not read the client's messages.
func (s *socket) reply(f *hub.Frame) {
	s.mu.Lock()
	for _, piece := range f.WebSocket() {
		s.write(piece)
	}
	if !s.closing {
		s.metrics.sent(newSentFrame(f, time.Time{}))
	}
	s.unlock()
}

// linger reads on for a moment after a close frame. Closing a connection with unread bytes would
// reset it, and the client could lose the close frame.
func (s *socket) linger() {
	s.mu.Lock()
	closing := s.closing
	s.mu.Unlock()
	if !closing {
		return
	}
	s.discard(1 << 20)
}

// discard reads on until the client closes the connection: for lingerTime, and this many bytes, at most.
func (s *socket) discard(most int64) {
	s.conn.SetReadDeadline(time.Now().Add(lingerTime))
	io.CopyN(io.Discard, s.conn, most)
}

// refuse ends a socket that no session reads: it writes a close frame, and discards what the client has
// sent. It returns within twice lingerTime. The caller then closes the connection.
func (s *socket) refuse(code closeCode, reason string) {
	s.metrics.socketClosed(code, nil)
	s.mu.Lock()
	s.closing = true
	s.mu.Unlock()
	s.conn.SetWriteDeadline(time.Now().Add(lingerTime))
	if _, err := s.conn.Write(code.frame(reason)); err != nil {
		return
	}
	// The end of the stream makes the client close the connection at once.
	if half, ok := below(s.conn).(interface{ CloseWrite() error }); ok {
		half.CloseWrite()
	}
	s.discard(refusedBytes)
}

// awaits reports whether await waits: the connection has no bytes that the system does not know of, as TLS may have.
func (s *socket) awaits() bool { return s.raw != nil && canSeeBytes }

// await waits until the client has sent something, or the connection has ended.
func (s *socket) await() {
	if len(s.buffered) == 0 {
		s.raw.Read(hasBytes)
	}
}

// Read returns the bytes that came with the handshake first. The session calls it.
func (s *socket) Read(b []byte) (int, error) {
	if len(s.buffered) > 0 {
		n := copy(b, s.buffered)
		if s.buffered = s.buffered[n:]; len(s.buffered) == 0 {
			s.buffered = nil
		}
		return n, nil
	}
	n, err := s.conn.Read(b)
	if n > 0 {
		s.markRead()
		if wait := s.slot.TakeBytes(n); wait > 0 {
			s.hold(wait)
		}
	}
	return n, err
}

// hold waits until the client may send again. TCP then holds the client back. Otherwise the node would read,
// and refuse, whatever many sockets send without end. A node that stops does not wait. The reader calls it.
func (s *socket) hold(wait time.Duration) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.stopped:
	}
	s.markRead() // the node has not listened, so the client was not silent
}

// markRead begins a new silence of the client.
func (s *socket) markRead() { s.lastRead.Store(int64(time.Since(s.made))) }

// writeControl writes a ping or a pong as a whole. The session calls it.
func (s *socket) writeControl(frame []byte) {
	s.mu.Lock()
	s.write(frame)
	s.unlock()
}

// writeClose writes a close frame, after which the socket sends nothing. The session calls it.
func (s *socket) writeClose(frame []byte) {
	s.mu.Lock()
	s.write(frame)
	s.closing = true
	s.noteClose(codeOf(frame))
	s.unlock()
}
