package live

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/server/access"
)

// messagesIn decodes what a client has sent, up to the first fault or the end, in a plain way.
func messagesIn(b []byte) (messages []string) {
	var message []byte
	for begun := false; len(b) >= 6; {
		final, opcode, length, at := b[0]&0x80 != 0, b[0]&0x0f, uint64(b[1]&0x7f), 2
		if b[0]&0x70 != 0 || b[1]&0x80 == 0 {
			return messages
		}
		if opcode >= 8 && (!final || length > 125) || opcode > 10 || opcode > 2 && opcode < 8 || opcode == 8 {
			return messages
		}
		if opcode < 8 && begun != (opcode == 0) {
			return messages
		}
		if length == 126 && len(b) >= 8 {
			length, at = uint64(binary.BigEndian.Uint16(b[2:])), 4
		} else if length == 127 && len(b) >= 14 {
			length, at = binary.BigEndian.Uint64(b[2:]), 10
		} else if length > 125 {
			return messages
		}
		b = b[at:]
		if uint64(len(b)) < 4+length || opcode < 8 && length > uint64(maxMessage-len(message)) {
			return messages
		}
		for i, c := range b[4 : 4+length] {
			if opcode < 8 {
				message = append(message, c^b[i%4])
			}
		}
		b = b[4+length:]
		if opcode < 8 {
			if begun = !final; final {
				messages, message = append(messages, string(message)), nil
			}
		}
	}
	return messages
}

// Whatever a client sends, the node reads the whole messages in it, and reading ends.
func FuzzIncoming(f *testing.F) {
	for _, sent := range []string{
		"\x81\x82\x01\x02\x03\x04zz", "\x01\x80abcd\x89\x81abcdx\x80\x81abcdy", "\x88\x82abcd\x62\x8a", "\x82\xfe\x80\x01abcd", "\x81\xff\x00",
		"\x81\xff\x00\x00\x00\x00\x00\x00\x00\x02abcdxy\x81\xfe\x00\x01abcdz",
		"\x01\x82abcdxy", "\x01\x87abcdxyzxyzx\x80\x85abcdxyzxy\x8a\x80abcd\x82\x81abcdz",
	} {
		f.Add([]byte(sent))
	}
	f.Fuzz(func(t *testing.T, sent []byte) {
		var running sync.WaitGroup
		slot := slotOf(t, access.New(access.Config{Messages: access.Unlimited, AddressRequests: access.Unlimited}))
		so := newSocket(endedConn{}, sent, time.Minute, &running, slot, noMetrics())
		in := newIncoming(&session{socket: so, slot: slot})
		defer in.release()
		var messages []string
		for frames := 0; ; frames++ {
			require.LessOrEqual(t, frames, len(sent))
			opcode, err := in.next()
			if err == nil && opcode < opClose {
				var message []byte
				if message, err = io.ReadAll(in); err == nil {
					messages = append(messages, string(message))
				}
			}
			if err != nil {
				require.Equal(t, messagesIn(sent), messages)
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
