package live_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"rankcast/hub/hubtest"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server"
	"rankcast/server/access"
	"rankcast/server/servertest"
)

// Who subscribes, or asks for a sign of life, is told the clock by which periods end,
// which need not be the node's own.
func TestAnswersHoldClock(t *testing.T) {
	t.Parallel()
	url, set := redistest.Clocked(t)
	now := time.Date(2031, 5, 1, 12, 0, 0, 0, time.UTC)
	set(now)
	n := servertest.Start(t, url, servertest.Config{}, definition.Board{Name: "b", Period: "day"})
	s := servertest.Dial(t, n.Addr)
	told := func(m hubtest.Message) {
		at, err := time.Parse(definition.TimeForm, m.Now)
		require.NoError(t, err)
		require.WithinDuration(t, now, at, patience)
		require.False(t, at.Before(now))
	}
	s.Send(`{"type":"subscribe","id":1,"board":"b"}`)
	told(s.Next("ok"))
	s.Send(`{"type":"ping","id":2}`)
	told(s.Next("pong"))
	s.Send(`{"type":"unsubscribe","id":3,"board":"b"}`)
	require.Empty(t, s.Next("ok").Now)
}

// A bad message is answered with an error frame, and the socket lives.
func TestBadMessages(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{}, definition.Board{Name: "b"})
	s := servertest.Dial(t, n.Addr)
	for _, c := range []struct{ message, id, code, field string }{
		{`{`, "", "invalid_request", "message"},
		{``, "", "invalid_request", "message"},
		{`[]`, "", "invalid_request", "message"},
		{`null`, "", "invalid_request", "message"},
		{`{"type":"ping"} x`, "", "invalid_request", "message"},
		{`{"type":"update","id":1,"board":"b","update":{"member":"Ana \ud83d","score":1}}`, "1", "invalid_request", "update.member"},
		{`{"type":"subscribe","id":"s","board":"b","me":"Ana \ud83d"}`, `"s"`, "invalid_request", "me"},
		{`{"type":"subscribe","board":"\ude00","id":1}`, "1", "invalid_request", "board"},
		{`{"type":"event","id":1,"event":"gift","data":{"user":"u","note":["a",{"text":"\ud83dx"}]}}`, "1", "invalid_request",
			"data.note[1].text"},
		{`{"type":"ping","id":"\ud83d"}`, "", "invalid_request", "id"},
		{`{"type":"ping","id":1,"\ud83d":2}`, "1", "invalid_request", "message"},
		{`{"id":1}`, "1", "invalid_request", "type"},
		{`{"type":7,"id":1}`, "1", "invalid_request", "type"},
		{`{"type":"dance","id":1}`, "1", "invalid_request", "type"},
		{`{"type":"ping","id":{}}`, "", "invalid_request", "id"},
		{`{"type":"ping","id":"` + strings.Repeat("x", 200) + `"}`, "", "invalid_request", "id"},
		{`{"type":"ping","id":1,"board":"b"}`, "1", "invalid_request", "board"},
		{`{"type":"subscribe","id":"s"}`, `"s"`, "invalid_request", "board"},
		{`{"type":"subscribe","id":1,"board":"nope"}`, "1", "unknown_board", "board"},
		{`{"type":"subscribe","id":1,"board":"nope","top":-1}`, "1", "invalid_request", "top"},
		{`{"type":"subscribe","id":1,"board":"nope","info":"yes"}`, "1", "invalid_request", "info"},
		{`{"type":"subscribe","id":1,"board":7}`, "1", "invalid_request", "board"},
		{`{"type":"subscribe","id":1,"board":"b","top":-1}`, "1", "invalid_request", "top"},
		{`{"type":"subscribe","id":1,"board":"b","top":1001}`, "1", "invalid_request", "top"},
		{`{"type":"subscribe","id":1,"board":"b","top":null}`, "1", "invalid_request", "top"},
		{`{"type":"subscribe","id":1,"board":"b","top":"10"}`, "1", "invalid_request", "top"},
		{`{"type":"subscribe","id":1,"board":"b","tops":1}`, "1", "invalid_request", "tops"},
		{`{"type":"subscribe","id":1,"board":"b","me":7}`, "1", "invalid_request", "me"},
		{`{"type":"subscribe","id":1,"board":"b","me":""}`, "1", "invalid_request", "me"},
		{`{"type":"subscribe","id":1,"board":"b","me":"a\u0000"}`, "1", "invalid_request", "me"},
		{`{"type":"subscribe","id":1,"board":"b","me":"` + strings.Repeat("x", 129) + `"}`, "1", "invalid_request", "me"},
		{`{"type":"subscribe","id":1,"board":"b","around":1}`, "1", "invalid_request", "around"},
		{`{"type":"subscribe","id":1,"board":"b","me":"a","around":21}`, "1", "invalid_request", "around"},
		{`{"type":"subscribe","id":1,"board":"b","me":"a","around":-1}`, "1", "invalid_request", "around"},
		{`{"type":"subscribe","id":1,"board":"b","me":"a","around":true}`, "1", "invalid_request", "around"},
		{`{"type":"subscribe","id":1,"board":"b","resume":[]}`, "1", "invalid_request", "resume"},
		{`{"type":"subscribe","id":1,"board":"b","resume":null}`, "1", "invalid_request", "resume"},
		{`{"type":"subscribe","id":1,"board":"b","resume":{"seq":1}}`, "1", "invalid_request", "resume.life"},
		{`{"type":"subscribe","id":1,"board":"b","resume":{"life":7,"seq":1}}`, "1", "invalid_request", "resume.life"},
		{`{"type":"subscribe","id":1,"board":"b","resume":{"life":"` + strings.Repeat("x", 65) + `","seq":1}}`, "1",
			"invalid_request", "resume.life"},
		{`{"type":"subscribe","id":1,"board":"b","resume":{"life":"e"}}`, "1", "invalid_request", "resume.seq"},
		{`{"type":"subscribe","id":1,"board":"b","resume":{"life":"e","seq":-1}}`, "1", "invalid_request", "resume.seq"},
		{`{"type":"subscribe","id":1,"board":"b","resume":{"life":"e","seq":1.5}}`, "1", "invalid_request", "resume.seq"},
		{`{"type":"subscribe","id":1,"board":"b","top":1.5}`, "1", "invalid_request", "top"},
		{`{"type":"subscribe","id":1,"board":"b","top":99999999999999999999}`, "1", "invalid_request", "top"},
		{`{"type":"subscribe","id":1,"board":"b","resume":{"life":"e","seq":99999999999999999999}}`, "1", "invalid_request", "resume.seq"},
		{`{"type":"subscribe","id":1,"board":"b","resume":{"life":"e","seq":1,"top":3}}`, "1", "invalid_request", "resume.top"},
		{`{"type":"unsubscribe","id":1,"board":"b"}`, "1", "invalid_request", "board"},
		{`{"type":"unsubscribe","id":1}`, "1", "invalid_request", "board"},
	} {
		s.Send("%s", c.message)
		m := s.Next("error")
		require.Equal(t, c.id, string(m.ID), c.message)
		require.Equal(t, c.code, m.Code, c.message)
		require.Equal(t, c.field, m.Field, c.message)
		require.NotEmpty(t, m.Message)
		require.NotContains(t, m.Message, "milliseconds", "the hint is for scores")
	}
	require.NoError(t, s.WS.Write(t.Context(), websocket.MessageBinary, []byte(`{"type":"ping"}`)))
	require.Equal(t, "message", s.Next("error").Field)
	s.Subscribe("b", 10)
	require.Equal(t, 1, n.Hub.Watched())
}

