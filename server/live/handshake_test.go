package live_test

import (
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

// A client may send before it has read the answer to its handshake. What it
// sent must not be lost with the buffers that the handshake was read through.
func TestMessageSentWithHandshake(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{}, definition.Board{Name: "b"})
	for range 50 {
		conn, err := net.Dial("tcp", n.Addr)
		require.NoError(t, err)
		// Masked text frames (RFC 6455, section 5.2) with a mask of zeros, more than a
		// small buffer holds.
		var frame []byte
		for i := range 12 {
			ping := fmt.Sprintf(`{"type":"ping","id":"%d %s"}`, i, strings.Repeat("x", 60))
			frame = append(append(frame, 0x81, 0x80|byte(len(ping)), 0, 0, 0, 0), ping...)
		}
		_, err = conn.Write(append([]byte("GET /v1/live HTTP/1.1\r\nHost: "+n.Addr+"\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
			"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"), frame...))
		require.NoError(t, err)
		conn.SetReadDeadline(time.Now().Add(patience))
		var got []byte
		buf := make([]byte, 4096)
		for strings.Count(string(got), `"pong"`) < 12 {
			k, err := conn.Read(buf)
			require.NoError(t, err, "%q", got)
			got = append(got, buf[:k]...)
		}
		conn.Close()
	}
}

func TestCrossOriginHandshakeIsRefused(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{}, definition.Board{Name: "b"})
	a := n.Do("GET", "/v1/live", "", "Connection", "Upgrade", "Upgrade", "websocket", "Sec-WebSocket-Version", "13",
		"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==", "Origin", "https://elsewhere.example")
	servertest.RequireProblem(t, a, 403, "forbidden", "Origin")
}
