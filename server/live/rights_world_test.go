package live

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"rankcast/hub"
	"rankcast/ranking"
	"rankcast/ranking/redistest"
	"rankcast/server/access"
	"rankcast/server/access/accesstest"
	"rankcast/server/internal/origin"
	"rankcast/server/internal/request"
)

// rightsWorld is a node with an access file, in simulated time. Its connections are pipes. A path of its HTTP
// server that begins with /stream/ is an event stream of a board.
type rightsWorld struct {
	t       *testing.T
	guard   *accesstest.Guard
	limits  *access.Limits
	hub     *hub.Hub
	conns   pipeListener
	updates atomic.Int64 // that the node has applied
}

// anyBoard is a store with each board and each feed, that counts updates.
type anyBoard struct{ *rightsWorld }

func (anyBoard) Board(_ context.Context, name string) (ranking.Board, error) {
	return ranking.Board{Name: name, Instance: name}, nil
}
func (anyBoard) About(_ context.Context, name string) (ranking.About, error) {
	return ranking.About{Board: ranking.Board{Name: name, Instance: name}}, nil
}
func (anyBoard) CheckFeed(context.Context, string) error { return nil }
func (anyBoard) Now() time.Time                          { return time.Time{} }
func (b anyBoard) Update(context.Context, string, request.Object) ([]byte, error) {
	b.updates.Add(1)
	return []byte(`{"results":[]}`), nil
}
func (b anyBoard) Event(ctx context.Context, _ *access.Caller, event string, o request.Object) ([]byte, error) {
	return b.Update(ctx, event, o)
}

// pipeListener accepts the far ends of pipes.
type pipeListener chan net.Conn

func (l pipeListener) Accept() (net.Conn, error) {
	conn, open := <-l
	if !open {
		return nil, net.ErrClosed
	}
	return conn, nil
}
func (pipeListener) Close() error   { return nil }
func (pipeListener) Addr() net.Addr { return &net.UnixAddr{} }

// client is an HTTP client of the world. It calls connected with its connection.
func (w *rightsWorld) client(connected func(net.Conn)) *http.Client {
	return &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(context.Context, string,
		string) (net.Conn, error) {
		near, far := net.Pipe()
		w.conns <- far
		connected(near)
		return near, nil
	}}}
}

// inRightsWorld runs a test in a world with an access file, by a clock of its own.
func inRightsWorld(t *testing.T, file string, test func(t *testing.T, w *rightsWorld)) {
	t.Helper()
	redistest.InBubble(t, func(t *testing.T) { withRights(t, file, func(w *rightsWorld) { test(t, w) }) })
}

// withRights runs a test in a world with an access file. At its end the test has closed all connections.
func withRights(t *testing.T, file string, test func(w *rightsWorld)) {
	w := &rightsWorld{t: t, guard: accesstest.Start(t, file), limits: access.New(access.Config{Requests: 2}), conns: make(pipeListener)}
	w.hub = hub.New(noBoards{}, noBoards{}, hub.Config{Log: slog.New(slog.DiscardHandler)})
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { w.hub.Run(ctx) })
	w.hub.FeedUp()
	s := New(anyBoard{w}, anyBoard{w}, w.hub, Config{
		MaxTop: 10, WriteTimeout: 10 * time.Second, PingAfter: time.Hour,
		Origins: origin.New(nil, nil, slog.New(slog.DiscardHandler)), Guard: w.guard.Guard, Limits: w.limits,
	})
	keeping, endKeeping := context.WithCancel(ctx)
	running.Go(func() { s.KeepAlive(keeping) })
	web := &http.Server{Handler: http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		caller, err := w.guard.Anonymous(), error(nil)
		if credentials := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "); credentials != "" {
			caller, err = w.guard.Authenticate(r.Context(), credentials)
		}
		if board, is := strings.CutPrefix(r.URL.Path, "/stream/"); is && err == nil {
			err = s.Stream(rw, r, access.Address{}, caller, ranking.Board{Name: board, Instance: board}, hub.Watch{})
		} else if err == nil {
			err = s.Accept(rw, r, access.Address{}, func() (*access.Caller, error) { return caller, nil })
		}
		if err != nil {
			http.Error(rw, err.Error(), http.StatusUnauthorized)
		}
	})}
	running.Go(func() { web.Serve(w.conns) })
	test(w)
	endKeeping()
	s.Stop(t.Context())
	close(w.conns)
	require.NoError(t, web.Close())
	cancel()
	redistest.Wait(t, "the end of running", running.Wait)
}

// rightsSocket is a client of a rightsWorld.
type rightsSocket struct {
	t      *testing.T
	ws     *websocket.Conn
	conn   net.Conn             // below ws
	frames chan string          // but for a stalled client
	closed websocket.CloseError // once frames is closed
}

// dialStalled opens a socket with credentials, "" for none. Its client reads nothing. A test in which two
// frames for such a client meet stands still: then the second waits for a mutex.
func (w *rightsWorld) dialStalled(credentials string) *rightsSocket {
	w.t.Helper()
	s := &rightsSocket{t: w.t}
	options := &websocket.DialOptions{HTTPClient: w.client(func(conn net.Conn) { s.conn = conn })}
	if credentials != "" {
		options.HTTPHeader = http.Header{"Authorization": {"Bearer " + credentials}}
	}
	var err error
	s.ws, _, err = websocket.Dial(context.Background(), "ws://node/v1/live", options)
	require.NoError(w.t, err)
	return s
}

// dial opens a socket with credentials, "" for none, whose client reads all that comes.
func (w *rightsWorld) dial(credentials string) *rightsSocket {
	w.t.Helper()
	s := w.dialStalled(credentials)
	s.frames = make(chan string, 100)
	go func() {
		defer close(s.frames)
		for {
			_, b, err := s.ws.Read(context.Background())
			if err != nil {
				errors.As(err, &s.closed)
				return
			}
			var m struct{ Type, Board, Feed, Code string }
			if json.Unmarshal(b, &m); m.Type != "status" {
				s.frames <- strings.Join(strings.Fields(m.Type+" "+m.Board+m.Feed+" "+m.Code), " ")
			}
		}
	}()
	return s
}

func (s *rightsSocket) send(message string) {
	s.t.Helper()
	require.NoError(s.t, s.ws.Write(context.Background(), websocket.MessageText, []byte(message)))
}

// answer is the next frame that is no status, in short: its type, its board or feed, and its code.
func (s *rightsSocket) answer() string {
	s.t.Helper()
	frame, open := <-s.frames
	if !open {
		require.Fail(s.t, "the socket is closed", "%v", s.closed)
	}
	return frame
}

// ask sends a message and returns the answer.
func (s *rightsSocket) ask(message string) string {
	s.t.Helper()
	s.send(message)
	return s.answer()
}

// end waits until the node closes the socket, and returns the close frame.
func (s *rightsSocket) end() websocket.CloseError {
	for range s.frames {
	}
	return s.closed
}
