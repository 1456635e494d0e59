package live_test

import (
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rankcast/ranking/definition"
	"rankcast/ranking/proptest"
	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

// clientFrame is a frame of a client (RFC 6455, section 5.2): its first byte, and its masked data.
func clientFrame(first byte, mask uint32, data string) []byte {
	b := []byte{first}
	switch n := len(data); {
	case n < 126:
		b = append(b, 0x80|byte(n))
	case n < 1<<16:
		b = binary.BigEndian.AppendUint16(append(b, 0x80|126), uint16(n))
	default:
		b = binary.BigEndian.AppendUint64(append(b, 0x80|127), uint64(n))
	}
	key := binary.BigEndian.AppendUint32(nil, mask)
	b = append(b, key...)
	for i := range len(data) {
		b = append(b, data[i]^key[i%4])
	}
	return b
}

// opener opens a WebSocket.
type opener func(t require.TestingT) *servertest.RawSocket

// overTCPAndTLS runs a test on a node with the board b, over TCP and over TLS.
func overTCPAndTLS(t *testing.T, run func(t *testing.T, open opener)) {
	opens := func(n *servertest.Node, trust *tls.Config) opener {
		return func(t require.TestingT) *servertest.RawSocket {
			s, err := servertest.DialRaw(0, n.Addr)
			require.NoError(t, err)
			if trust != nil {
				require.NoError(t, s.StartTLS(trust))
			}
			require.NoError(t, s.Handshake())
			require.NoError(t, s.SetDeadline(time.Now().Add(patience)))
			return s
		}
	}
	board := definition.Board{Name: "b"}
	t.Run("TCP", func(t *testing.T) {
		t.Parallel()
		run(t, opens(servertest.Start(t, redistest.Embedded(t), servertest.Config{}, board), nil))
	})
	t.Run("TLS", func(t *testing.T) {
		t.Parallel()
		run(t, opens(servertest.StartTLS(t, redistest.Embedded(t), servertest.Config{}, board)))
	})
}

// answerTo returns the next answer of the node. A status may come first: the node has just started.
func answerTo(s *servertest.RawSocket) ([]byte, error) {
	got, err := s.ReadFrame()
	for err == nil && strings.Contains(string(got), `"status"`) {
		got, err = s.ReadFrame()
	}
	return got, err
}

// Messages of any size in any number of frames, with pings and pongs between and within them, arrive in pieces of any size. The node
// answers each ping with its data and each message, in their order.
func TestMessagesInFramesOfAnySize(t *testing.T) {
	t.Parallel()
	overTCPAndTLS(t, messagesInFramesOfAnySize)
}

func messagesInFramesOfAnySize(t *testing.T, open opener) {
	proptest.Check(t, 40, func(t *rapid.T) {
		const ping, pong, text, begin, middle, end = 0x89, 0x8a, 0x81, 0x01, 0x00, 0x80
		s := open(t)
		defer s.Close()
		var sent []byte
		var want []string
		frame := func(first byte, data string) {
			sent = append(sent, clientFrame(first, rapid.Uint32().Draw(t, "mask"), data)...)
		}
		control := func() {
			data := rapid.StringMatching(`[a-z]{0,125}`).Draw(t, "data")
			if rapid.Bool().Draw(t, "ping") {
				frame(ping, data)
				want = append(want, data)
			} else {
				frame(pong, data)
			}
		}
		for i := range rapid.IntRange(1, 8).Draw(t, "messages") {
			for range rapid.IntRange(0, 2).Draw(t, "controls before") {
				control()
			}
			size := rapid.SampledFrom([]int{0, 100, 126, 4 << 10, 32 << 10}).Draw(t, "size")
			message := fmt.Sprintf(`{"type":"ping","id":%d`, i)
			message += strings.Repeat(" ", max(0, size-len(message)-1)) + "}"
			first := byte(begin)
			for range rapid.IntRange(0, 3).Draw(t, "frames before the last") {
				at := rapid.IntRange(0, len(message)).Draw(t, "cut")
				frame(first, message[:at])
				message, first = message[at:], middle
				if rapid.Bool().Draw(t, "control") {
					control()
				}
			}
			if first == middle {
				frame(end, message)
			} else {
				frame(text, message)
			}
			want = append(want, fmt.Sprintf(`{"type":"pong","id":%d,`, i))
		}
		for len(sent) > 0 {
			size := min(rapid.SampledFrom([]int{1, 2, 7, 100, 5000, 1 << 20}).Draw(t, "piece"), len(sent))
			_, err := s.Write(sent[:size])
			require.NoError(t, err)
			sent = sent[size:]
		}
		for _, w := range want {
			got, err := answerTo(s)
			require.NoError(t, err)
			if strings.HasPrefix(w, "{") {
				require.True(t, strings.HasPrefix(string(got), w), "%q is not the answer %q", got, w)
			} else {
				require.Equal(t, w, string(got))
			}
		}
	})
}

// A client that breaks the protocol gets a close frame that says how, and nothing after it. One that closes gets its own close frame.
func TestFramesThatEndASocket(t *testing.T) {
	t.Parallel()
	overTCPAndTLS(t, framesThatEndASocket)
}

func framesThatEndASocket(t *testing.T, open opener) {
	closing := func(data string) []byte { return clientFrame(0x88, 5, data) }
	says := func(code int, reason string) string {
		return string(binary.BigEndian.AppendUint16(nil, uint16(code))) + reason
	}
	begin := clientFrame(0x01, 5, `{"type"`)
	const badClose = "a close frame has no valid code, or a reason that is not UTF-8"
	badControl := says(1002, "a control frame is not final, or has more than 125 bytes")
	tooLarge := says(1009, "a message may have at most 32768 bytes")
	for name, c := range map[string]struct {
		sent []byte
		want string // data of the close frame
	}{
		"a reserved bit":             {clientFrame(0xc1, 5, "{}"), says(1002, "a frame has a reserved bit")},
		"no mask":                    {[]byte{0x81, 2, '{', '}'}, says(1002, "a frame is not masked")},
		"an unknown opcode":          {clientFrame(0x83, 5, ""), says(1002, "a frame has opcode 3")},
		"an unknown control frame":   {clientFrame(0x8b, 5, ""), says(1002, "a frame has opcode 11")},
		"a ping in parts":            {clientFrame(0x09, 5, ""), badControl},
		"a long ping":                {clientFrame(0x89, 5, strings.Repeat("x", 126)), badControl},
		"a continuation of nothing":  {clientFrame(0x80, 5, "{}"), says(1002, "no message has begun that could be continued")},
		"a message within a message": {slices.Concat(begin, clientFrame(0x81, 5, "{}")), says(1002, "a message has begun within a message")},
		"too large":                  {clientFrame(0x82, 5, strings.Repeat("x", 32<<10+1)), tooLarge},
		"too large in parts":         {slices.Concat(begin, clientFrame(0x80, 5, strings.Repeat("x", 32<<10))), tooLarge},
		"too large for an int":       {[]byte{0x81, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0}, tooLarge},
		"close without a code":       {closing(""), ""},
		"close":                      {closing(says(1000, "")), says(1000, "")},
		"close with a reason":        {closing(says(4321, "héllo")), says(4321, "héllo")},
		"close in a message":         {slices.Concat(begin, closing(says(1001, ""))), says(1001, "")},
		"close with half a code":     {closing("\x03"), says(1002, badClose)},
		"close with 1005":            {closing(says(1005, "")), says(1002, badClose)},
		"close with 2000":            {closing(says(2000, "")), says(1002, badClose)},
		"close with bytes":           {closing(says(1000, "\xff")), says(1002, badClose)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			defer s.Close()
			_, err := s.Write(slices.Concat(c.sent, clientFrame(0x81, 5, `{"type":"ping"}`)))
			require.NoError(t, err)
			got, err := answerTo(s)
			require.NoError(t, err)
			require.Equal(t, c.want, string(got))
			_, err = s.ReadFrame()
			require.Error(t, err)
		})
	}
}

