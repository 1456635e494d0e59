//go:build !unix

package live

import "syscall"

// writeNow writes nothing: this system has no call that writes what it accepts at once. So each frame
// takes the way of a socket whose buffer is full.
func writeNow(uintptr, []byte) (int, error) { return 0, syscall.EAGAIN }

// canSeeBytes says that hasBytes does not work on this system.
const canSeeBytes = false

func hasBytes(uintptr) bool { return true }
