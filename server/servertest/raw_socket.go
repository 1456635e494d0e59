package servertest

import (
	"bufio"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strings"
)

// RawSocket is a WebSocket by hand, for a process of thousands of clients. It costs that process
// little, and it may behave badly: read slowly, or send without pause. One goroutine may send while
// another one reads.
type RawSocket struct {
	net.Conn
	reader *bufio.Reader
}

// DialRaw opens the connection of that number to an address, from one of eight loopback addresses: each
// address has ports of its own.
func DialRaw(number int, addr string) (*RawSocket, error) {
	from := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(2+number%8))}}
	conn, err := from.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	return &RawSocket{conn, bufio.NewReaderSize(conn, 1024)}, nil
}

// StartTLS makes a TLS connection of the one that there is.
func (s *RawSocket) StartTLS(trust *tls.Config) error {
	trust = trust.Clone()
	trust.ServerName, _, _ = net.SplitHostPort(s.RemoteAddr().String())
	conn := tls.Client(s.Conn, trust)
	s.Conn = conn
	s.reader.Reset(conn)
	return conn.Handshake()
}

// Handshake opens the WebSocket on the connection, with further header lines such as
// "X-Forwarded-For: 198.51.100.7". It returns an error when the server refuses.
func (s *RawSocket) Handshake(header ...string) error {
	lines := append([]string{"GET /v1/live HTTP/1.1", "Host: " + s.RemoteAddr().String(), "Connection: Upgrade", "Upgrade: websocket",
		"Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="}, header...)
	if _, err := fmt.Fprintf(s, "%s\r\n\r\n", strings.Join(lines, "\r\n")); err != nil {
		return err
	}
	status, err := s.reader.ReadString('\n')
	if err == nil && !strings.HasPrefix(status, "HTTP/1.1 101 ") {
		err = fmt.Errorf("the server answers %q", status)
	}
	for line := status; err == nil && line != "\r\n"; {
		line, err = s.reader.ReadString('\n')
	}
	return err
}

// CloseWrite says that no more bytes come.
func (s *RawSocket) CloseWrite() error { return s.Conn.(interface{ CloseWrite() error }).CloseWrite() }

// SendText sends a text message of up to 125 bytes, masked with zeros (RFC 6455, section 5.2).
func (s *RawSocket) SendText(message string) error {
	_, err := s.Write(append([]byte{0x81, 0x80 | byte(len(message)), 0, 0, 0, 0}, message...))
	return err
}

// ReadFrame reads one frame. It returns the start of the frame: as much as fits the buffer.
func (s *RawSocket) ReadFrame() (start []byte, err error) {
	var head [10]byte
	if _, err := io.ReadFull(s.reader, head[:2]); err != nil {
		return nil, err
	}
	n := int(head[1])
	if long := map[int]int{126: 4, 127: 10}[n]; long > 0 {
		if _, err := io.ReadFull(s.reader, head[2:long]); err != nil {
			return nil, err
		}
		if n = int(binary.BigEndian.Uint16(head[2:])); long == 10 {
			n = int(binary.BigEndian.Uint64(head[2:]))
		}
	}
	start, err = s.reader.Peek(min(n, s.reader.Size()))
	if err == nil {
		_, err = s.reader.Discard(n)
	}
	return start, err
}

// EachFrame calls do for the start of each frame, until the connection ends.
func (s *RawSocket) EachFrame(do func(start []byte)) {
	for {
		frame, err := s.ReadFrame()
		if err != nil {
			return
		}
		do(frame)
	}
}

// DiscardSome reads and drops up to a kilobyte.
func (s *RawSocket) DiscardSome() error {
	_, err := s.reader.Discard(s.reader.Size())
	return err
}