// A message counts once its last frame has come as a whole: the node does nothing for one that is cut off, wherever that is.
func TestMessageThatIsCutOff(t *testing.T) {
	t.Parallel()
	overTCPAndTLS(t, func(t *testing.T, open opener) {
		const update = `{"type":"update","id":1,"board":"b","update":{"member":"m","score":5}}`
		begun, whole := clientFrame(0x01, 7, update), slices.Concat(clientFrame(0x01, 7, update), clientFrame(0x80, 7, ""))
		for size := range len(whole) {
			s := open(t)
			_, err := s.Write(whole[:size])
			require.NoError(t, err)
			require.NoError(t, s.CloseWrite())
			s.EachFrame(func(start []byte) { require.NotContains(t, string(start), `"score"`, "%d bytes", size) })
			s.Close()
		}
		s := open(t)
		defer s.Close()
		_, err := s.Write(begun)
		require.NoError(t, err)
		_, err = s.Write(whole[len(begun):])
		require.NoError(t, err)
		require.Contains(t, string(redistest.Must(answerTo(s))(t)), `"score":5`, "the sum of the updates that count")
	})
}

// Between messages, and after pings and pongs, a socket takes one goroutine, which waits in a shallow frame. It is not parallel: it looks
// at the goroutines of all sessions.
func TestIdleSocketWaitsInAShallowFrame(t *testing.T) {
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{}, definition.Board{Name: "b"})
	s, err := servertest.DialRaw(0, n.Addr)
	require.NoError(t, err)
	defer s.Close()
	require.NoError(t, s.Handshake())
	for _, sent := range []struct {
		frame  []byte
		answer string
	}{
		{clientFrame(0x81, 1, `{"type":"ping","id":1}`), `{"type":"pong"`},
		{append(clientFrame(0x8a, 2, ""), clientFrame(0x89, 3, "data")...), "data"},
	} {
		_, err := s.Write(sent.frame)
		require.NoError(t, err)
		got, err := answerTo(s)
		require.NoError(t, err)
		require.Contains(t, string(got), sent.answer)
		redistest.Until(t, "the session to wait for the client", func() bool {
			var all strings.Builder
			pprof.Lookup("goroutine").WriteTo(&all, 1)
			return strings.Contains(all.String(), "(*socket).await") && !strings.Contains(all.String(), "(*session).serve")
		})
	}
}
