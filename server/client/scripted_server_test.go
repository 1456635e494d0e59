package client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"testing"
	"testing/synctest"

	"rankcast/ranking/redistest"

	"github.com/coder/websocket"
	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) { redistest.Main(m) }

// pipes is a network in memory, so that a test with simulated time has one.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	close(p.closed)
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "memory"} }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case p.conns <- far:
		return near, nil
	case <-p.closed:
		return nil, errors.New("connection refused")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// newScripted makes a client of a handler in this process. Its waits are the
// longest that it may take: the jitter is fixed.
func newScripted(t *testing.T, cfg Config, h http.Handler) *Client {
	l := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
	web := &http.Server{Handler: h}
	done := make(chan struct{})
	go func() {
		web.Serve(l)
		close(done)
	}()
	transport := &http.Transport{DialContext: l.dial}
	cfg.HTTP = &http.Client{Transport: transport}
	c, err := New("http://server.test", cfg)
	require.NoError(t, err)
	c.random = func() float64 { return 1 }
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		web.Close()
		<-done
	})
	return c
}

// scripted is a WebSocket server that does what a test says.
type scripted struct {
	*Client
	t      *testing.T
	peers  chan *peer
	refuse func(w http.ResponseWriter) bool // in place of a handshake
	header http.Header                      // of the last handshake

	cancel context.CancelFunc
	shown  chan Board
	ended  chan error
}

// peer is the server's end of one connection.
type peer struct {
	t    *testing.T
	ws   *websocket.Conn
	gone chan struct{}
}

func newScriptedSockets(t *testing.T) *scripted { return newScriptedSocketsWith(t, Config{}) }

func newScriptedSocketsWith(t *testing.T, cfg Config) *scripted {
	s := &scripted{t: t, peers: make(chan *peer), shown: make(chan Board, 100), ended: make(chan error, 1)}
	s.Client = newScripted(t, cfg, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.header = r.Header
		if s.refuse != nil && s.refuse(w) {
			return
		}
		ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{subprotocol}})
		if err != nil {
			t.Error(err)
			return
		}
		p := &peer{t: t, ws: ws, gone: make(chan struct{})}
		s.peers <- p
		<-p.gone
	}))
	return s
}

// start watches the board "b".
func (s *scripted) start(w Watch) {
	ctx, cancel := context.WithCancel(s.t.Context())
	s.cancel = cancel
	s.t.Cleanup(cancel)
	go func() { s.ended <- s.Watch(ctx, "b", w, func(b Board) { s.shown <- b }) }()
}

// watching runs a test of a watch of the board "b", with its first connection, in simulated time.
func watching(t *testing.T, cfg Config, w Watch, test func(t *testing.T, s *scripted, p *peer)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := newScriptedSocketsWith(t, cfg)
		s.start(w)
		test(t, s, <-s.peers)
	})
}

// live answers the subscribe of a connection with a snapshot at a seq, and waits until that is shown.
func (s *scripted) live(p *peer, seq int) {
	s.t.Helper()
	p.read()
	p.snapshot("e", seq)
	s.untilState(Live)
}

// until returns the first state shown that is as wanted.
func (s *scripted) until(wanted func(Board) bool) Board {
	for b := range s.shown {
		if wanted(b) {
			return b
		}
	}
	return Board{}
}

func (s *scripted) untilState(state State) Board {
	return s.until(func(b Board) bool { return b.State == state })
}

// read reads one message.
func (p *peer) read() map[string]any {
	p.t.Helper()
	_, b, err := p.ws.Read(context.Background())
	require.NoError(p.t, err)
	var m map[string]any
	require.NoError(p.t, json.Unmarshal(b, &m))
	return m
}

// lost reads until the client is gone, and lets the connection go.
func (p *peer) lost() {
	for {
		if _, _, err := p.ws.Read(context.Background()); err != nil {
			break
		}
	}
	p.drop()
}

func (p *peer) send(format string, args ...any) {
	p.t.Helper()
	require.NoError(p.t, p.ws.Write(context.Background(), websocket.MessageText, fmt.Appendf(nil, format, args...)))
}

// close ends the connection with a close frame, drop without.
func (p *peer) close(code int, reason string) {
	p.ws.Close(websocket.StatusCode(code), reason)
	p.drop()
}

func (p *peer) drop() {
	p.ws.CloseNow()
	close(p.gone)
}

// snapshot is three entries at a seq.
func (p *peer) snapshot(epoch string, seq int) {
	p.send(`{"type":"snapshot","board":"b","period":"","epoch":%[1]q,"life":"life-%[1]s","seq":%[2]d,"total":3,"top":[
		{"rank":1,"member":"a","score":30},{"rank":2,"member":"b","score":20},{"rank":3,"member":"c","score":10}]}`, epoch, seq)
}

// members are those of a top, in order.
func members(b Board) (s string) {
	for _, e := range b.Top {
		s += e.Member
	}
	return s
}
