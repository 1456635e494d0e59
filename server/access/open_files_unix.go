//go:build unix

package access

import (
	"math"

	"golang.org/x/sys/unix"
)

// defaultSockets leaves a tenth of the files that the process may open to requests, Redis and logs.
func defaultSockets() int {
	var files unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &files); err != nil || files.Cur > math.MaxInt32 {
		return Unlimited
	}
	return max(1, int(files.Cur/10*9))
}
