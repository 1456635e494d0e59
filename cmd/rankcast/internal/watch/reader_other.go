//go:build !unix

package watch

import (
	"context"
	"os"
)

// awaitReaderClosed waits until ctx ends: only Unix reports a closed reader before the next
// write.
func awaitReaderClosed(ctx context.Context, _ *os.File) bool {
	<-ctx.Done()
	return false
}