func TestTooLargeMessageClosesWith1009(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{}, definition.Board{Name: "b"})
	for _, size := range []int{32<<10 + 1, 400_000} {
		s := servertest.Dial(t, n.Addr)
		s.Send(`{"type":"ping","id":"%s"}`, strings.Repeat("x", 100))
		s.Next("pong")
		s.Send("%s", strings.Repeat("x", 32<<10))
		s.Next("error") // just small enough
		s.WS.Write(t.Context(), websocket.MessageText, []byte(strings.Repeat("x", size)))
		var err error
		for err == nil { // a status may come first
			_, err = s.Read()
		}
		require.Equal(t, websocket.StatusMessageTooBig, websocket.CloseStatus(err), "%v", err)
	}
}

// A text message that is not UTF-8 ends the socket (RFC 6455, section 8.1), wherever the bytes stand.
func TestTextThatIsNotUTF8ClosesWith1007(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{}, definition.Board{Name: "b"})
	for _, message := range []string{
		"{\"type\":\"p\xff\"}", "{\"type\":\"ping\"}\xff", "{\"type\":\"ping\",\"id\":\"\xed\xa0\xbd\"}",
		"{\"type\":\"ping\",\"id\":\"\xf0\x9f\x98", "\xc0\xaf",
		"{\"id\":\"" + strings.Repeat("x", 8<<10) + "\xff\"}",
	} {
		s := servertest.Dial(t, n.Addr)
		s.Send(`{"type":"ping","id":"é😀"}`)
		s.Next("pong")
		require.NoError(t, s.WS.Write(t.Context(), websocket.MessageText, []byte(message)))
		var err error
		for err == nil { // a status may come first
			var m hubtest.Message
			m, err = s.Read()
			require.NotEqual(t, "error", m.Type, "%q", message)
		}
		require.Equal(t, websocket.StatusInvalidFramePayloadData, websocket.CloseStatus(err), "%q: %v", message, err)
	}
}

