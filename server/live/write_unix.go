//go:build unix

package live

import (
	"errors"
	"syscall"
)

// writeNow writes what the kernel accepts at once, and returns EAGAIN if that is nothing.
func writeNow(fd uintptr, b []byte) (int, error) { return syscall.Write(int(fd), b) }

// canSeeBytes says that hasBytes works on this system.
const canSeeBytes = true

// hasBytes reports whether a read of a connection would not wait.
func hasBytes(fd uintptr) bool {
	var b [1]byte
	_, _, err := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK)
	return !errors.Is(err, syscall.EAGAIN)
}
