//go:build unix

package localredis

import (
	"os"
	"path/filepath"
	"testing"

	"rankcast/ranking/redistest"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// A directory that another user could change, or that has lost the manifest of its data, is refused.
func TestUnsafeDirectories(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		prepare func(t *testing.T, dir string)
		want    string
	}{
		"every user may write": {func(t *testing.T, dir string) { require.NoError(t, os.Chmod(dir, 0o777)) },
			"other users may write to the directory"},
		"a group may write": {func(t *testing.T, dir string) { require.NoError(t, os.Chmod(dir, 0o770)) }, "chmod go-w "},
		"every user may write to the data": {func(t *testing.T, dir string) {
			require.NoError(t, os.Mkdir(filepath.Join(dir, appendDirName), 0o700))
			require.NoError(t, os.Chmod(filepath.Join(dir, appendDirName), 0o777))
		}, appendDirName + ": choose another data directory, or chmod go-w "},
		"without a manifest": {func(t *testing.T, dir string) {
			require.NoError(t, os.Mkdir(filepath.Join(dir, appendDirName), 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(dir, appendDirName, "appendonly.aof.1.incr.aof"), []byte("x"), 0o600))
		}, "has data and no appendonly.aof.manifest, so Redis would start empty"},
		"with a manifest of another name": {func(t *testing.T, dir string) {
			require.NoError(t, os.Mkdir(filepath.Join(dir, appendDirName), 0o700))
			for _, name := range []string{"scores.aof.manifest", "scores.aof.1.base.rdb", "appendonly.aof.1.base.rdb",
				"temp-appendonly.aof.manifest"} {
				require.NoError(t, os.WriteFile(filepath.Join(dir, appendDirName, name), []byte("x"), 0o600))
			}
		}, "has data and no appendonly.aof.manifest, so Redis would start empty"},
		"with a dump alone, where a node has been": {func(t *testing.T, dir string) {
			require.NoError(t, os.Mkdir(filepath.Join(dir, appendDirName), 0o700))
			for _, name := range []string{ownerLockName, "dump.rdb"} {
				require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600))
			}
		}, "has a dump.rdb and no append-only file, so Redis would start empty"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.Chmod(dir, 0o700))
			c.prepare(t, dir)
			d, err := openDirectory(dir)
			if err == nil {
				unlock(d.lock)
			}
			require.ErrorContains(t, err, c.want)
		})
	}
	// A folder above is as unsafe, whether the directory exists or not, and whichever way leads to it.
	for name, c := range map[string]struct {
		mode os.FileMode
		safe bool
	}{"every user may write above": {0o777, false}, "as /tmp": {0o777 | os.ModeSticky, true}, "a group may write above": {0o775, true}} {
		t.Run(name, func(t *testing.T) {
			base := t.TempDir()
			open := filepath.Join(base, "open")
			require.NoError(t, os.MkdirAll(filepath.Join(open, "below", "there"), 0o700))
			require.NoError(t, os.Chmod(open, c.mode))
			require.NoError(t, os.Symlink(filepath.Join(open, "below", "there"), filepath.Join(base, "to")))
			require.NoError(t, os.Mkdir(filepath.Join(base, "target"), 0o700))
			require.NoError(t, os.Symlink(filepath.Join(base, "target"), filepath.Join(open, "from")))
			for _, dir := range []string{filepath.Join(open, "below", "there"), filepath.Join(open, "new", "one"),
				filepath.Join(base, "to"), filepath.Join(open, "from")} {
				d, err := openDirectory(dir)
				if err == nil {
					unlock(d.lock)
				}
				if c.safe {
					require.NoError(t, err, dir)
					continue
				}
				require.ErrorContains(t, err, "every user may write to the folder "+open, dir)
				require.ErrorContains(t, err, "chmod o-w "+open, dir)
			}
			if !c.safe {
				require.NoDirExists(t, filepath.Join(open, "new"), "the refusal makes nothing")
			}
		})
	}
	if dir := t.TempDir(); os.Geteuid() == 0 { // only root can give a directory away
		require.NoError(t, os.Chown(dir, 12345, -1))
		require.ErrorContains(t, redistest.ErrorOf(openDirectory(dir)), "belongs to the user 12345")
	}
}

// A file of the directory that is a symbolic link is refused, whether it leads to something or not. The link and its
// target stay as they were.
func TestLinksInADirectory(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		ownerLockName, redisLockName, socketName, logName, probeName, appendDirName, "temp-rewriteaof-1.aof",
		filepath.Join(appendDirName, "appendonly.aof.manifest"), filepath.Join(appendDirName, "appendonly.aof.1.base.rdb"),
		filepath.Join(appendDirName, "appendonly.aof.1.incr.aof"),
	} {
		for kind, prepare := range map[string]func(target string) error{
			"a file":   func(target string) error { return os.WriteFile(target, []byte("precious"), 0o600) },
			"a folder": func(target string) error { return os.Mkdir(target, 0o700) },
			"nothing":  func(string) error { return nil },
		} {
			t.Run(name+" to "+kind, func(t *testing.T) {
				base := t.TempDir()
				dir, target := filepath.Join(base, "d"), filepath.Join(base, "target")
				d := redistest.Must(openDirectory(dir))(t)
				require.NoError(t, unlock(d.lock))
				require.NoError(t, prepare(target))
				before, statErr := os.Stat(target)
				require.NoError(t, os.RemoveAll(d.file(name)))
				require.NoError(t, os.Symlink(target, d.file(name)))

				d, err := openDirectory(dir)
				if err == nil {
					unlock(d.lock)
				}
				require.ErrorContains(t, err, d.file(name)+" is a symbolic link")
				to := redistest.Must(os.Readlink(d.file(name)))(t)
				require.Equal(t, target, to)
				after, err := os.Stat(target)
				if statErr != nil {
					require.ErrorIs(t, err, os.ErrNotExist)
					return
				}
				require.NoError(t, err)
				require.Equal(t, before.Size(), after.Size())
				require.Equal(t, before.ModTime(), after.ModTime())
			})
		}
	}
}

// The next owner gets a directory at once, also while a process that the former owner is starting still has the file of the
// lock open.
func TestADirectoryIsFreeAtOnce(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "d")
	d := redistest.Must(openDirectory(dir))(t)
	inherited := redistest.Must(unix.Dup(int(d.lock.Fd())))(t)
	defer unix.Close(inherited)
	require.ErrorIs(t, redistest.ErrorOf(openDirectory(dir)), ErrInUse)
	require.NoError(t, unlock(d.lock))
	d = redistest.Must(openDirectory(dir))(t)
	require.NoError(t, unlock(d.lock))
}
