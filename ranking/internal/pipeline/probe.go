//go:build linux || darwin || freebsd || netbsd || openbsd

package pipeline

import (
	"net"
	"syscall"
)

// probe looks at a socket on which no reply is due. The zero value takes each socket for open.
type probe struct {
	raw    syscall.RawConn // nil: the socket cannot be looked at
	look   func(fd uintptr)
	silent bool
}

// watch sets the socket, or the one below it: below TLS, and below wrappers.
func (p *probe) watch(socket net.Conn) {
	for over, ok := socket.(interface{ NetConn() net.Conn }); ok; over, ok = socket.(interface{ NetConn() net.Conn }) {
		socket = over.NetConn()
	}
	if conn, ok := socket.(syscall.Conn); ok {
		p.raw, _ = conn.SyscallConn()
	}
	var buf [1]byte
	p.look = func(fd uintptr) {
		_, _, err := syscall.Recvfrom(int(fd), buf[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		p.silent = err == syscall.EAGAIN || err == syscall.EWOULDBLOCK || err == syscall.EINTR
	}
}

// isSilent returns false when the server has closed the connection, or has sent data that answers
// no command, as a TLS server does when it closes. It does not block.
func (p *probe) isSilent() bool {
	if p.raw == nil {
		return true
	}
	p.silent = false
	return p.raw.Control(p.look) == nil && p.silent
}
