package live

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"rankcast/hub"
	"rankcast/ranking"
	"rankcast/server/access"
)

// stream is a board as server-sent events (HTML Standard, section 9.2). The goroutine of the request writes
// the events. It takes one frame at a time: a slow client skips to the newest state, as on a socket.
type stream struct {
	w        http.ResponseWriter
	control  *http.ResponseController
	sessions *Sessions
	slot     *access.SocketSlot // counts the frames that wait
	board    string
	caller   atomic.Pointer[access.Caller]
	lost     chan error // why the stream ends; holds one
	hangUp   func()     // closes the connection

	writeLock                // held from Send until the frame is written
	frames    chan heldFrame // the frame that is to be written; holds one

	ending  sync.Mutex // guards the following
	givenUp bool       // the node needs the room of the frame
	ended   bool       // the connection is not the stream's any more
}

// heldFrame is a frame that waits for its client.
type heldFrame struct {
	*hub.Frame
	changed time.Time // see hub.Conn
	wait    *access.Held
}

// Free reports whether Send would take a frame. The hub calls it; it never blocks.
func (st *stream) Free() bool {
	free := st.tryLock()
	if free {
		st.mu.Unlock()
	}
	return free
}

// Send passes a frame to the goroutine of the request. If too much waits on the node meanwhile, the stream
// ends. The hub calls it, from one goroutine at a time.
func (st *stream) Send(f *hub.Frame, changed time.Time) bool {
	if !st.tryLock() {
		return false
	}
	st.frames <- heldFrame{f, changed, st.slot.Hold(frameMemory(f), st.giveUp)} // does not wait: the one before is written
	return true
}

// Flush is part of hub.Conn. The goroutine of the request writes each frame when it gets it.
func (st *stream) Flush() {}

// giveUp closes the connection, so that the write of the frame that waits fails at once. It does not block.
func (st *stream) giveUp() {
	st.ending.Lock()
	defer st.ending.Unlock()
	st.givenUp = true
	if !st.ended {
		st.hangUp()
	}
}

// renewDeadline gives the next write its time.
func (st *stream) renewDeadline() error {
	st.ending.Lock()
	defer st.ending.Unlock()
	if st.givenUp {
		return access.ErrOverloaded
	}
	st.control.SetWriteDeadline(time.Now().Add(st.sessions.cfg.WriteTimeout))
	return nil
}

// Stream serves a board as server-sent events, and returns when the client leaves or the node stops. With
// an error it has answered nothing: the caller answers the request with that error. A stream counts as a
// socket in the limits. It ends with an error event when caller may not read the board any more.
func (s *Sessions) Stream(w http.ResponseWriter, r *http.Request, from access.Address, caller *access.Caller, b ranking.Board,
	watch hub.Watch) error {
	slot, err := s.cfg.Limits.AcquireSocket(from)
	if err != nil {
		return err
	}
	defer slot.Release()
	st := &stream{
		w: w, control: http.NewResponseController(w), sessions: s, slot: slot, frames: make(chan heldFrame, 1),
		board: b.Name, lost: make(chan error, 1), hangUp: func() { HangUp(r.Context()) },
	}
	st.caller.Store(caller)
	if !s.begin(st) {
		return hub.ErrClosed
	}
	defer st.end()
	st.renew() // the access file may have changed before KeepAlive knew of this stream
	select {
	case err := <-st.lost:
		return err
	default:
	}
	client := s.join(st, slot)
	defer s.hub.Leave(client)
	st.client.Store(client)
	if _, err := s.watch(slot, client, b, watch, nil, func() {}); err != nil {
		return err
	}
	s.metrics.streams.Inc()
	defer s.metrics.streams.Dec()
	st.begin(r.Context())
	st.run(r.Context())
	return nil
}

// end ends a stream that the hub does not know any more.
func (st *stream) end() {
	st.ending.Lock()
	st.ended = true
	st.ending.Unlock()
	select {
	case f := <-st.frames:
		f.wait.End()
	default:
	}
	st.sessions.end(st)
}

// isDue is part of client.
func (st *stream) isDue(now time.Time) bool { return st.caller.Load().HasExpired(now) }

// check is part of client.
func (st *stream) check(time.Time) { st.renew() }

