//go:build unix

package localredis

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// probeSize is the room that a disk needs before Redis accepts writes again, in bytes. Redis writes less at
// once, and a disk that has just this much is not full again at the first write.
const probeSize = 1 << 20

// probeDisk writes a file into the directory, waits for the disk, and removes the file. It returns an
// error if the disk has no room.
func (d *directory) probeDisk() error {
	f, err := os.OpenFile(d.file(probeName), os.O_WRONLY|os.O_CREATE|os.O_TRUNC|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return fmt.Errorf("the data directory takes no files: %w", err)
	}
	_, err = f.Write(make([]byte, probeSize))
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close(), os.Remove(f.Name())); err != nil {
		return fmt.Errorf("the disk of the data directory has less than %d MiB of room: %w", probeSize>>20, err)
	}
	return nil
}
