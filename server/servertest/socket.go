package servertest

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"rankcast/hub/hubtest"
	"rankcast/server/servertest/contract"
)

// Socket is a WebSocket of a test. Boards holds the watched boards, with all frames so far applied.
type Socket struct {
	t      testing.TB
	WS     *websocket.Conn
	Boards map[string]*hubtest.Board
	Stale  *bool

	unanswered [][]byte // messages of the client
}

// Dial opens a WebSocket to the server at addr.
func Dial(t testing.TB, addr string) *Socket { return dialWith(t, addr, http.DefaultClient, nil) }

// DialFrom opens a WebSocket as a proxy on this machine does for a client at the address from. The node's
// configuration must trust that proxy.
func DialFrom(t testing.TB, addr, from string) *Socket {
	return dialWith(t, addr, http.DefaultClient, http.Header{"X-Forwarded-For": {from}})
}

// Handshake tries to open a WebSocket with these headers, and closes it at once. It returns the node's answer:
// the status 101 means that the socket was open.
func Handshake(t testing.TB, addr string, header ...string) Answer {
	t.Helper()
	h := make(http.Header)
	for i := 0; i < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	ws, res, err := websocket.Dial(ctx, "ws://"+addr+"/v1/live", &websocket.DialOptions{HTTPHeader: h, Subprotocols: []string{"rankcast.v1"}})
	require.NotNil(t, res, err)
	if err == nil {
		ws.CloseNow()
		return Answer{Status: res.StatusCode, Header: res.Header, t: t}
	}
	body, err := io.ReadAll(res.Body) // the library keeps the first kilobyte
	require.NoError(t, err)
	return Answer{res.StatusCode, res.Header, strings.TrimSpace(string(body)), t}
}

// DialSmall opens a WebSocket with a small receive buffer: it accepts little while the test does not
// read.
func DialSmall(t testing.TB, addr string) *Socket { return dialSmall(t, addr, nil, nil) }

// DialTLS opens a WebSocket to a server that speaks TLS.
func DialTLS(t testing.TB, addr string, trust *tls.Config) *Socket {
	return dialWith(t, addr, &http.Client{Transport: &http.Transport{TLSClientConfig: trust}}, nil)
}

// DialSmallTLS is DialSmall to a server that speaks TLS.
func DialSmallTLS(t testing.TB, addr string, trust *tls.Config) *Socket {
	return dialSmall(t, addr, trust, nil)
}

// DialSmallFrom is DialSmall for a client at the address from, as in DialFrom.
func DialSmallFrom(t testing.TB, addr, from string) *Socket {
	return dialSmall(t, addr, nil, http.Header{"X-Forwarded-For": {from}})
}

func dialSmall(t testing.TB, addr string, trust *tls.Config, header http.Header) *Socket {
	t.Helper()
	small := net.Dialer{Control: func(_, _ string, raw syscall.RawConn) error {
		return raw.Control(func(fd uintptr) { syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 16<<10) })
	}}
	return dialWith(t, addr, &http.Client{Transport: &http.Transport{DialContext: small.DialContext, TLSClientConfig: trust}}, header)
}

// DialPath opens a WebSocket at a path, which begins with /v1/live, with headers in pairs of name and value.
func DialPath(t testing.TB, addr, path string, header ...string) *Socket {
	t.Helper()
	h := make(http.Header)
	for i := 0; i < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return dialPath(t, addr, path, http.DefaultClient, h)
}

func dialWith(t testing.TB, addr string, client *http.Client, header http.Header) *Socket {
	t.Helper()
	return dialPath(t, addr, "/v1/live", client, header)
}

func dialPath(t testing.TB, addr, path string, client *http.Client, header http.Header) *Socket {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	scheme := "ws://"
	if transport, ok := client.Transport.(*http.Transport); ok && transport.TLSClientConfig != nil {
		scheme = "wss://"
	}
	ws, _, err := websocket.Dial(ctx, scheme+addr+path,
		&websocket.DialOptions{HTTPClient: client, HTTPHeader: header, Subprotocols: []string{"rankcast.v1"}})
	require.NoError(t, err)
	contract.CheckOpened(t, "http://"+addr+path, http.StatusSwitchingProtocols)
	ws.SetReadLimit(-1)
	t.Cleanup(func() { ws.CloseNow() })
	return &Socket{t: t, WS: ws, Boards: make(map[string]*hubtest.Board)}
}

// Send sends a text message.
func (s *Socket) Send(format string, args ...any) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	message := fmt.Appendf(nil, format, args...)
	require.NoError(s.t, s.WS.Write(ctx, websocket.MessageText, message))
	s.unanswered = append(s.unanswered, message)
}

// Raw reads one message and does not apply it. The message must be by the contract, and so must the one that it accepts.
func (s *Socket) Raw() ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	_, b, err := s.WS.Read(ctx)
	if err == nil {
		contract.CheckFromServer(s.t, b)
		s.checkAnswered(b)
	}
	return b, err
}

// checkAnswered takes the message that b answers from those that have no answer: the server answers in order.
func (s *Socket) checkAnswered(b []byte) {
	type fields struct {
		Type, Board, Feed string
		ID                json.RawMessage
	}
	var answer, message fields
	require.NoError(s.t, json.Unmarshal(b, &answer))
	isAnswer := answer.Type == "ok" || answer.Type == "result" || answer.Type == "pong" ||
		answer.Type == "error" && answer.Board == "" && answer.Feed == ""
	if !isAnswer || len(s.unanswered) == 0 {
		return
	}
	sent := s.unanswered[0]
	s.unanswered = s.unanswered[1:]
	if answer.Type != "error" && json.Unmarshal(sent, &message) == nil && string(message.ID) == string(answer.ID) {
		contract.CheckFromClient(s.t, sent)
	}
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
	case "snapshot", "delta", "me", "board":
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
