//go:build !linux

package live

import "syscall"

// limitUnsent is Linux's; elsewhere a slow client merely sees older frames.
func limitUnsent(syscall.RawConn, int) {}
