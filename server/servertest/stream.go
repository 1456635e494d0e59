package servertest

import (
	"bufio"
	"encoding/json"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/hub/hubtest"
	"rankcast/server/servertest/contract"
)

// Event is a server-sent event, or a comment, which has only Comment.
type Event struct {
	ID, Type, Data, Retry string
	Comment               bool
}

// Stream is an event stream of a test, and its board as a client folds it.
type Stream struct {
	t     testing.TB
	conn  net.Conn
	lines *bufio.Reader
	ID    string // of the last event with an id, as a browser keeps it
	Board hubtest.Board
}

// OpenStream requests an event stream, and requires that the answer is one. path begins with /v1/.
func OpenStream(t testing.TB, addr, path string, header ...string) *Stream {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(Patience)))
	request := "GET " + path + " HTTP/1.1\r\nHost: " + addr + "\r\n" + strings.Join(append(header, "\r\n"), "\r\n")
	_, err = conn.Write([]byte(strings.ReplaceAll(request, "\r\n\r\n\r\n", "\r\n\r\n")))
	require.NoError(t, err)
	answer, err := http.ReadResponse(bufio.NewReaderSize(conn, 16), nil)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, answer.StatusCode)
	contract.CheckOpened(t, "http://"+addr+path, answer.StatusCode)
	require.Equal(t, "text/event-stream", answer.Header.Get("Content-Type"))
	require.Equal(t, "no-store", answer.Header.Get("Cache-Control"))
	return &Stream{t: t, conn: conn, lines: bufio.NewReaderSize(answer.Body, 16)}
}

// Read reads one event, or a comment. It folds snapshots, deltas, me and board frames into Board.
func (s *Stream) Read() (e Event, err error) {
	for {
		line, err := s.lines.ReadString('\n')
		if err != nil {
			return e, err
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "\n":
			return e, s.fold(e)
		case name == "":
			e.Comment = true
		case name == "id":
			e.ID, s.ID = value, value
		case name == "event":
			e.Type = value
		case name == "data":
			e.Data = value
		case name == "retry":
			e.Retry = value
		default:
			s.t.Fatalf("unknown field %q", line)
		}
	}
}

func (s *Stream) fold(e Event) error {
	if e.Comment {
		return nil
	}
	var m hubtest.Message
	require.NoError(s.t, json.Unmarshal([]byte(e.Data), &m), e.Data)
	require.Equal(s.t, m.Type, e.Type)
	contract.CheckFromServer(s.t, []byte(e.Data))
	if slices.Contains([]string{"snapshot", "delta", "me", "board"}, e.Type) {
		return s.Board.Fold(m)
	}
	return nil
}

// Next waits for an event of a type.
func (s *Stream) Next(kind string) Event {
	s.t.Helper()
	for {
		e, err := s.Read()
		require.NoError(s.t, err, "while waiting for %s", kind)
		if e.Type == kind {
			return e
		}
	}
}

// Until reads until the board is as wanted.
func (s *Stream) Until(what string, wanted func(*hubtest.Board) bool) {
	s.t.Helper()
	for !wanted(&s.Board) {
		_, err := s.Read()
		require.NoError(s.t, err, "while waiting for %s", what)
	}
}

// UntilLine reads up to a line, and leaves the rest of its event unread.
func (s *Stream) UntilLine(want string) {
	s.t.Helper()
	for {
		line, err := s.lines.ReadString('\n')
		require.NoError(s.t, err, "while waiting for %s", want)
		if line == want+"\n" {
			return
		}
	}
}

// Shrink makes the connection accept little while the test does not read.
func (s *Stream) Shrink() { s.conn.(*net.TCPConn).SetReadBuffer(4 << 10) }

// Close ends the stream.
func (s *Stream) Close() { s.conn.Close() }
