package server

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/labstack/echo/v4"

	"rankcast/hub"
	"rankcast/ranking"
	"rankcast/ranking/definition"
)

const (
	subprotocol = "rankcast.v1"
	// maxMessage bounds a client's message, in bytes. A larger one closes the
	// socket with 1009.
	maxMessage = 32 << 10
	// maxIDBytes bounds the id of a message, as JSON.
	maxIDBytes = 128
	// drainSpread is over how long clients of a node that stops come back.
	drainSpread = 2 * time.Second
)

// session is one WebSocket and what its client asked for. One goroutine reads
// and acts; frames come from the hub.
type session struct {
	server *Server
	ws     *websocket.Conn
	socket *socket
	client *hub.Client
	other  bool                             // the client is a page of another site
	shown  map[string]*hub.Subscription     // by board as named
	feeds  map[string]*hub.FeedSubscription // by name; nil before the first
}

// live turns a request into a session. The handler returns at once, so that its
// stack and buffers are not kept.
func (s *Server) live(c echo.Context) error {
	if s.stopping.Load() {
		return hub.ErrClosed
	}
	u := &upgrade{ResponseWriter: c.Response().Writer, timeout: s.cfg.WriteTimeout, running: &s.running}
	ws, err := websocket.Accept(u, c.Request(), &websocket.AcceptOptions{
		Subprotocols: []string{subprotocol}, CompressionMode: websocket.CompressionDisabled,
		OriginPatterns: origins(s.cfg.Origins).patterns(),
	})
	if err != nil {
		if u.refused == http.StatusForbidden {
			return errOtherSite
		}
		return fmt.Errorf("%w: %w", errHandshake, err)
	}
	c.Response().Committed = true
	ws.SetReadLimit(maxMessage)
	ss := &session{server: s, ws: ws, socket: u.socket, other: ofOtherSite(c.Request()), shown: make(map[string]*hub.Subscription)}
	if !s.open(ss) {
		ws.CloseNow()
	}
	return nil
}

// open starts a session, unless the server is stopping.
func (s *Server) open(ss *session) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopping.Load() {
		return false
	}
	s.sessions[ss] = struct{}{}
	s.running.Go(ss.run)
	return true
}

// stopSessions tells every client to come back elsewhere, each at a moment of
// its own, and waits until all have gone. Those that are stalled, or do not
// answer the close frame, are cut off when grace ends.
func (s *Server) stopSessions(grace context.Context) {
	s.mu.Lock()
	sessions := slices.Collect(maps.Keys(s.sessions))
	s.mu.Unlock()
	for _, ss := range sessions {
		retry := strconv.FormatInt(rand.N(drainSpread).Milliseconds(), 10)
		bye := hub.NewFrame([]byte(`{"type":"bye","reason":"drain","retry_ms":` + retry + `}`))
		ss.socket.farewell(bye, uint16(websocket.StatusGoingAway))
	}
	cut := context.AfterFunc(grace, func() {
		for _, ss := range sessions {
			ss.socket.Close()
		}
	})
	defer cut()
	s.running.Wait()
}

// run reads until the socket closes.
func (ss *session) run() {
	ss.client = ss.server.hub.Join(ss.socket)
	ss.socket.attach(ss.client)
	defer ss.close()
	for {
		// A context that can end would cost a timer for each read, and close the
		// socket; whoever wants the session to end closes the connection.
		kind, r, err := ss.ws.Reader(context.Background())
		if err == nil {
			err = ss.read(kind, r)
		}
		if err != nil {
			if websocket.CloseStatus(err) == -1 {
				ss.socket.linger() // the library may have closed for a reason
			}
			return
		}
	}
}

func (ss *session) close() {
	ss.socket.Close()
	ss.server.hub.Leave(ss.client)
	ss.ws.CloseNow()
	ss.server.mu.Lock()
	delete(ss.server.sessions, ss)
	ss.server.mu.Unlock()
}

// read reads one message and acts on it. It returns an error when the socket is
// of no more use.
func (ss *session) read(kind websocket.MessageType, r io.Reader) error {
	buf := ss.server.messages.Get().(*bytes.Buffer)
	defer ss.server.messages.Put(buf)
	buf.Reset()
	if _, err := buf.ReadFrom(r); err != nil {
		return err
	}
	var id jsontext.Value
	err := ranking.Invalid("message", "is binary; want JSON text")
	if kind == websocket.MessageText {
		// On a stack of its own, which goes with it: this goroutine would keep a large one
		// while it waits for the next message, as long as the socket is open.
		var acting sync.WaitGroup
		acting.Go(func() { id, err = ss.act(buf.Bytes()) })
		acting.Wait()
	}
	if err != nil {
		ss.socket.reply(errorFrame(id, describe(err)))
	}
	return nil
}

// act does what a message asks for, and returns its id.
func (ss *session) act(message []byte) (id jsontext.Value, err error) {
	o, err := parseObject("message", message)
	if err != nil {
		return nil, err
	}
	if id = o["id"]; id != nil {
		if k := id.Kind(); k != '0' && k != '"' || len(id) > maxIDBytes {
			return nil, ranking.Invalid("id", "want a number or a string of up to 128 bytes")
		}
	}
	kind, err := o.text("type")
	if err != nil {
		return id, err
	}
	if kind == "update" || kind == "event" {
		switch {
		case ss.server.cfg.ReadOnlySockets:
			return id, errReadOnly
		case ss.other: // which could not send it over HTTP either
			return id, errReadOnlyThere
		}
	}
	switch kind {
	case "subscribe":
		return id, ss.subscribe(id, o)
	case "unsubscribe":
		return id, ss.unsubscribe(id, o)
	case "update":
		return id, ss.update(id, o)
	case "event":
		return id, ss.event(id, o)
	case "ping":
		if err := o.only("type", "id"); err != nil {
			return id, err
		}
		ss.socket.reply(timedFrame("pong", id, ss.server.store.Now()))
		return id, nil
	case "":
		return id, ranking.Invalid("type", "is missing")
	default:
		return id, ranking.Invalid("type", fmt.Sprintf("is %.30q; want subscribe, unsubscribe, update, event or ping", kind))
	}
}

// answerFrame answers the message with that id.
func answerFrame(kind string, id jsontext.Value) *hub.Frame {
	return timedFrame(kind, id, time.Time{})
}

// timedFrame answers it and tells Redis's clock, unless that is zero: who counts down
// to the end of a period need not have a clock that is right.
func timedFrame(kind string, id jsontext.Value, now time.Time) *hub.Frame {
	b := append([]byte(`{"type":"`), kind...)
	b = append(b, '"')
	if id != nil {
		b = append(b, `,"id":`...)
		b = append(b, id...)
	}
	if !now.IsZero() {
		b = append(b, `,"now":"`...)
		b = now.AppendFormat(b, definition.TimeForm)
		b = append(b, '"')
	}
	return hub.NewFrame(append(b, '}'))
}

func errorFrame(id jsontext.Value, p problem) *hub.Frame {
	b, err := json.Marshal(struct {
		Type    string         `json:"type"`
		ID      jsontext.Value `json:"id,omitzero"`
		Code    string         `json:"code"`
		Message string         `json:"message"`
		Field   string         `json:"field,omitempty"`
	}{"error", id, p.code, p.message, p.field})
	if err != nil {
		panic(err) // strings and what was JSON before
	}
	return hub.NewFrame(b)
}
