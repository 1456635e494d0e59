package bench

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
)

// The opcodes of RFC 6455, section 5.2, that a server uses.
const (
	opText  = 1
	opClose = 8
	opPing  = 9
	opPong  = 10
)

const (
	// socketBuffer is the first size in bytes of the buffer of a socket: a frame of ten entries fits it.
	socketBuffer = 1 << 10
	// maxFrame bounds a frame, in bytes.
	maxFrame = 1 << 20
)

// errFrame means that the bytes of a server are no frames of a WebSocket that this package reads.
var errFrame = errors.New("the server's frame is not one of its live protocol")

// frameReader reads frames of a server, which are not masked. It allocates only where a frame is larger than all before
// it. One goroutine may use it at a time.
type frameReader struct {
	from       io.Reader
	buf        []byte
	begin, end int // of the unread bytes
}

// next reads one frame. Its payload is valid until the next call.
func (r *frameReader) next() (opcode byte, payload []byte, err error) {
	head, err := r.peek(2)
	if err != nil {
		return 0, nil, err
	}
	if head[0]&0xf0 != 0x80 || head[1]&0x80 != 0 { // not final, extended, or masked
		return 0, nil, fmt.Errorf("%w: % x", errFrame, head)
	}
	opcode = head[0] & 0x0f
	size, n := 2, uint64(head[1])
	switch n {
	case 126:
		size = 4
		if head, err = r.peek(size); err == nil {
			n = uint64(binary.BigEndian.Uint16(head[2:]))
		}
	case 127:
		size = 10
		if head, err = r.peek(size); err == nil {
			n = binary.BigEndian.Uint64(head[2:])
		}
	}
	if err == nil && n > maxFrame {
		err = fmt.Errorf("%w: it has %d bytes", errFrame, n)
	}
	if err != nil {
		return 0, nil, err
	}
	frame, err := r.peek(size + int(n))
	if err != nil {
		return 0, nil, err
	}
	r.begin += len(frame)
	return opcode, frame[size:], nil
}

// peek returns the next n bytes and leaves them unread.
func (r *frameReader) peek(n int) ([]byte, error) {
	for r.end-r.begin < n {
		if err := r.more(n); err != nil {
			return nil, err
		}
	}
	return r.buf[r.begin : r.begin+n], nil
}

// more reads some bytes into a buffer that has room for n.
func (r *frameReader) more(n int) error {
	switch {
	case n > len(r.buf):
		larger := make([]byte, max(n, 2*len(r.buf), socketBuffer))
		r.end = copy(larger, r.buf[r.begin:r.end])
		r.begin, r.buf = 0, larger
	case r.begin == r.end:
		r.begin, r.end = 0, 0
	case r.begin+n > len(r.buf):
		r.end = copy(r.buf, r.buf[r.begin:r.end])
		r.begin = 0
	}
	got, err := r.from.Read(r.buf[r.end:])
	r.end += got
	if got > 0 {
		return nil
	}
	return cutShort(err)
}

// handshake reads the answer to the request that opens a socket.
func (r *frameReader) handshake() error {
	for {
		have := r.buf[r.begin:r.end]
		if head, _, whole := bytes.Cut(have, []byte("\r\n\r\n")); whole {
			if !bytes.HasPrefix(head, []byte("HTTP/1.1 101 ")) {
				status, _, _ := bytes.Cut(head, []byte("\r\n"))
				return fmt.Errorf("the server answers %q to the handshake", status)
			}
			r.begin += len(head) + len("\r\n\r\n")
			return nil
		}
		if len(have) > readBuffer {
			return fmt.Errorf("%w: the header of the handshake is too long", errFrame)
		}
		if err := r.more(len(have) + 1); err != nil {
			return err
		}
	}
}

// socket is one WebSocket to a server. One goroutine may use it at a time; close may be called concurrently.
type socket struct {
	conn   net.Conn
	reader frameReader
}

// openSocket opens the socket of that number. The end of ctx closes the socket.
func (t *target) openSocket(ctx context.Context, number int) (*socket, error) {
	conn, err := t.dialFrom(ctx, number)
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, func() { conn.Close() })
	s := &socket{conn: conn, reader: frameReader{from: conn}}
	_, err = fmt.Fprintf(conn, "GET %s/v1/live HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: rankcast.v1\r\n%s\r\n",
		t.path, t.host, t.authorization)
	if err == nil {
		err = s.reader.handshake()
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return s, nil
}

// sendText sends a message of up to 125 bytes.
func (s *socket) sendText(message string) error { return s.send(opText, []byte(message)) }

// send sends a frame of up to 125 bytes. A client masks what it sends, here with zeros (RFC 6455, section 5.3): a mask
// keeps pages from attacking proxies, and this program is no page.
func (s *socket) send(opcode byte, payload []byte) error {
	_, err := s.conn.Write(append([]byte{0x80 | opcode, 0x80 | byte(len(payload)), 0, 0, 0, 0}, payload...))
	return err
}

// next returns the next text message, and answers pings meanwhile. The message is valid until the next call.
func (s *socket) next() ([]byte, error) {
	for {
		opcode, payload, err := s.reader.next()
		switch {
		case err != nil:
			return nil, err
		case opcode == opText:
			return payload, nil
		case opcode == opPing:
			if err := s.send(opPong, payload); err != nil {
				return nil, err
			}
		case opcode == opClose:
			code, reason := 0, ""
			if len(payload) >= 2 {
				code, reason = int(binary.BigEndian.Uint16(payload)), string(payload[2:])
			}
			return nil, fmt.Errorf("the server has closed the socket: %d %s", code, reason)
		}
	}
}

func (s *socket) close() { s.conn.Close() }
