//go:build !unix

package watch

import (
	"context"
	"os"
)

// awaitReaderGone is Unix's; elsewhere the next write tells.
func awaitReaderGone(ctx context.Context, _ *os.File) bool {
	<-ctx.Done()
	return false
}
