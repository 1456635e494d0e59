package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"rankcast/hub"
	"rankcast/hub/hubtest"
	"rankcast/ranking"
	"rankcast/server"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		// The connection pools of http.DefaultTransport and of test clients.
		goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"),
		goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"))
}

// patience bounds every wait of a test.
const patience = time.Minute

// node is a whole server in this process.
type node struct {
	t     testing.TB
	addr  string
	store *ranking.Store
	hub   *hub.Hub
	stop  func()
}

// nodeConfig is what tests may want otherwise.
type nodeConfig struct {
	ranking ranking.Config
	hub     hub.Config
	server  server.Config
}

func startNode(t testing.TB, url string, cfg nodeConfig, boards ...ranking.Definition) *node {
	log := slog.New(slog.DiscardHandler)
	cfg.hub.Log, cfg.server.Log = log, log
	rdb, err := ranking.Open(url)
	require.NoError(t, err)
	store, err := ranking.New(rdb, boards, cfg.ranking)
	require.NoError(t, err)
	feed := ranking.NewFeed(rdb, log, cfg.ranking)
	h := hub.New(store, feed, cfg.hub)
	s := server.New(store, h, feed, cfg.server)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	n := &node{t: t, addr: l.Addr().String(), store: store, hub: h}
	var stops []func()
	role := func(run func(context.Context)) {
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan struct{})
		go func() {
			run(ctx)
			close(done)
		}()
		stops = append(stops, func() { cancel(); <-done })
	}
	role(func(ctx context.Context) { feed.Run(ctx, h) })
	role(func(ctx context.Context) { h.Run(ctx) })
	role(func(ctx context.Context) {
		if err := s.Serve(ctx, l); err != nil {
			t.Error(err)
		}
	})
	stopped := false
	n.stop = func() {
		if !stopped {
			stopped = true
			for i := len(stops) - 1; i >= 0; i-- {
				stops[i]()
			}
			store.Close()
			rdb.Close()
		}
	}
	t.Cleanup(n.stop)
	return n
}

// answer is what came of a request.
type answer struct {
	status int
	header http.Header
	body   string
	t      testing.TB
}

// into decodes the body.
func (a answer) into(v any) {
	a.t.Helper()
	require.NoError(a.t, json.Unmarshal([]byte(a.body), v), a.body)
}

// do sends a request; body is JSON text, or "" for none.
func (n *node) do(method, path, body string, header ...string) answer {
	n.t.Helper()
	return request(n.t, method, "http://"+n.addr+path, body, header...)
}

func request(t testing.TB, method, url, body string, header ...string) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), method, url, bytes.NewReader([]byte(body)))
	require.NoError(t, err)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	client := http.Client{Timeout: patience}
	res, err := client.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return answer{res.StatusCode, res.Header, strings.TrimSpace(string(b)), t}
}

// top is GET /top of a board.
func (n *node) top(board string, limit int) (top []hubtest.Entry, total int64) {
	n.t.Helper()
	var body struct {
		Top   []hubtest.Entry
		Total int64
	}
	a := n.do("GET", fmt.Sprintf("/v1/boards/%s/top?limit=%d", board, limit), "")
	require.Equal(n.t, 200, a.status, a.body)
	a.into(&body)
	return body.Top, body.Total
}

// socket is a test's WebSocket. It folds the boards that it shows.
type socket struct {
	t      testing.TB
	ws     *websocket.Conn
	boards map[string]*hubtest.Board
	stale  *bool
}

func dial(t testing.TB, addr string) *socket { return dialWith(t, addr, http.DefaultClient) }

// dialSmall dials a socket that takes little without being read.
func dialSmall(t testing.TB, addr string) *socket {
	small := net.Dialer{Control: func(_, _ string, raw syscall.RawConn) error {
		return raw.Control(func(fd uintptr) { syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 16<<10) })
	}}
	return dialWith(t, addr, &http.Client{Transport: &http.Transport{DialContext: small.DialContext}})
}

func dialWith(t testing.TB, addr string, client *http.Client) *socket {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	ws, _, err := websocket.Dial(ctx, "ws://"+addr+"/v1/live",
		&websocket.DialOptions{HTTPClient: client, Subprotocols: []string{"rankcast.v1"}})
	require.NoError(t, err)
	ws.SetReadLimit(-1)
	t.Cleanup(func() { ws.CloseNow() })
	return &socket{t: t, ws: ws, boards: make(map[string]*hubtest.Board)}
}

func (s *socket) send(format string, args ...any) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	require.NoError(s.t, s.ws.Write(ctx, websocket.MessageText, fmt.Appendf(nil, format, args...)))
}

// read reads one message and folds it.
func (s *socket) read() (hubtest.Message, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var m hubtest.Message
	_, b, err := s.ws.Read(ctx)
	if err != nil {
		return m, err
	}
	require.NoError(s.t, json.Unmarshal(b, &m), "%s", b)
	switch m.Type {
	case "snapshot", "delta":
		if s.boards[m.Board] == nil {
			s.boards[m.Board] = &hubtest.Board{}
		}
		require.NoError(s.t, s.boards[m.Board].Fold(m), "%s", b)
	case "status":
		s.stale = &m.Stale
	}
	return m, nil
}

// next waits for a message of one of the types given.
func (s *socket) next(types ...string) hubtest.Message {
	s.t.Helper()
	for {
		m, err := s.read()
		require.NoError(s.t, err, "while waiting for %v", types)
		for _, kind := range types {
			if m.Type == kind {
				return m
			}
		}
	}
}

// until reads until the board that is held is as wanted.
func (s *socket) until(board, what string, wanted func(*hubtest.Board) bool) {
	s.t.Helper()
	for {
		if b := s.boards[board]; b != nil && wanted(b) {
			return
		}
		if _, err := s.read(); err != nil {
			require.NoError(s.t, err, "waiting for %s; held: %+v", what, s.boards[board])
		}
	}
}

// subscribe shows a board and waits for its snapshot.
func (s *socket) subscribe(board string, top int) {
	s.t.Helper()
	s.send(`{"type":"subscribe","id":1,"board":%q,"top":%d}`, board, top)
	s.next("ok")
	s.next("snapshot")
}
