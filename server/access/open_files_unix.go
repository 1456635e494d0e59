//go:build unix

package access

import (
	"math"

	"golang.org/x/sys/unix"
)

// openFiles is how many files the process may open, or Unlimited.
func openFiles() int {
	var files unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &files); err != nil || files.Cur > math.MaxInt32 {
		return Unlimited
	}
	return int(files.Cur)
}
