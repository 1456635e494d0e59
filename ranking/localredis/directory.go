//go:build unix

package localredis

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// The files of a directory.
const (
	ownerLockName = "rankcast.lock"
	redisLockName = "redis.lock"
	logName       = "redis.log"
	appendDirName = "appendonlydir" // as Redis names it, and the next two
	manifestName  = "appendonly.aof.manifest"
	dumpName      = "dump.rdb"
	probeName     = "rankcast.probe"
)

// expectedFiles are the names that a directory without the lock of an owner may have: a restored copy, or
// the root of a file system.
var expectedFiles = []string{redisLockName, socketName, logName, appendDirName, probeName, "lost+found"}

// maxSocketPath is the longest path of a unix socket: a zero byte follows it.
const maxSocketPath = len(syscall.RawSockaddrUnix{}.Path) - 1

// errLocked reports that another process holds a lock.
var errLocked = errors.New("locked")

// directory is a directory with the lock of its owner.
type directory struct {
	path string // absolute
	lock *os.File
}

// openDirectory creates the directory if it is missing, and takes the lock of its owner. It returns
// ErrInUse if another process holds the lock.
func openDirectory(name string) (d directory, err error) {
	if d.path, err = filepath.Abs(name); err != nil {
		return d, err
	}
	if n := len(d.file(socketName)); n > maxSocketPath {
		return d, fmt.Errorf("the path %s has %d bytes, and that of a unix socket has %d at most: choose a data directory with a shorter path",
			d.file(socketName), n, maxSocketPath)
	}
	if err := d.checkParents(); err != nil {
		return d, err
	}
	if err := os.MkdirAll(d.path, 0o700); err != nil {
		return d, err
	}
	for _, check := range []func() error{d.checkOwner, d.checkContent, d.checkLinks, d.checkManifest} {
		if err := check(); err != nil {
			return d, err
		}
	}
	if d.lock, err = lock(d.file(ownerLockName)); err != nil {
		if errors.Is(err, errLocked) {
			return d, fmt.Errorf("%w: %s, process id %s: give this node a directory of its own, or share the scores of that node: --redis %s",
				ErrInUse, d.path, readPid(d.file(ownerLockName)), d.socketURL())
		}
		return d, err
	}
	// Every user may read the files that Redis creates there. So the folder around them is for this user only.
	if err = os.Mkdir(d.file(appendDirName), 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return d, errors.Join(err, unlock(d.lock))
	}
	writePid(d.lock, os.Getpid())
	return d, nil
}

// checkParents returns an error if another user could replace the directory, because every user may write to a folder
// above it. With the sticky bit, as /tmp has it, only the owner of a file may replace it. A link may lead to the
// directory: so the folders above the link count, and those above its target.
func (d *directory) checkParents() error {
	for _, path := range []string{d.path, resolved(d.path)} {
		for parent := filepath.Dir(path); ; parent = filepath.Dir(parent) {
			info, err := os.Stat(parent)
			if err == nil && info.Mode().Perm()&0o002 != 0 && info.Mode()&os.ModeSticky == 0 {
				return fmt.Errorf("every user may write to the folder %s, and so replace the directory %s in it: choose a data "+
					"directory elsewhere, or chmod o-w %s",
					parent, d.path, parent)
			}
			if parent == filepath.Dir(parent) {
				break
			}
		}
	}
	return nil
}

// resolved is a path without links, as far as the path exists.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil || path == filepath.Dir(path) {
		return real
	}
	return filepath.Join(resolved(filepath.Dir(path)), filepath.Base(path))
}

