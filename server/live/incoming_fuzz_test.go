package live

import (
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/server/access"
)

// Whatever a client sends, a message stays within its limit, and reading ends.
func FuzzIncoming(f *testing.F) {
	for _, sent := range []string{
		"\x81\x82\x01\x02\x03\x04zz", "\x01\x80abcd\x89\x81abcdx\x80\x81abcdy", "\x88\x82abcd\x62\x8a", "\x82\xfe\x80\x01abcd", "\x81\xff\x00",
	} {
		f.Add([]byte(sent))
	}
	f.Fuzz(func(t *testing.T, sent []byte) {
		var running sync.WaitGroup
		slot := slotOf(t, access.New(access.Config{}))
		so := newSocket(endedConn{}, sent, time.Minute, &running, slot, noMetrics())
		in := newIncoming(&session{socket: so, slot: slot})
		defer in.release()
		for frames := 0; ; frames++ {
			require.LessOrEqual(t, frames, len(sent))
			opcode, err := in.next()
			if err == nil && opcode < opClose {
				var message []byte
				message, err = io.ReadAll(in)
				require.LessOrEqual(t, len(message), maxMessage)
			}
			if err != nil {
				return
			}
		}
	})
}

// endedConn is a connection whose client has sent all, and reads nothing.
type endedConn struct{ net.Conn }

func (endedConn) Read([]byte) (int, error)         { return 0, io.EOF }
func (endedConn) Write([]byte) (int, error)        { return 0, errors.New("broken") }
func (endedConn) Close() error                     { return nil }
func (endedConn) SetWriteDeadline(time.Time) error { return nil }