// bye is part of client. The goroutine of the request tells the client, because Sessions.stopped is closed.
func (st *stream) bye() {}

// cut is part of client.
func (st *stream) cut() { st.giveUp() }

// begin sends the head of the answer.
func (st *stream) begin(ctx context.Context) {
	if raw := rawConn(ctx); raw != nil {
		setUserTimeout(raw, st.sessions.cfg.PingAfter+pongTimeout) // a stream has no ping
	}
	st.control.SetReadDeadline(time.Time{}) // the server's deadline is for a request that ends
	h := st.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // nginx sends each event at once
	st.w.WriteHeader(http.StatusOK)
}

// streamRetry is when a browser comes back after a lost connection. Each stream begins with it: a browser keeps the last
// one, and that of a bye is random.
const streamRetry = 3 * time.Second

// minByeRetry is the least time of a bye. A browser gives a stream up when a proxy answers in place of a node, so the
// other nodes, or the next run of the only one, get a moment.
const minByeRetry = time.Second

// run writes what comes until the stream ends.
func (st *stream) run(ctx context.Context) {
	if st.write(fmt.Appendf(nil, "retry: %d\n", streamRetry.Milliseconds())) != nil {
		return
	}
	heartbeat := time.NewTimer(st.sessions.cfg.PingAfter)
	defer heartbeat.Stop()
	for {
		var err error
		select {
		case why := <-st.lost: // before a frame
			st.writeLost(why)
			return
		default:
		}
		select {
		case <-ctx.Done():
			return
		case why := <-st.lost:
			st.writeLost(why)
			return
		case <-st.sessions.stopped:
			delay := minByeRetry + reconnectDelay()
			st.write(fmt.Appendf(nil, "retry: %d\nevent: bye\ndata: ", delay.Milliseconds()), byeMessage(delay), eventEnd)
			return
		case <-heartbeat.C:
			err = st.write([]byte(":\n\n"))
		case f := <-st.frames:
			err = st.writeFrame(f)
		}
		if err != nil {
			return
		}
		heartbeat.Reset(st.sessions.cfg.PingAfter)
	}
}

// renew gives the stream the present rights of its caller. If they do not include its board, the stream ends.
// It does not wait.
func (st *stream) renew() {
	before := st.caller.Load()
	c, err := st.sessions.cfg.Guard.Renew(before)
	if err == nil {
		st.caller.Store(c)
		err = checkKept(before, c, access.Board(st.board))
	}
	if err == nil {
		return
	}
	select {
	case st.lost <- err:
	default:
	}
}

// writeLost tells the client why the stream ends.
func (st *stream) writeLost(why error) {
	st.write([]byte("event: error\ndata: "), lostSubscription{about: access.Board(st.board), err: why}.json(), eventEnd)
}

// writeFrame writes a frame, and ends its wait. It returns an error if the node has given up the stream.
func (st *stream) writeFrame(f heldFrame) error {
	json := f.JSON()
	err := st.write(eventHead(f.Frame), json[0], json[1], json[2], eventEnd)
	if !f.wait.End() {
		err = access.ErrOverloaded
	}
	if err != nil {
		return err
	}
	st.sessions.metrics.sent(newSentFrame(f.Frame, f.changed))
	st.unlock()
	return nil
}

var eventEnd = []byte("\n\n")

// eventHead is what stands before the JSON of a frame. Only a snapshot or a delta has an id: a client cannot
// resume from another frame.
func eventHead(f *hub.Frame) []byte {
	var b []byte
	if at := f.Position(); at.Life != "" {
		b = fmt.Appendf(b, "id: %s:%d\n", at.Life, at.Seq)
	}
	return fmt.Appendf(b, "event: %s\ndata: ", f.Type())
}

// write writes pieces. It waits as long as the client accepts each chunk within the timeout.
func (st *stream) write(pieces ...[]byte) error {
	for _, piece := range pieces {
		for len(piece) > 0 {
			n := min(len(piece), writeChunk)
			if err := st.renewDeadline(); err != nil {
				return err
			}
			if _, err := st.w.Write(piece[:n]); err != nil {
				return err
			}
			piece = piece[n:]
		}
	}
	if err := st.renewDeadline(); err != nil {
		return err
	}
	return st.control.Flush()
}