// checkOwner returns an error if another user could replace files of the directory. It accepts one of root, who may do
// so anywhere: volumes belong to root, and this node may write to them by its group.
func (d *directory) checkOwner() error {
	for _, folder := range []string{d.path, d.file(appendDirName)} {
		info, err := os.Stat(folder)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		owner, writers := int(info.Sys().(*syscall.Stat_t).Uid), os.FileMode(0o022)
		if owner != os.Geteuid() {
			writers = 0o002
		}
		if owner != os.Geteuid() && owner != 0 {
			return fmt.Errorf("the directory %s belongs to the user %d, and this node runs as the user %d: choose a data directory of its own",
				folder, owner, os.Geteuid())
		}
		if info.Mode().Perm()&writers != 0 {
			return fmt.Errorf("other users may write to the directory %s: choose another data directory, or chmod go-w %s", folder, folder)
		}
	}
	return nil
}

// checkLinks returns an error if a file of the directory is a symbolic link: the node, or Redis, would write to its target.
func (d *directory) checkLinks() error {
	for _, folder := range []string{d.path, d.file(appendDirName)} {
		entries, err := os.ReadDir(folder)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		for _, e := range entries {
			if e.Type() == os.ModeSymlink {
				return fmt.Errorf("%s is a symbolic link, which the node does not follow: put the file itself in its place, or remove the link",
					filepath.Join(folder, e.Name()))
			}
		}
	}
	return nil
}

// checkManifest returns an error if Redis would start empty although there are data: those of an append-only file that has
// lost its manifest, or that has another name, and a dump, which Redis does not read.
func (d *directory) checkManifest() error {
	entries, err := os.ReadDir(d.file(appendDirName))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	there := func(name string) bool {
		_, err := os.Stat(d.file(name))
		return err == nil
	}
	switch {
	case len(entries) > 0 && !there(filepath.Join(appendDirName, manifestName)):
		return fmt.Errorf("the folder %s has data and no %s, so Redis would start empty: "+
			"restore that file from a backup, or move the folder away to start anew", d.file(appendDirName), manifestName)
	case len(entries) == 0 && there(dumpName):
		return fmt.Errorf("the directory %s has a %s and no append-only file, so Redis would start empty: "+
			"the page Deploy tells how to restore it; or move it away to start anew", d.path, dumpName)
	}
	return nil
}

// checkContent returns an error if the directory holds files of something else: no node has used it, and
// it is neither empty nor a copy of one that a node used.
func (d *directory) checkContent() error {
	entries, err := os.ReadDir(d.path)
	if err != nil {
		return err
	}
	other := slices.IndexFunc(entries, func(e os.DirEntry) bool { return !slices.Contains(expectedFiles, e.Name()) })
	used := slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == ownerLockName })
	if other >= 0 && !used {
		return fmt.Errorf("the directory %s holds other files, such as %s: choose an empty data directory, or one that does not exist yet",
			d.path, entries[other].Name())
	}
	return nil
}

func (d *directory) file(name string) string { return filepath.Join(d.path, name) }

func (d *directory) socketURL() string { return socketURL(d.file(socketName)) }

// lock opens a file, which lock creates if it is missing, and locks it. The lock ends with the last
// process that has the file open. lock returns errLocked if another process holds it.
func lock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, errLocked
		}
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return f, nil
}

// unlock gives up a lock at once. To close the file is not enough: a process that this one is starting has it open too, until
// that process runs its program.
func unlock(f *os.File) error {
	return errors.Join(unix.Flock(int(f.Fd()), unix.LOCK_UN), f.Close())
}

// isLocked reports whether another process holds the lock of an open file.
func isLocked(f *os.File) bool {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err == nil {
		unix.Flock(int(f.Fd()), unix.LOCK_UN)
	}
	return errors.Is(err, unix.EWOULDBLOCK)
}

// writePid writes the process id of the holder of a lock into its file, for messages. On a full disk the
// file stays empty.
func writePid(f *os.File, pid int) {
	if f.Truncate(0) == nil {
		f.WriteAt(fmt.Appendln(nil, pid), 0)
	}
}

// readPid reads what writePid has written.
func readPid(path string) string {
	pid, _ := os.ReadFile(path)
	return cmp.Or(strings.TrimSpace(string(pid)), "unknown")
}
