package live

import (
	"context"
	"crypto/tls"
	"net"
	"syscall"
)

type connKey struct{}

// ConnContext prepares a connection, and makes it known to Stream; http.Server.ConnContext is for it. Without
// it, the system finds a client that has vanished late, a slow client sees older frames, and the kernel holds
// answers that a client does not read, which no limit counts.
func ConnContext(ctx context.Context, conn net.Conn) context.Context {
	conn = below(conn)
	if raw := rawOf(conn); raw != nil {
		setNotSentLowat(raw, notSentLowat)
	}
	return context.WithValue(ctx, connKey{}, conn)
}

// rawConn is the connection of a request as the system knows it; nil if the system does not.
func rawConn(ctx context.Context) syscall.RawConn {
	conn, ok := ctx.Value(connKey{}).(net.Conn)
	if !ok {
		return nil
	}
	return rawOf(conn)
}

// HangUp closes the connection of a request, with all other requests on it: HTTP/2 cannot even end a request of a
// client that reads nothing. It does not block, and may be called concurrently with all else, also after the
// request.
func HangUp(ctx context.Context) {
	if conn, ok := ctx.Value(connKey{}).(net.Conn); ok {
		conn.Close()
	}
}

// below is the connection that carries a TLS connection, or else conn itself. Its bytes are not those of conn.
func below(conn net.Conn) net.Conn {
	if over, ok := conn.(*tls.Conn); ok {
		return over.NetConn()
	}
	return conn
}

// rawOf is the connection as the system knows it; nil if the system does not. It is nil for TLS: what is
// written to the connection below would not be encrypted.
func rawOf(conn net.Conn) syscall.RawConn {
	c, ok := conn.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return nil
	}
	return raw
}
