//go:build !linux

package live

import (
	"syscall"
	"time"
)

// setNotSentLowat exists on Linux only; elsewhere a slow client sees older frames.
func setNotSentLowat(syscall.RawConn, int) {}

// setUserTimeout exists on Linux only; elsewhere the system finds a client that has vanished late.
func setUserTimeout(syscall.RawConn, time.Duration) {}
