//go:build !linux

package live

import "syscall"

// setNotSentLowat exists on Linux only; elsewhere a slow client sees older frames.
func setNotSentLowat(syscall.RawConn, int) {}
