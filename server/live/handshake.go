package live

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"

	"rankcast/hub"
	"rankcast/server/access"
	"rankcast/server/internal/origin"
	"rankcast/server/internal/problem"
)

// Accept turns a WebSocket handshake into a session and returns at once, so that the handler's
// stack and buffers are freed. With nil, Sessions owns the hijacked connection. With an error,
// Accept has answered nothing: the caller answers the request with that error.
//
// Accept refuses what exceeds a limit before the handshake, since that costs the node least. Browsers take
// that for an outage, and come back after a growing wait.
//
// A page of an origin that is not allowed gets no session: Accept closes its socket with 4503. Browsers
// tell a page nothing of a refused handshake, so a refusal would look like an outage.
//
// find finds the caller of the handshake, whose rights the session has until its client sends auth. Accept calls
// it once the limits allow the socket and the request has proved to be a handshake of an allowed origin: a ticket
// that find uses up must open a socket. If find returns an access.ErrExpired, Accept closes the socket with 4401
// and that reason. Accept returns any other error of find.
func (s *Sessions) Accept(w http.ResponseWriter, r *http.Request, from access.Address, find func() (*access.Caller, error)) error {
	if s.stopping.Load() {
		return hub.ErrClosed
	}
	slot, err := s.cfg.Limits.AcquireSocket(from)
	if err != nil {
		return err
	}
	started, err := s.upgrade(w, r, slot, find)
	if !started {
		slot.Release()
	}
	return err
}

// upgrade does the handshake and starts the goroutine of the socket, which then releases the slot. It
// reports false if it has started none.
func (s *Sessions) upgrade(w http.ResponseWriter, r *http.Request, slot *access.SocketSlot,
	find func() (*access.Caller, error)) (started bool, err error) {
	from, foreign := r.Header.Get("Origin"), origin.IsForeign(r)
	allowed := !foreign || s.cfg.Origins.Allows(from)
	var ss *session // reads no frame before it is set
	var caller *access.Caller
	var expired error
	u := &hijacker{ResponseWriter: w, timeout: s.cfg.WriteTimeout, running: &s.running, slot: slot, metrics: s.metrics,
		begin: func() (err error) {
			if !allowed {
				return nil
			}
			if caller, err = find(); errors.Is(err, access.ErrExpired) {
				expired, err = err, nil
			}
			return err
		}}
	ws, err := websocket.Accept(u, r, &websocket.AcceptOptions{
		Subprotocols: []string{subprotocol}, CompressionMode: websocket.CompressionDisabled,
		InsecureSkipVerify: true, // the origin is checked above
		OnPingReceived:     func(context.Context, []byte) bool { return ss.allowControl() },
		OnPongReceived:     func(context.Context, []byte) { ss.allowControl() },
	})
	switch {
	case u.fault != nil:
		return false, u.fault
	case err != nil:
		return false, fmt.Errorf("%w: %w", problem.ErrHandshake, err)
	}
	refuse := func(code closeCode, reason string) func() {
		return func() {
			u.socket.refuse(code, clipReason(reason))
			ws.CloseNow()
			slot.Release()
			s.end(nil)
		}
	}
	var c client
	var run func()
	switch {
	case !allowed:
		s.cfg.Origins.LogRefusal(r)
		run = refuse(closeForbidden, s.cfg.Origins.Refusal(r, maxReason))
	case expired != nil:
		run = refuse(closeUnauthorized, expired.Error())
	default:
		ws.SetReadLimit(maxMessage)
		u.socket.stopped = s.stopped
		ss = &session{sessions: s, ws: ws, socket: u.socket, slot: slot, crossOrigin: foreign, boards: make(map[string]*hub.Subscription)}
		ss.caller.Store(caller)
		c, run = ss, ss.run
	}
	if !s.begin(c) {
		ws.CloseNow()
		return false, nil
	}
	go run()
	return true, nil
}

// hijacker replaces the response writer of a handshake. When the library hijacks, hijacker
// returns a socket with small buffers. When the library refuses, hijacker keeps the status and
// discards the body, so that the server can answer with a problem.
type hijacker struct {
	http.ResponseWriter
	timeout time.Duration
	running *sync.WaitGroup
	slot    *access.SocketSlot
	metrics *metrics
	begin   func() error // called once the library has accepted the request, before the answer

	socket  *socket // once hijacked
	refused int     // status of a refusal
	fault   error   // of begin
}

func (u *hijacker) WriteHeader(status int) {
	if status != http.StatusSwitchingProtocols || u.fault != nil {
		u.refused = status
		return
	}
	if u.fault = u.begin(); u.fault == nil {
		u.ResponseWriter.WriteHeader(status)
	}
}

func (u *hijacker) Write(b []byte) (int, error) {
	if u.refused != 0 {
		return len(b), nil
	}
	return u.ResponseWriter.Write(b)
}

func (u *hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	if u.fault != nil {
		for _, field := range []string{"Connection", "Upgrade", "Sec-WebSocket-Accept", "Sec-WebSocket-Protocol"} {
			u.ResponseWriter.Header().Del(field) // the library has set them for its own answer
		}
		return nil, nil, u.fault
	}
	conn, brw, err := http.NewResponseController(u.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	// The library has sent 101 already, so the old reader may hold the client's first frames.
	// Copy them: nothing reads from the old reader any more.
	waiting, err := brw.Reader.Peek(brw.Reader.Buffered())
	if err != nil {
		conn.Close()
		return nil, nil, err
	}
	u.socket = newSocket(conn, append([]byte(nil), waiting...), u.timeout, u.running, u.slot, u.metrics)
	u.socket.reader = bufio.NewReaderSize(u.socket, readBuffer)
	return u.socket, bufio.NewReadWriter(u.socket.reader, bufio.NewWriterSize(u.socket, writeBuffer)), nil
}
