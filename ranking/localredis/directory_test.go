//go:build unix

package localredis

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A directory that another user could change, or that has lost the manifest of its data, is refused, and no link is followed.
func TestUnsafeDirectories(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		prepare func(t *testing.T, dir string)
		want    string
	}{
		"every user may write": {func(t *testing.T, dir string) { require.NoError(t, os.Chmod(dir, 0o777)) }, "every user may write to the directory"},
		"without a manifest": {func(t *testing.T, dir string) {
			require.NoError(t, os.Mkdir(filepath.Join(dir, appendDirName), 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(dir, appendDirName, "appendonly.aof.1.incr.aof"), []byte("x"), 0o600))
		}, "has data and no manifest"},
		"with a link": {func(t *testing.T, dir string) {
			target := filepath.Join(t.TempDir(), "target")
			require.NoError(t, os.WriteFile(target, []byte("precious"), 0o600))
			require.NoError(t, os.Symlink(target, filepath.Join(dir, ownerLockName)))
			t.Cleanup(func() {
				b, err := os.ReadFile(target)
				require.NoError(t, err)
				require.Equal(t, "precious", string(b))
			})
		}, "symbolic links"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.Chmod(dir, 0o700))
			c.prepare(t, dir)
			d, err := openDirectory(dir)
			if err == nil {
				d.lock.Close()
			}
			require.ErrorContains(t, err, c.want)
		})
	}
	if dir := t.TempDir(); os.Geteuid() == 0 { // only root can give a directory away
		require.NoError(t, os.Chown(dir, 12345, -1))
		_, err := openDirectory(dir)
		require.ErrorContains(t, err, "belongs to the user 12345")
	}
}
