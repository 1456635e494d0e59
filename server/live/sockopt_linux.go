package live

import "syscall"

// tcpNotSentLowat is TCP_NOTSENT_LOWAT of Linux's tcp(7), which package syscall
// does not name.
const tcpNotSentLowat = 25

// setNotSentLowat bounds what the kernel takes before it has sent the rest. Where it
// can't, a slow client merely sees older frames.
func setNotSentLowat(raw syscall.RawConn, bytes int) {
	raw.Control(func(fd uintptr) { syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpNotSentLowat, bytes) })
}
