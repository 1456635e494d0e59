//go:build linux

package localredis

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"rankcast/ranking/redistest"

	"github.com/stretchr/testify/require"
)

// The end of a redis-server that another process has started is the end of its lock, and nothing else: not a file that
// the node cannot open, as without free file descriptors. The test is not parallel: a process that another test starts
// holds the lock too, until it runs its program.
func TestWatchLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), redisLockName)
	held := redistest.Must(lock(path))(t)
	file := redistest.Must(os.OpenFile(path, os.O_RDWR, 0))(t)
	require.NoError(t, os.Remove(path))
	synctest.Test(t, func(t *testing.T) {
		p := &process{ended: make(chan struct{})}
		go p.watchLock(t.Context(), file)
		time.Sleep(time.Minute)
		require.False(t, p.hasEnded())
		require.NoError(t, held.Close())
		time.Sleep(2 * lockStep)
		require.True(t, p.hasEnded())
	})
}
