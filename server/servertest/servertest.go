// Package servertest talks to a running server as its users do, for tests.
package servertest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"rankcast/hub/hubtest"
)

// Patience bounds every wait of a test.
const Patience = time.Minute

// Answer is what came of a request.
type Answer struct {
	Status int
	Header http.Header
	Body   string
	t      testing.TB
}

// Into decodes the body.
func (a Answer) Into(v any) {
	a.t.Helper()
	require.NoError(a.t, json.Unmarshal([]byte(a.Body), v), a.Body)
}

// RequireProblem requires that an answer is a whole problem (RFC 9457) with that status, code
// and field.
func RequireProblem(t testing.TB, a Answer, status int, code, field string) {
	t.Helper()
	require.Equal(t, status, a.Status, a.Body)
	require.Equal(t, "application/problem+json", a.Header.Get("Content-Type"))
	var p struct {
		Type, Title, Code, Detail, Field string
		Status                           int
	}
	a.Into(&p)
	require.Equal(t, code, p.Code, a.Body)
	require.Equal(t, field, p.Field, a.Body)
	require.Equal(t, status, p.Status)
	require.NotEmpty(t, p.Detail)
	require.NotEmpty(t, p.Title)
	if status == 503 {
		require.NotEmpty(t, a.Header.Get("Retry-After"))
	}
}

// Request sends a request; body is JSON text, or "" for none.
func Request(t testing.TB, method, url, body string, header ...string) Answer {
	t.Helper()
	a, err := Try(t, method, url, body, header...)
	require.NoError(t, err)
	return a
}

// Try sends a request to a server that may not answer.
func Try(t testing.TB, method, url, body string, header ...string) (Answer, error) {
	req, err := http.NewRequestWithContext(context.Background(), method, url, bytes.NewReader([]byte(body)))
	if err != nil {
		return Answer{}, err
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	client := http.Client{Timeout: Patience}
	res, err := client.Do(req)
	if err != nil {
		return Answer{}, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return Answer{res.StatusCode, res.Header, strings.TrimSpace(string(b)), t}, err
}

// Top is GET /top of a board of the server at addr.
func Top(t testing.TB, addr, board string, limit int) (top []hubtest.Entry, total int64) {
	t.Helper()
	var body struct {
		Top   []hubtest.Entry
		Total int64
	}
	a := Request(t, "GET", fmt.Sprintf("http://%s/v1/boards/%s/top?limit=%d", addr, board, limit), "")
	require.Equal(t, 200, a.Status, a.Body)
	a.Into(&body)
	return body.Top, body.Total
}

// Socket is a test's WebSocket. It folds the boards that it shows.
type Socket struct {
	t      testing.TB
	WS     *websocket.Conn
	Boards map[string]*hubtest.Board
	Stale  *bool
}

// Dial opens a WebSocket to the server at addr.
func Dial(t testing.TB, addr string) *Socket { return dialWith(t, addr, http.DefaultClient) }

// DialSmall dials a socket that takes little without being read.
func DialSmall(t testing.TB, addr string) *Socket {
	small := net.Dialer{Control: func(_, _ string, raw syscall.RawConn) error {
		return raw.Control(func(fd uintptr) { syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 16<<10) })
	}}
	return dialWith(t, addr, &http.Client{Transport: &http.Transport{DialContext: small.DialContext}})
}

func dialWith(t testing.TB, addr string, client *http.Client) *Socket {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	ws, _, err := websocket.Dial(ctx, "ws://"+addr+"/v1/live",
		&websocket.DialOptions{HTTPClient: client, Subprotocols: []string{"rankcast.v1"}})
	require.NoError(t, err)
	ws.SetReadLimit(-1)
	t.Cleanup(func() { ws.CloseNow() })
	return &Socket{t: t, WS: ws, Boards: make(map[string]*hubtest.Board)}
}

// Send sends a text message.
func (s *Socket) Send(format string, args ...any) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	require.NoError(s.t, s.WS.Write(ctx, websocket.MessageText, fmt.Appendf(nil, format, args...)))
}

// Raw reads one message as it came, and does not fold it.
func (s *Socket) Raw() ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	_, b, err := s.WS.Read(ctx)
	return b, err
}

// Read reads one message and folds it.
func (s *Socket) Read() (hubtest.Message, error) {
	var m hubtest.Message
	b, err := s.Raw()
	if err != nil {
		return m, err
	}
	require.NoError(s.t, json.Unmarshal(b, &m), "%s", b)
	switch m.Type {
	case "snapshot", "delta", "me":
		if s.Boards[m.Board] == nil {
			s.Boards[m.Board] = &hubtest.Board{}
		}
		require.NoError(s.t, s.Boards[m.Board].Fold(m), "%s", b)
	case "status":
		s.Stale = &m.Stale
	}
	return m, nil
}

// Next waits for a message of one of the types given.
func (s *Socket) Next(types ...string) hubtest.Message {
	s.t.Helper()
	for {
		m, err := s.Read()
		require.NoError(s.t, err, "while waiting for %v", types)
		for _, kind := range types {
			if m.Type == kind {
				return m
			}
		}
	}
}

// Until reads until the board that is held is as wanted.
func (s *Socket) Until(board, what string, wanted func(*hubtest.Board) bool) {
	s.t.Helper()
	for {
		if b := s.Boards[board]; b != nil && wanted(b) {
			return
		}
		if _, err := s.Read(); err != nil {
			require.NoError(s.t, err, "waiting for %s; held: %+v", what, s.Boards[board])
		}
	}
}

// Subscribe shows a board and waits for its snapshot.
func (s *Socket) Subscribe(board string, top int) {
	s.t.Helper()
	s.Send(`{"type":"subscribe","id":1,"board":%q,"top":%d}`, board, top)
	s.Next("ok")
	s.Next("snapshot")
}