func FuzzMessages(f *testing.F) {
	for _, seed := range []string{`{"type":"subscribe","id":1,"board":"b","top":3,"me":"m","around":2,"resume":{"life":"e","seq":1}}`,
		`{"type":"unsubscribe","board":"b"}`, `{"type":"ping","id":"x"}`, "{\"id\":1e999"} {
		f.Add(seed)
	}
	n := servertest.Start(f, redistest.Embedded(f), servertest.Config{}, definition.Board{Name: "b"})
	s := servertest.Dial(f, n.Addr)
	f.Fuzz(func(t *testing.T, message string) {
		if len(message) > 32<<10 || !utf8.ValidString(message) { // the node closes the socket
			return
		}
		require.NoError(t, s.WS.Write(t.Context(), websocket.MessageText, []byte(message)))
		require.NoError(t, s.WS.Write(t.Context(), websocket.MessageText, []byte(`{"type":"ping","id":"still there"}`)))
		for {
			_, b, err := s.WS.Read(t.Context())
			require.NoError(t, err)
			var m hubtest.Message
			require.NoError(t, json.Unmarshal(b, &m), "%s", b)
			if m.Type == "pong" && string(m.ID) == `"still there"` {
				return
			}
		}
	})
}

// Pings and pongs count as messages: a client that sends them without end is closed with 1008.
func TestControlFramesCountAsMessages(t *testing.T) {
	t.Parallel()
	for name, opcode := range map[string]byte{"ping": 0x89, "pong": 0x8a} {
		t.Run(name, func(t *testing.T) {
			n := servertest.Start(t, redistest.Embedded(t), servertest.Config{Server: server.Config{Limits: access.Config{Messages: 2}}},
				definition.Board{Name: "b"})
			s, err := servertest.DialRaw(0, n.Addr)
			require.NoError(t, err)
			defer s.Close()
			require.NoError(t, s.Handshake())
			require.NoError(t, s.SetDeadline(time.Now().Add(servertest.Patience)))
			frames := make([]byte, 0, 600)
			for range 100 { // 20 are answered, and 20 more are refused
				frames = append(frames, opcode, 0x80, 0, 0, 0, 0)
			}
			_, err = s.Write(frames)
			require.NoError(t, err)
			require.EqualValues(t, 1008, closeCodeOf(t, s.Conn))
		})
	}
}

// closeCodeOf reads small frames up to a close frame.
func closeCodeOf(t *testing.T, conn net.Conn) uint16 {
	var head [2]byte
	for {
		_, err := io.ReadFull(conn, head[:])
		require.NoError(t, err)
		body := make([]byte, head[1])
		_, err = io.ReadFull(conn, body)
		require.NoError(t, err)
		if head[0] == 0x88 {
			return binary.BigEndian.Uint16(body)
		}
	}
}

// The node answers all sockets of an address together no faster than the rate of the address, refusals included,
// and each of them goes on. The test compares the answers with the time that it has really waited.
func TestSocketsOfAnAddressAreReadAtItsRate(t *testing.T) {
	t.Parallel()
	const perSecond, saved, sockets, messages = 40, 800, 10, 400
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{Server: server.Config{
		Limits: access.Config{AddressRequests: perSecond}, TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
	}})
	began := time.Now()
	var answers atomic.Int64
	enough := make(chan struct{})
	var all []*servertest.Socket
	for range sockets {
		all = append(all, servertest.DialFrom(t, n.Addr, "203.0.113.9"))
	}
	for _, s := range all {
		go func() {
			for range messages {
				if s.WS.Write(context.Background(), websocket.MessageText, []byte(`{"type":"ping","id":1}`)) != nil {
					return
				}
			}
		}()
		go func() {
			for {
				m, err := s.Raw()
				if err != nil {
					return
				}
				if bytes.HasPrefix(m, []byte(`{"type":"status"`)) {
					continue
				}
				if answers.Add(1) == saved+sockets+perSecond {
					close(enough)
				}
			}
		}()
	}
	select {
	case <-enough:
	case <-time.After(servertest.Patience):
		require.Fail(t, "the node reads nothing", "%d answers", answers.Load())
	}
	got := answers.Load()
	require.LessOrEqual(t, float64(got), perSecond*time.Since(began).Seconds()+saved+sockets)
}
