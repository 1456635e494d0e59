package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/go-json-experiment/json"
)

const (
	subprotocol = "rankcast.v1"
	// dialTimeout bounds a handshake: an unreachable host may never answer.
	dialTimeout = 10 * time.Second
	// stableAfter is the age at which a connection counts as good: the backoff restarts after it.
	stableAfter = 5 * time.Second
	// pingAfter is the silence after which the client sends a ping: a quiet board sends nothing.
	pingAfter = 20 * time.Second
	// pongTimeout bounds the answer to a ping, and the write of a message.
	pongTimeout = 5 * time.Second
	// maxRetryAfter bounds the reconnect delay that a server may ask for.
	maxRetryAfter = time.Minute
	// overloadedAttempt is the lowest attempt for the backoff after the close codes 1008 and 1013: up to
	// 4 s instead of 250 ms.
	overloadedAttempt = 4
)

// permanentError is an error after which the client does not reconnect.
type permanentError struct{ err error }

func (e *permanentError) Error() string { return e.err.Error() }

// session is one connection of a watcher.
type session struct {
	*watcher
	ws          *websocket.Conn
	credentials string // of the handshake; "" for none

	opened      time.Time // zero: never
	lastMessage time.Time // when a message last came
	stale       bool      // the server has lost its connection to Redis
	inSync      bool      // the list came over this connection, without a missing frame

	lastID           int64
	subscribeID      int64       // id of the pending or answered subscribe; 0: none
	resubscribeTimer *time.Timer // stopped while a subscribe is pending

	retry      time.Duration // reconnect delay that the server asks for; 0: none
	overloaded bool          // the server closed with 1008 or 1013
}

// run connects, subscribes and applies frames until the connection ends. It returns the reason.
func (s *session) run(ctx context.Context) error {
	if err := s.dial(ctx); err != nil {
		return err
	}
	// One goroutine reads. Its context never ends, since that would close the connection without
	// a close frame. To end the goroutine, run closes the connection.
	ctx, cancel := context.WithCancel(ctx)
	messages := make(chan []byte)
	var broken error
	var reading sync.WaitGroup
	reading.Go(func() {
		defer close(messages)
		for {
			_, message, err := s.ws.Read(context.Background())
			if err != nil {
				broken = err
				return
			}
			select {
			case messages <- message:
			case <-ctx.Done():
				return
			}
		}
	})
	defer func() {
		cancel()
		s.ws.CloseNow()
		reading.Wait()
	}()

	s.opened, s.lastMessage = time.Now(), time.Now()
	s.resubscribeTimer = time.NewTimer(0)
	s.resubscribeTimer.Stop()
	silence := time.NewTimer(pingAfter)
	defer silence.Stop()
	defer s.resubscribeTimer.Stop()
	pinged := false
	s.subscribe(ctx)
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case message, ok := <-messages:
			if !ok {
				return s.closeReason(ctx, broken)
			}
			s.lastMessage, pinged = time.Now(), false
			silence.Reset(pingAfter)
			if err := s.handle(ctx, message); err != nil {
				return err
			}
		case <-s.resubscribeTimer.C:
			s.subscribe(ctx)
		case <-silence.C:
			// A half-open connection looks like a quiet one until the client sends a ping.
			if pinged {
				return fmt.Errorf("the connection has been silent for %v", pingAfter+pongTimeout)
			}
			pinged = true
			silence.Reset(pongTimeout)
			s.lastID++
			s.send(ctx, map[string]any{"type": "ping", "id": s.lastID})
		}
	}
}

// dial opens the WebSocket.
func (s *session) dial(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	header := s.client.cfg.Header.Clone()
	if header == nil {
		header = make(http.Header)
	}
	var err error
	if s.credentials, err = s.client.authorize(ctx, header); err != nil {
		if !isTemporary(err) {
			return &permanentError{err}
		}
		return err
	}
	ws, res, err := websocket.Dial(ctx, s.client.base+"/v1/live", &websocket.DialOptions{
		HTTPClient: s.client.http, HTTPHeader: header, Subprotocols: []string{subprotocol},
	})
	if err == nil {
		s.ws = ws
		ws.SetReadLimit(maxAnswer)
		return nil
	}
	if res == nil || res.StatusCode == http.StatusSwitchingProtocols {
		if !isTemporary(err) {
			return &permanentError{err}
		}
		return err
	}
	refusal := problem(res)
	s.retry = min(refusal.retryAfter, maxRetryAfter)
	if refusal.Status < 500 && !isTemporary(refusal) && !s.client.mayRenew(ctx, s.credentials, refusal) {
		return &permanentError{refusal}
	}
	return refusal
}

