package live_test

import (
	"encoding/binary"
	"fmt"
	"runtime/pprof"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rankcast/ranking/definition"
	"rankcast/ranking/proptest"
	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

// clientFrame is a frame of a client (RFC 6455, section 5.2): its first byte, and its masked data.
func clientFrame(first byte, mask uint32, data string) []byte {
	key := binary.BigEndian.AppendUint32(nil, mask)
	b := append([]byte{first, 0x80 | byte(len(data))}, key...)
	for i := range len(data) {
		b = append(b, data[i]^key[i%4])
	}
	return b
}

// Pings, pongs and messages of a client arrive in pieces of any size, also a ping within a message. The node answers each ping with its
// data and each message, in their order.
func TestControlFramesBetweenMessages(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{}, definition.Board{Name: "b"})
	proptest.Check(t, 60, func(t *rapid.T) {
		const ping, pong, text, begin, end = 0x89, 0x8a, 0x81, 0x01, 0x80
		s, err := servertest.DialRaw(0, n.Addr)
		require.NoError(t, err)
		defer s.Close()
		require.NoError(t, s.Handshake())
		var sent []byte
		var want []string
		frame := func(first byte, data string) {
			sent = append(sent, clientFrame(first, rapid.Uint32().Draw(t, "mask"), data)...)
		}
		data := rapid.StringMatching(`[a-z]{0,125}`)
		for i := range rapid.IntRange(1, 12).Draw(t, "frames") {
			message, answer := fmt.Sprintf(`{"type":"ping","id":%d}`, i), fmt.Sprintf(`{"type":"pong","id":%d,`, i)
			switch rapid.SampledFrom([]string{"ping", "pong", "message", "parts"}).Draw(t, "kind") {
			case "ping":
				d := data.Draw(t, "data")
				frame(ping, d)
				want = append(want, d)
			case "pong":
				frame(pong, data.Draw(t, "data"))
			case "message":
				frame(text, message)
				want = append(want, answer)
			case "parts":
				d := data.Draw(t, "data")
				frame(begin, message[:9])
				frame(ping, d)
				frame(end, message[9:])
				want = append(want, d, answer)
			}
		}
		for len(sent) > 0 {
			size := rapid.IntRange(1, len(sent)).Draw(t, "piece")
			_, err := s.Write(sent[:size])
			require.NoError(t, err)
			sent = sent[size:]
		}
		for _, w := range want {
			got, err := s.ReadFrame()
			for err == nil && strings.Contains(string(got), `"status"`) { // the node has just started
				got, err = s.ReadFrame()
			}
			require.NoError(t, err)
			if strings.HasPrefix(w, "{") {
				require.True(t, strings.HasPrefix(string(got), w), "%q is not the answer %q", got, w)
			} else {
				require.Equal(t, w, string(got))
			}
		}
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
		got, err := s.ReadFrame()
		for err == nil && strings.Contains(string(got), `"status"`) { // the node has just started
			got, err = s.ReadFrame()
		}
		require.NoError(t, err)
		require.Contains(t, string(got), sent.answer)
		redistest.Until(t, "the session to wait for the client", func() bool {
			var all strings.Builder
			pprof.Lookup("goroutine").WriteTo(&all, 1)
			return strings.Contains(all.String(), "(*socket).await") && !strings.Contains(all.String(), "(*session).serve")
		})
	}
}
