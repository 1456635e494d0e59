package servertest

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"syscall"
	"testing"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"rankcast/hub/hubtest"
)

// Socket is a WebSocket of a test. Boards holds the watched boards, with all frames so far applied.
type Socket struct {
	t      testing.TB
	WS     *websocket.Conn
	Boards map[string]*hubtest.Board
	Stale  *bool
}

// Dial opens a WebSocket to the server at addr.
func Dial(t testing.TB, addr string) *Socket { return dialWith(t, addr, http.DefaultClient) }

// DialSmall opens a WebSocket with a small receive buffer: it accepts little while the test does not
// read.
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

// Raw reads one message and does not apply it.
func (s *Socket) Raw() ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	_, b, err := s.WS.Read(ctx)
	return b, err
}

// Read reads one message and applies it.
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

// Until reads until the board is as wanted.
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

// Subscribe subscribes to a board and waits for its snapshot.
func (s *Socket) Subscribe(board string, top int) {
	s.t.Helper()
	s.Send(`{"type":"subscribe","id":1,"board":%q,"top":%d}`, board, top)
	s.Next("ok")
	s.Next("snapshot")
}
