package live

import (
	"context"
	"net"
	"syscall"
)

type connKey struct{}

// ConnContext prepares a connection, and makes it known to Stream; http.Server.ConnContext is for it. Without
// it, the system finds a client that has vanished late, a slow client sees older frames, and the kernel holds
// answers that a client does not read, which no limit counts.
func ConnContext(ctx context.Context, conn net.Conn) context.Context {
	raw := rawOf(conn)
	if raw == nil {
		return ctx
	}
	setNotSentLowat(raw, notSentLowat)
	return context.WithValue(ctx, connKey{}, raw)
}

// rawConn is the connection of a request; nil if it is not known.
func rawConn(ctx context.Context) syscall.RawConn {
	raw, _ := ctx.Value(connKey{}).(syscall.RawConn)
	return raw
}

// rawOf is the connection as the system knows it; nil if the system does not.
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
