//go:build !linux

package server

import "syscall"

// limitUnsent is Linux's; elsewhere a slow client merely sees older frames.
func limitUnsent(syscall.RawConn, int) {}
