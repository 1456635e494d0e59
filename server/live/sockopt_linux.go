package live

import (
	"syscall"
	"time"
)

// Options of tcp(7) for which package syscall has no constant.
const (
	tcpUserTimeout  = 18 // TCP_USER_TIMEOUT
	tcpNotSentLowat = 25 // TCP_NOTSENT_LOWAT
)

// setNotSentLowat bounds the bytes that the kernel accepts ahead of what it has sent. If that
// fails, a slow client sees older frames, nothing worse.
func setNotSentLowat(raw syscall.RawConn, bytes int) {
	raw.Control(func(fd uintptr) { syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpNotSentLowat, bytes) })
}

// setUserTimeout bounds the time in which the other end must acknowledge what was sent. If that fails, the
// system gives a connection up after a quarter of an hour.
func setUserTimeout(raw syscall.RawConn, timeout time.Duration) {
	raw.Control(func(fd uintptr) {
		syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout, int(timeout.Milliseconds()))
	})
}
