//go:build unix

package live

import "syscall"

// writeNow writes what the kernel accepts at once, and returns EAGAIN if that is nothing.
func writeNow(fd uintptr, b []byte) (int, error) { return syscall.Write(int(fd), b) }
