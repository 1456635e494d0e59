package live_test

import (
	"encoding/binary"
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server"
	"rankcast/server/access"
	"rankcast/server/servertest"
)

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
