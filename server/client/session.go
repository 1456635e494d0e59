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
	// connectTime bounds a handshake: an attempt into a black hole gets no answer at all.
	connectTime = 10 * time.Second
	// stable is how long a good connection lasts: waits start small again after one.
	stable = 5 * time.Second
	// quiet is for how long silence proves nothing, for a quiet board sends nothing.
	quiet = 20 * time.Second
	// answerTime is how long the answer to a ping may take after that.
	answerTime = 5 * time.Second
	// longestRetry is how long a server that says when to come back is believed.
	longestRetry = time.Minute
	// overloadedAttempt is the attempt to go on with after "overloaded" (1013):
	// up to 4 s instead of 250 ms.
	overloadedAttempt = 4
	// Close codes from firstFinal to lastFinal say: do not come back.
	firstFinal, lastFinal = 4500, 4999
)

// finalError is an error that trying again does not mend.
type finalError struct{ err error }

func (e *finalError) Error() string { return e.err.Error() }

// session is one connection of a keeper's.
type session struct {
	*keeper
	ws *websocket.Conn

	opened time.Time // zero: never
	heard  time.Time // when a message last came
	stale  bool      // the server has lost its Redis
	fresh  bool      // the list came over this connection, without a gap

	lastID   int64
	askedID  int64       // of the subscribe that counts; 0: none is out
	resuming bool        // it had a resume
	askAgain *time.Timer // stopped while one is out

	retry      time.Duration // after which the server wants to be asked again; 0: it did not say
	overloaded bool          // so it said
}

// run connects, subscribes and takes frames until the connection is of no more
// use, and tells why.
func (s *session) run(ctx context.Context) error {
	if err := s.dial(ctx); err != nil {
		return err
	}
	// One goroutine reads. What it reads with has no end of its own: a context
	// that ended would close the connection. So it is closed to end it.
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

	s.opened, s.heard = time.Now(), time.Now()
	s.askAgain = time.NewTimer(0)
	s.askAgain.Stop()
	silence := time.NewTimer(quiet)
	defer silence.Stop()
	defer s.askAgain.Stop()
	pinged := false
	s.ask(ctx)
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case message, ok := <-messages:
			if !ok {
				return s.closed(broken)
			}
			s.heard, pinged = time.Now(), false
			silence.Reset(quiet)
			if err := s.hear(ctx, message); err != nil {
				return err
			}
		case <-s.askAgain.C:
			s.ask(ctx)
		case <-silence.C:
			// A half-open connection looks like a quiet one until it is asked.
			if pinged {
				return fmt.Errorf("the connection has been silent for %v", quiet+answerTime)
			}
			pinged = true
			silence.Reset(answerTime)
			s.lastID++
			s.send(ctx, map[string]any{"type": "ping", "id": s.lastID})
		}
	}
}

// dial opens the WebSocket.
func (s *session) dial(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	ws, res, err := websocket.Dial(ctx, s.url, &websocket.DialOptions{
		HTTPClient: s.client.http, HTTPHeader: s.client.cfg.Header.Clone(), Subprotocols: []string{subprotocol},
	})
	if err == nil {
		s.ws = ws
		ws.SetReadLimit(maxAnswer)
		return nil
	}
	if res == nil || res.StatusCode == http.StatusSwitchingProtocols {
		if !temporary(err) {
			return &finalError{err}
		}
		return err
	}
	refusal := problem(res)
	s.retry = min(refusal.retryAfter, longestRetry)
	if refusal.Status < 500 && !temporary(refusal) {
		return &finalError{refusal}
	}
	return refusal
}

