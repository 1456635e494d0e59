package live

import "syscall"

// tcpNotSentLowat is TCP_NOTSENT_LOWAT of tcp(7). Package syscall has no constant for it.
const tcpNotSentLowat = 25

// setNotSentLowat bounds the bytes that the kernel accepts ahead of what it has sent. If that
// fails, a slow client sees older frames, nothing worse.
func setNotSentLowat(raw syscall.RawConn, bytes int) {
	raw.Control(func(fd uintptr) { syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpNotSentLowat, bytes) })
}
