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
	wake     chan struct{}      // pending has become a frame; holds one
	stopping chan struct{}      // closed when the node stops
	board    string
	caller   atomic.Pointer[access.Caller]
	lost     chan error // why the stream ends; holds one
	hangUp   func()     // closes the connection

	mu         sync.Mutex
	pending    *hub.Frame   // is to be written, or is being written
	changed    time.Time    // of pending, see hub.Conn
	wait       *access.Held // of pending
	turnedAway bool         // the hub had a frame while another one was pending
	givenUp    bool         // the node needs the room of pending
	ended      bool         // the connection is not the stream's any more
}

// Free reports whether Send would take a frame. The hub calls it.
func (st *stream) Free() bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.pending == nil {
		return true
	}
	st.turnedAway = true
	return false
}

// Send passes a frame to the goroutine of the request. If too much waits on the node meanwhile, the stream
// ends. The hub calls it, from one goroutine at a time.
func (st *stream) Send(f *hub.Frame, changed time.Time) bool {
	if !st.Free() {
		return false
	}
	wait := st.slot.Hold(frameMemory(f), st.giveUp) // which may call giveUp
	st.mu.Lock()
	st.pending, st.changed, st.wait = f, changed, wait
	st.mu.Unlock()
	select {
	case st.wake <- struct{}{}:
	default:
	}
	return true
}

// drop ends the wait of the pending frame. It reports whether the hub has had another one meanwhile. It
// returns an error if the node has given up the stream.
func (st *stream) drop() (turnedAway bool, err error) {
	st.mu.Lock()
	wait := st.wait
	st.mu.Unlock()
	if wait != nil && !wait.End() {
		err = access.ErrOverloaded
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	st.pending, st.wait = nil, nil
	turnedAway, st.turnedAway = st.turnedAway, false
	return turnedAway, err
}

// giveUp closes the connection, so that the write of the pending frame fails at once. It does not block.
func (st *stream) giveUp() {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.givenUp = true
	if !st.ended {
		st.hangUp()
	}
}

// renewDeadline gives the next write its time.
func (st *stream) renewDeadline() error {
	st.mu.Lock()
	defer st.mu.Unlock()
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
		w: w, control: http.NewResponseController(w), sessions: s, slot: slot, wake: make(chan struct{}, 1), stopping: make(chan struct{}),
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
	if _, err := s.watch(slot, client, b, watch, nil, func() {}); err != nil {
		return err
	}
	s.metrics.streams.Inc()
	defer s.metrics.streams.Dec()
	st.begin(r.Context())
	st.run(r.Context(), client)
	return nil
}

// end ends a stream that the hub does not know any more.
func (st *stream) end() {
	st.mu.Lock()
	st.ended = true
	st.mu.Unlock()
	st.drop()
	st.sessions.end(st)
}

// isDue is part of client.
func (st *stream) isDue(now time.Time) bool { return st.caller.Load().HasExpired(now) }

// check is part of client.
func (st *stream) check(time.Time) { st.renew() }

// bye is part of client. The goroutine of the request tells the client.
func (st *stream) bye() { close(st.stopping) }

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
func (st *stream) run(ctx context.Context, client *hub.Client) {
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
		case <-st.stopping:
			delay := minByeRetry + reconnectDelay()
			st.write(fmt.Appendf(nil, "retry: %d\nevent: bye\ndata: ", delay.Milliseconds()), byeMessage(delay), eventEnd)
			return
		case <-heartbeat.C:
			err = st.write([]byte(":\n\n"))
		case <-st.wake:
			err = st.writePending(client)
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

// writePending writes the pending frame.
func (st *stream) writePending(client *hub.Client) error {
	st.mu.Lock()
	f, changed := st.pending, st.changed
	st.mu.Unlock()
	json := f.JSON()
	if err := st.write(eventHead(f), json[0], json[1], json[2], eventEnd); err != nil {
		return err
	}
	st.sessions.metrics.sent(f, changed)
	turnedAway, err := st.drop()
	if err != nil {
		return err
	}
	if turnedAway {
		client.Ready()
	}
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