// ask subscribes, from where the list held ends if it can be gone on with.
func (s *session) ask(ctx context.Context) {
	type resume struct {
		Epoch string `json:"epoch"`
		Seq   int64  `json:"seq"`
	}
	s.lastID++
	s.askedID, s.fresh = s.lastID, false
	m := struct {
		Type   string  `json:"type"`
		ID     int64   `json:"id"`
		Board  string  `json:"board"`
		Top    int     `json:"top"`
		Me     string  `json:"me,omitempty"`
		Around int     `json:"around,omitzero"`
		Resume *resume `json:"resume,omitempty"`
	}{"subscribe", s.lastID, s.shown.Board, s.watch.Top, s.watch.Me, s.watch.Around, nil}
	// What is not there yet has no epoch, and nothing to go on with.
	if s.resuming = s.whole && s.shown.Epoch != ""; s.resuming {
		m.Resume = &resume{s.shown.Epoch, s.shown.Seq}
	}
	s.send(ctx, m)
}

// askLater asks again after a while.
func (s *session) askLater() {
	s.fresh, s.resuming = false, false
	s.askAgain.Reset(s.client.backoff(s.asks))
	s.asks++
}

// send sends a message. Why one cannot be sent, the reader knows better: it sees
// what the server said last, and a write that takes too long closes the
// connection.
func (s *session) send(ctx context.Context, message any) {
	b, err := json.Marshal(message)
	if err != nil {
		panic(err) // names that Watch has checked, and numbers
	}
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	s.ws.Write(ctx, websocket.MessageText, b)
}

// hear acts on one message. An error ends the connection.
func (s *session) hear(ctx context.Context, message []byte) error {
	var f frame
	if err := json.Unmarshal(message, &f); err != nil {
		return fmt.Errorf("%w: %w", errAnswer, err)
	}
	switch f.Type {
	case "snapshot", "delta", "me":
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
		return s.refused(ctx, &f)
	case "bye":
		s.retry = min(time.Duration(f.RetryMS)*time.Millisecond, longestRetry)
	}
	return nil
}

// fold takes a frame about the board, or asks for the board anew where it does
// not fit.
func (s *session) fold(ctx context.Context, f *frame) {
	if f.Type == "delta" && !s.fresh && !s.resuming {
		return // was on its way before a gap was seen, and builds on nothing held here
	}
	if !s.take(f) {
		s.askLater()
		s.askedID = 0
		s.update(errors.New("a frame was lost"))
		s.lastID++
		s.send(ctx, map[string]any{"type": "unsubscribe", "id": s.lastID, "board": f.Board})
		return
	}
	if f.Type != "me" {
		s.fresh, s.resuming = true, false
	}
	s.update(nil)
}

// refused acts on an error frame.
func (s *session) refused(ctx context.Context, f *frame) error {
	if f.ID != nil && *f.ID != s.askedID {
		return nil
	}
	refusal := &Error{Code: f.Code, Message: f.Message, Field: f.Field}
	switch {
	case temporary(refusal):
		s.askLater()
		s.update(refusal)
		return nil
	case s.resuming && f.Field == "resume":
		// A node that is older than resume, while others have it.
		s.whole = false
		s.ask(ctx)
		return nil
	}
	return &finalError{refusal}
}

// update makes the state of the connection that of the board, and tells it. err
// is why it is not live.
func (s *session) update(err error) {
	before := s.shown.State
	s.shown.Err = err
	switch {
	case s.stale:
		s.shown.State, s.shown.Err = Stale, nil
	case s.fresh:
		s.shown.State, s.shown.AsOf, s.shown.Err = Live, time.Time{}, nil
	case s.known:
		if s.shown.State = Away; before == Live {
			s.shown.AsOf = s.heard
		}
	default:
		s.shown.State = Connecting
	}
	s.tell()
}

// closed tells what the end of the connection means.
func (s *session) closed(err error) error {
	var frame websocket.CloseError
	switch {
	case !errors.As(err, &frame):
		return fmt.Errorf("the connection was lost: %w", err)
	case frame.Code == websocket.StatusGoingAway:
		return errors.New("the server stops")
	}
	s.overloaded = frame.Code == websocket.StatusTryAgainLater
	if frame.Code >= firstFinal && frame.Code <= lastFinal {
		message := frame.Reason
		if message == "" {
			message = fmt.Sprintf("the server closed the connection for good (%d)", frame.Code)
		}
		return &finalError{&Error{Code: "closed", Message: message}}
	}
	return err
}
