package live

import (
	"context"
	"net"
	"syscall"
)

type connKey struct{}

// ConnContext makes the connection of a request known to Stream; http.Server.ConnContext is for it. Without
// it, the system finds a client that has vanished late, and a slow client sees older events.
func ConnContext(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, conn)
}

// rawConn is the connection of a request; nil if it is not known.
func rawConn(ctx context.Context) syscall.RawConn {
	conn, ok := ctx.Value(connKey{}).(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil
	}
	return raw
}
