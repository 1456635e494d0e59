package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/labstack/echo/v4"

	"rankcast/hub"
	"rankcast/ranking"
)

const (
	subprotocol = "rankcast.v1"
	// maxMessage bounds a client's message, in bytes. A larger one closes the
	// socket with 1009.
	maxMessage = 32 << 10
	// maxSubscriptions bounds the boards that one socket shows.
	maxSubscriptions = 100
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
	shown  map[string]*hub.Subscription // by board as named
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
	})
	if err != nil {
		if u.refused == http.StatusForbidden {
			return &ranking.FieldError{Field: "Origin", Reason: "is another site's", Kind: errForbidden}
		}
		return fmt.Errorf("%w: %w", errHandshake, err)
	}
	c.Response().Committed = true
	ws.SetReadLimit(maxMessage)
	ss := &session{server: s, ws: ws, socket: u.socket, shown: make(map[string]*hub.Subscription)}
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
// its own, and waits until all have gone.
func (s *Server) stopSessions() {
	s.mu.Lock()
	sessions := make([]*session, 0, len(s.sessions))
	for ss := range s.sessions {
		sessions = append(sessions, ss)
	}
	s.mu.Unlock()
	// Those that are stalled, or do not answer the close frame, are cut off.
	cut := time.AfterFunc(s.cfg.StopTimeout, func() {
		for _, ss := range sessions {
			ss.socket.Close()
		}
	})
	defer cut.Stop()
	const workers = 64
	var wg sync.WaitGroup
	next := make(chan *session)
	for range min(workers, len(sessions)) {
		wg.Go(func() {
			for ss := range next {
				retry := strconv.FormatInt(rand.N(drainSpread).Milliseconds(), 10)
				ss.socket.farewell(hub.NewFrame([]byte(`{"type":"bye","reason":"drain","retry_ms":`+retry+`}`)), uint16(websocket.StatusGoingAway))
			}
		})
	}
	for _, ss := range sessions {
		next <- ss
	}
	close(next)
	wg.Wait()
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
		if err != nil {
			return
		}
		if !ss.read(kind, r) {
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

// read reads one message and acts on it. It reports false when the socket is of
// no more use.
func (ss *session) read(kind websocket.MessageType, r io.Reader) bool {
	buf := ss.server.messages.Get().(*bytes.Buffer)
	defer ss.server.messages.Put(buf)
	buf.Reset()
	if _, err := buf.ReadFrom(r); err != nil {
		if errors.Is(err, websocket.ErrMessageTooBig) {
			ss.socket.linger()
		}
		return false
	}
	var id jsontext.Value
	err := ranking.Invalid("message", "is binary; want JSON text")
	if kind == websocket.MessageText {
		id, err = ss.act(buf.Bytes())
	}
	if err != nil {
		ss.socket.reply(errorFrame(id, describe(err)))
	}
	return true
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
	switch kind {
	case "subscribe":
		return id, ss.subscribe(id, o)
	case "unsubscribe":
		return id, ss.unsubscribe(id, o)
	case "ping":
		if err := o.only("type", "id"); err != nil {
			return id, err
		}
		ss.socket.reply(answerFrame("pong", id))
		return id, nil
	case "":
		return id, ranking.Invalid("type", "is missing")
	default:
		return id, ranking.Invalid("type", fmt.Sprintf("is %.30q; want subscribe, unsubscribe or ping", kind))
	}
}

func (ss *session) subscribe(id jsontext.Value, o object) error {
	if err := o.only("type", "id", "board", "top"); err != nil {
		return err
	}
	board, err := o.board()
	if err != nil {
		return err
	}
	most := int64(ss.server.cfg.MaxTop)
	top := min(defaultTop, most)
	if _, there := o["top"]; there {
		if top, err = o.integer("top"); err != nil {
			return err
		}
		if top < 0 || top > most {
			return ranking.Invalid("top", fmt.Sprintf("is %d; want 0 to %d", top, most))
		}
	}
	d, err := ss.server.store.Definition(board)
	if err != nil {
		return err
	}
	before, again := ss.shown[board]
	if !again && len(ss.shown) >= maxSubscriptions {
		return ranking.Invalid("board", fmt.Sprintf("is one too many; a socket shows %d at most", maxSubscriptions))
	}
	ss.socket.reply(answerFrame("ok", id))
	sub, err := ss.server.hub.Subscribe(ss.client, d, int(top), before)
	if err != nil {
		return err
	}
	ss.shown[board] = sub
	return nil
}

func (ss *session) unsubscribe(id jsontext.Value, o object) error {
	if err := o.only("type", "id", "board"); err != nil {
		return err
	}
	board, err := o.board()
	if err != nil {
		return err
	}
	sub, there := ss.shown[board]
	if !there {
		return ranking.Invalid("board", "has no subscription here")
	}
	ss.server.hub.Unsubscribe(sub)
	delete(ss.shown, board)
	ss.socket.reply(answerFrame("ok", id))
	return nil
}

func (o object) board() (string, error) {
	if _, there := o["board"]; !there {
		return "", ranking.Invalid("board", "is missing")
	}
	return o.text("board")
}

// answerFrame answers the message with that id.
func answerFrame(kind string, id jsontext.Value) *hub.Frame {
	b := append([]byte(`{"type":"`), kind...)
	b = append(b, '"')
	if id != nil {
		b = append(b, `,"id":`...)
		b = append(b, id...)
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
