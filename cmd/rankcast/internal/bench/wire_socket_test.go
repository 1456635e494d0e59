package bench

import (
	"encoding/binary"
	"io"
	"net"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
)

// serverFrame encodes a frame of a server.
func serverFrame(opcode byte, payload string) string {
	head := []byte{0x80 | opcode}
	switch n := len(payload); {
	case n < 126:
		head = append(head, byte(n))
	case n < 1<<16:
		head = binary.BigEndian.AppendUint16(append(head, 126), uint16(n))
	default:
		head = binary.BigEndian.AppendUint64(append(head, 127), uint64(n))
	}
	return string(head) + payload
}

// The answer to the handshake and frames of all lengths arrive in pieces of any size.
func TestFrames(t *testing.T) {
	t.Parallel()
	all := "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n"
	var payloads []string
	for _, n := range []int{0, 1, 125, 126, socketBuffer, 5000, 1<<16 - 1, 1 << 16, 3} {
		payloads = append(payloads, strings.Repeat("x", n))
		all += serverFrame(opText, payloads[len(payloads)-1])
	}
	for name, from := range map[string]io.Reader{
		"whole": strings.NewReader(all), "byte by byte": iotest.OneByteReader(strings.NewReader(all)), "halves": iotest.HalfReader(strings.NewReader(all)),
	} {
		r := &frameReader{from: from}
		require.NoError(t, r.handshake(), name)
		for _, want := range payloads {
			opcode, payload, err := r.next()
			require.NoError(t, err, "%s: %d bytes", name, len(want))
			require.EqualValues(t, opText, opcode)
			require.Equal(t, want, string(payload), "%s: %d bytes", name, len(want))
		}
		_, _, err := r.next()
		require.ErrorIs(t, err, io.ErrUnexpectedEOF, name)
	}
}

func TestFramesThatAreNone(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"a part of a message": "\x01\x00", "compressed": "\xc1\x00", "masked": "\x81\x80", "too large": "\x81\x7f\x00\x00\x00\x01\x00\x00\x00\x00",
	} {
		_, _, err := (&frameReader{from: strings.NewReader(text)}).next()
		require.ErrorIs(t, err, errFrame, name)
	}
	err := (&frameReader{from: strings.NewReader("HTTP/1.1 503 Service Unavailable\r\n\r\n")}).handshake()
	require.ErrorContains(t, err, `"HTTP/1.1 503 Service Unavailable"`)
	err = (&frameReader{from: strings.NewReader("HTTP/1.1 101 " + strings.Repeat("x", 2*readBuffer))}).handshake()
	require.ErrorIs(t, err, errFrame)
}

// A socket answers a ping while it waits for a message, and says why the server has closed it.
func TestSocketAnswersPings(t *testing.T) {
	t.Parallel()
	ours, theirs := net.Pipe()
	defer theirs.Close()
	s := &socket{conn: ours, reader: frameReader{from: ours}}
	defer s.close()
	answers := make(chan string, 2)
	go func() {
		io.WriteString(theirs, serverFrame(opPing, "still?"))
		pong := make([]byte, len("\x8a\x86\x00\x00\x00\x00still?"))
		io.ReadFull(theirs, pong)
		answers <- string(pong)
		io.WriteString(theirs, serverFrame(opText, "news")+serverFrame(opClose, "\x03\xe9bye"))
	}()
	message, err := s.next()
	require.NoError(t, err)
	require.Equal(t, "news", string(message))
	require.Equal(t, "\x8a\x86\x00\x00\x00\x00still?", redistest.Receive(t, "a value from answers", answers))
	_, err = s.next()
	require.ErrorContains(t, err, "1001 bye")
}