// subscribe sends a subscribe, with a resume if a delta can build on the list.
func (s *session) subscribe(ctx context.Context) {
	type resume struct {
		Life string `json:"life"`
		Seq  int64  `json:"seq"`
	}
	s.lastID++
	s.subscribeID, s.inSync = s.lastID, false
	m := struct {
		Type   string  `json:"type"`
		ID     int64   `json:"id"`
		Board  string  `json:"board"`
		Top    int     `json:"top"`
		Me     string  `json:"me,omitempty"`
		Around int     `json:"around,omitzero"`
		Info   bool    `json:"info"`
		Resume *resume `json:"resume,omitempty"`
	}{"subscribe", s.lastID, s.shown.Board, s.watch.Top, s.watch.Me, s.watch.Around, true, nil}
	if s.foldable {
		m.Resume = &resume{s.life, s.shown.Seq}
	}
	s.send(ctx, m)
}

// resubscribeLater subscribes again after a backoff.
func (s *session) resubscribeLater() {
	s.inSync = false
	s.resubscribeTimer.Reset(s.client.backoff(s.resubscribes))
	s.resubscribes++
}

// send sends a message. It drops errors: the reading goroutine reports why the connection failed, and
// a write beyond pongTimeout closes the connection.
func (s *session) send(ctx context.Context, message any) {
	b, err := json.Marshal(message)
	if err != nil {
		panic(err) // it holds numbers, and names that Watch has checked
	}
	ctx, cancel := context.WithTimeout(ctx, pongTimeout)
	defer cancel()
	s.ws.Write(ctx, websocket.MessageText, b)
}

// handle acts on one message. An error ends the connection.
func (s *session) handle(ctx context.Context, message []byte) error {
	var f frame
	if err := json.Unmarshal(message, &f); err != nil {
		return fmt.Errorf("%w: %w", errAnswer, err)
	}
	switch f.Type {
	case "snapshot", "delta", "board", "me":
		if f.Board == s.shown.Board {
			s.fold(ctx, &f)
		}
	case "status":
		if at, err := time.Parse(time.RFC3339, f.AsOf); f.Stale && err == nil {
			s.shown.AsOf = at
		}
		s.stale = f.Stale
		s.update(nil)
	case "error":
		return s.handleError(ctx, &f)
	case "bye":
		s.retry = min(time.Duration(f.RetryMS)*time.Millisecond, maxRetryAfter)
	}
	return nil
}

// fold applies a frame about the board. If the frame does not fit, it subscribes again.
func (s *session) fold(ctx context.Context, f *frame) {
	if f.Type == "delta" && !s.foldable {
		return // sent before the client found that a frame is missing
	}
	if !s.apply(f) {
		s.resubscribeLater()
		s.subscribeID = 0
		s.update(errors.New("a frame is missing"))
		s.lastID++
		s.send(ctx, map[string]any{"type": "unsubscribe", "id": s.lastID, "board": f.Board})
		return
	}
	if f.Type != "me" {
		s.inSync = true
	}
	s.update(nil)
}

// handleError acts on an error frame.
func (s *session) handleError(ctx context.Context, f *frame) error {
	if f.ID != nil && *f.ID != s.subscribeID {
		return nil
	}
	refusal := &f.Error
	switch {
	case isTemporary(refusal):
		s.resubscribeLater()
		s.update(refusal)
		return nil
	case (refusal.Code == "forbidden" || refusal.Code == "unauthorized") && s.client.haveChanged(ctx, s.credentials):
		// The key of this connection was withdrawn; the next one uses another. What a withdrawn key already
		// watches ends with forbidden, and what it asks for afterwards is unauthorized.
		return refusal
	}
	return &permanentError{refusal}
}

// update derives the board's State from the connection and publishes it. err is the reason if the
// board is not live.
func (s *session) update(err error) {
	before := s.shown.State
	s.shown.Err = err
	switch {
	case s.stale:
		s.shown.State, s.shown.Err = Stale, nil
	case s.inSync:
		s.shown.State, s.shown.AsOf, s.shown.Err = Live, time.Time{}, nil
	case s.hasState:
		if s.shown.State = Away; before == Live {
			s.shown.AsOf = s.lastMessage
		}
	default:
		s.shown.State = Connecting
	}
	s.publish()
}
