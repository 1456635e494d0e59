package live

import (
	"crypto/sha1"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"golang.org/x/net/http/httpguts"

	"rankcast/hub"
	"rankcast/server/access"
	"rankcast/server/internal/origin"
	"rankcast/server/internal/problem"
)

// Accept turns a WebSocket handshake into a session and returns at once, so that the handler's
// stack and buffers are freed. With nil, Sessions owns the hijacked connection. With an error,
// Accept has answered nothing: the caller answers the request with that error. (Only where the server cannot hand the connection over, it
// is too late for that.)
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
	key, err := handshakeKey(w, r)
	if err != nil {
		return false, fmt.Errorf("%w: %w", problem.ErrHandshake, err)
	}
	foreign := origin.IsForeign(r)
	allowed := !foreign || s.cfg.Origins.Allows(r.Header.Get("Origin"))
	var caller *access.Caller
	var expired error
	if allowed {
		if caller, err = find(); errors.Is(err, access.ErrExpired) {
			expired = err
		} else if err != nil {
			return false, err
		}
	}
	so, err := s.hijack(w, r, key, slot)
	if err != nil {
		return false, fmt.Errorf("handshake: %w", err)
	}
	refuse := func(code closeCode, reason string) func() {
		return func() {
			so.refuse(code, clipReason(reason))
			so.Close()
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
		so.stopped = s.stopped
		ss := &session{sessions: s, socket: so, slot: slot, crossOrigin: foreign, boards: make(map[string]*hub.Subscription)}
		ss.caller.Store(caller)
		c, run = ss, ss.run
	}
	if !s.begin(c) {
		so.Close()
		return false, nil
	}
	go run()
	return true, nil
}

// handshakeKey returns the key of a handshake, or an error for a GET that is none (RFC 6455, section 4.2.1).
func handshakeKey(w http.ResponseWriter, r *http.Request) (key string, err error) {
	if r.ProtoMajor != 1 || r.ProtoMinor == 0 {
		return "", errors.New("it takes HTTP/1.1")
	}
	for _, header := range [][2]string{{"Connection", "upgrade"}, {"Upgrade", "websocket"}} {
		if !httpguts.HeaderValuesContainsToken(r.Header.Values(header[0]), header[1]) {
			return "", fmt.Errorf("the header %s must contain %s", header[0], header[1])
		}
	}
	const header, version = "Sec-WebSocket-Version", "13"
	if is := r.Header.Get(header); is != version {
		w.Header().Set(header, version)
		return "", fmt.Errorf("%s is %q; want %s", header, is, version)
	}
	keys := r.Header.Values("Sec-WebSocket-Key")
	if len(keys) == 1 {
		key = strings.TrimSpace(keys[0])
	}
	if b, err := base64.StdEncoding.DecodeString(key); err != nil || len(b) != 16 {
		return "", errors.New("Sec-WebSocket-Key must be 16 bytes in base64")
	}
	return key, nil
}

// hijack answers a handshake, and takes the connection over. It keeps neither the buffers of net/http, of 4 KiB each, nor anything else
// that an idle socket does not need.
func (s *Sessions) hijack(w http.ResponseWriter, r *http.Request, key string, slot *access.SocketSlot) (*socket, error) {
	const secret = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11" // RFC 6455, section 1.3
	accept := sha1.Sum([]byte(key + secret))
	header := w.Header()
	header.Set("Connection", "Upgrade")
	header.Set("Upgrade", "websocket")
	header.Set("Sec-WebSocket-Accept", base64.StdEncoding.EncodeToString(accept[:]))
	for offered := range strings.SplitSeq(strings.Join(r.Header.Values("Sec-WebSocket-Protocol"), ","), ",") {
		if strings.TrimSpace(offered) == subprotocol { // to the letter: else the client would refuse the answer
			header.Set("Sec-WebSocket-Protocol", subprotocol)
		}
	}
	w.WriteHeader(http.StatusSwitchingProtocols)
	conn, brw, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return nil, err
	}
	// The client may have sent its first frames with the handshake.
	waiting, _ := brw.Reader.Peek(brw.Reader.Buffered()) // which never fails
	return newSocket(conn, append([]byte(nil), waiting...), s.cfg.WriteTimeout, &s.running, slot, s.metrics), nil
}
