//go:build unix

package watch

import (
	"context"
	"os"

	"golang.org/x/sys/unix"
)

// awaitReaderClosed waits until the reader of the pipe out is closed, and returns true, or
// until ctx ends. Without it `rankcast watch … | head -1` ends only with the board's next
// change.
func awaitReaderClosed(ctx context.Context, out *os.File) bool {
	poll := []unix.PollFd{{Fd: int32(out.Fd())}}
	for ctx.Err() == nil {
		if n, err := unix.Poll(poll, int(readerPoll.Milliseconds())); n > 0 && err == nil {
			return true
		}
	}
	return false
}
