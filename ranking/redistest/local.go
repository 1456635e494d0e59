//go:build unix

package redistest

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// KillLocal kills the redis-server of a directory of package localredis. Such a server outlives a node that
// the test kills. KillLocal has no effect where none runs.
func KillLocal(t testing.TB, dir string) {
	path := filepath.Join(dir, "redis.lock")
	f, err := os.Open(path)
	if err != nil {
		return
	}
	defer f.Close()
	if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
		return // no redis-server holds the lock
	}
	Eventually(t, "redis-server to end", func() error {
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
		if err != nil {
			return err
		}
		syscall.Kill(pid, syscall.SIGKILL)
		return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	})
}
