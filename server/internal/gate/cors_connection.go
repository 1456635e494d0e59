package gate

import (
	"bytes"
	"io"
	"net"
	"syscall"
)

// corsListener lets pages of all sites read the few answers that net/http gives by itself, before it has a request: 400
// for one that it cannot parse, 431 for a header that is too large, 501 and 505. No handler sees such a request, and its
// Origin is not known. The answers are the same for everybody and tell nothing.
//
// It knows them by their text, so it works below HTTP/1.1 without TLS alone.
type corsListener struct{ net.Listener }

func (l corsListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if tcp, ok := conn.(tcpConn); ok && err == nil {
		return &corsConn{tcp}, nil
	}
	return conn, err
}

// tcpConn is what net/http and the package live use of a TCP connection.
type tcpConn interface {
	net.Conn
	syscall.Conn
	io.ReaderFrom
	CloseWrite() error
}

type corsConn struct{ tcpConn }

var (
	// ownAnswer begins an answer that net/http gives by itself, after the status line: the answers of handlers have a
	// date before these fields.
	ownAnswer = []byte("\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n")
	// ownFields are the fields for such an answer.
	ownFields = []byte("\r\nAccess-Control-Allow-Origin: *\r\nAccess-Control-Expose-Headers: " + exposedHeaders + "\r\nVary: Origin")
)

// Write adds the CORS headers to an answer that net/http gives by itself, which comes in one piece.
func (c *corsConn) Write(b []byte) (int, error) {
	if bytes.HasPrefix(b, []byte("HTTP/1.1 ")) {
		if end := bytes.Index(b, []byte("\r\n")); end > 0 && bytes.HasPrefix(b[end:], ownAnswer) {
			n, err := c.tcpConn.Write(bytes.Join([][]byte{b[:end], ownFields, b[end:]}, nil))
			return min(n, len(b)), err
		}
	}
	return c.tcpConn.Write(b)
}
