package live

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"rankcast/hub"
	"rankcast/ranking/definition"
	"rankcast/server/access"
	"rankcast/server/internal/problem"
)

const (
	subprotocol = "rankcast.v1"
	// maxMessage bounds a client's message, in bytes. A larger one closes the
	// socket with 1009.
	maxMessage = 32 << 10
	// smallMessage is the size in bytes from which a message counts as memory that waits.
	smallMessage = 4 << 10
	// maxIDBytes bounds the id of a message, as JSON.
	maxIDBytes = 128
)

// errNotUTF8 ends a socket whose client does not speak the protocol (RFC 6455, section 8.1).
var errNotUTF8 = errors.New("a text message must be UTF-8")

// session is one WebSocket with its subscriptions. One goroutine at a time reads the client's messages and
// acts on them; the hub's shards write frames. The goroutines of KeepAlive take rights away, and then end
// subscriptions. They and the reader may end a subscription at the same time: the hub ends it once.
type session struct {
	sessions    *Sessions
	socket      *socket
	slot        *access.SocketSlot
	client      *hub.Client
	crossOrigin bool                          // a page of another site opened the socket
	caller      atomic.Pointer[access.Caller] // changes under mu

	// mu guards the following. It is held for no call of the hub, and for no write to the client. The caller may
	// read all that the maps hold.
	mu      sync.Mutex
	version uint64                       // of the access file at which caller has its rights
	boards  map[string]*hub.Subscription // by board, as the client named it
	feeds   map[string]*hub.Subscription // by event; nil before the first

	// Since the socket was made; 0: not yet. Only the goroutine of KeepAlive accesses them.
	barredAt time.Duration // when the caller was seen without any rights
	endedAt  time.Duration // when the socket was seen to be ending
}

// run serves the socket until it closes. Between two messages its goroutine waits in a shallow frame, so that its stack keeps the 2 KiB
// with which it began. All else runs apart: the stack of a goroutine is freed with it, and a large one would stay for as long as the
// socket is open.
func (ss *session) run() {
	if !ss.socket.awaits() {
		ss.start()
		ss.serve()
		return
	}
	apart(ss.start)
	for ended := false; !ended; {
		ss.socket.await()
		apart(func() { ended = ss.serve() })
	}
}

// apart runs a function on a goroutine of its own, and waits for its end.
func apart(do func()) {
	var running sync.WaitGroup
	running.Go(do)
	running.Wait()
}

// start makes the session known to the hub.
func (ss *session) start() {
	ss.sessions.metrics.sockets.Inc()
	ss.client = ss.sessions.join(ss.socket, ss.slot)
	ss.socket.client.Store(ss.client)
	ss.client.Ready() // for the frames that the client has missed so far
	ss.renew()        // the access file may have changed before KeepAlive knew of this session
}

// serve acts on what the client has sent, and on what it sends until nothing of a message is left. It reports whether the session
// has ended. Where await does not wait, serve returns at the end alone.
func (ss *session) serve() (ended bool) {
	in := newIncoming(ss)
	defer in.release()
	for {
		wait, err := ss.read(in)
		if err != nil {
			if _, closed := errors.AsType[closedByClient](err); !closed {
				ss.socket.linger() // the node may have sent a close frame
			}
			ss.close(err)
			return true
		}
		if wait > 0 { // without the buffer of the message
			ss.socket.hold(wait)
		}
		if ss.socket.awaits() && in.r.Buffered() == 0 {
			return false
		}
	}
}

// close ends the session. err is why run has stopped reading.
func (ss *session) close(err error) {
	ss.socket.metrics.socketClosed(closeCode(ss.socket.closeCode.Load()), err)
	ss.socket.Close()
	ss.sessions.hub.Leave(ss.client)
	ss.slot.Release()
	ss.sessions.metrics.sockets.Dec()
	ss.sessions.end(ss)
}

// bye is part of client.
func (ss *session) bye() {
	ss.socket.closeWith(hub.NewFrame(byeMessage(reconnectDelay())), closeGoingAway)
}

// cut is part of client.
func (ss *session) cut() { ss.socket.Close() }

// read reads one message, or a control frame, and acts on it. It returns how long the session then waits before the next one. It returns
// an error when the connection has failed or the client has closed it, or when the node has closed a socket that sends too much or breaks
// the protocol.
func (ss *session) read(in *incoming) (wait time.Duration, err error) {
	opcode, err := in.next()
	if err != nil || opcode >= opClose {
		return 0, err
	}
	small := ss.sessions.messages.Get().(*bytes.Buffer)
	defer ss.sessions.messages.Put(small)
	message, done, err := ss.receive(in, small)
	defer done()
	if err != nil {
		return 0, err
	}
	refused, err := ss.allow()
	if err != nil {
		return 0, err
	}
	if ss.socket.ending.Load() { // the client has lost its rights
		return holdOf(refused), nil
	}
	if opcode == opText && !utf8.Valid(message) {
		return 0, ss.refuse(closePayload, errNotUTF8)
	}
	var id jsontext.Value
	err = cmp.Or(refused, definition.Invalid("message", "is binary; want JSON text"))
	if opcode == opText {
		handle := func() { id, err = ss.handle(message, refused) }
		if ss.socket.awaits() { // this goroutine ends soon
			handle()
		} else {
			apart(handle)
		}
	}
	if err != nil {
		if refused := ss.sessions.cfg.Refused; refused != nil {
			refused(err)
		}
		ss.socket.reply(errorFrame(id, problem.For(ss.caller.Load(), err)))
	}
	return holdOf(refused), nil
}

// receive reads a whole message, with small for its first bytes. A large message counts as memory that waits
// until done is called: a client may begin one on each of thousands of sockets, and end none.
func (ss *session) receive(r io.Reader, small *bytes.Buffer) (message []byte, done func(), err error) {
	small.Reset()
	if n, err := small.ReadFrom(io.LimitReader(r, smallMessage)); err != nil || n < smallMessage {
		return small.Bytes(), func() {}, err
	}
	wait := ss.slot.Hold(access.Memory{Own: maxMessage}, ss.socket.giveUpReading)
	large := bytes.NewBuffer(make([]byte, 0, maxMessage+bytes.MinRead))
	large.Write(small.Bytes())
	_, err = large.ReadFrom(r)
	return large.Bytes(), func() { wait.End() }, err
}

// allow counts a message, a ping or a pong of the client. refused says why the node does not answer it. err ends a socket that goes on
// after many refusals: the node has closed it.
func (ss *session) allow() (refused, err error) {
	refused = ss.slot.AllowMessage()
	if errors.Is(refused, access.ErrFlood) {
		err = ss.refuse(closePolicy, refused)
	}
	return refused, err
}

// refuse sends the client a close frame with a reason, which is the error that it returns.
func (ss *session) refuse(code closeCode, reason error) error {
	ss.socket.writeClose(code.frame(reason.Error()))
	return reason
}

// holdOf is how long a client is held back because of a refusal; 0 for another error.
func holdOf(err error) time.Duration {
	var refusal *access.Refusal
	if !errors.As(err, &refusal) || refusal.Limit != access.AddressRequests {
		return 0
	}
	return refusal.RetryAfter
}
