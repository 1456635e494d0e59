// Package filewatch reads the files of an operator again when they change.
package filewatch

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	// Interval is the time between two looks at the files. A look compares the content, and the time of the change
	// with that of the look before: a program may write the same first half again and again.
	Interval = time.Second
	// MaxBytes bounds a file, which a look holds in memory.
	MaxBytes = 1 << 20
)

// ReadFile reads a file for Config.Load. The error names the file; one of more than MaxBytes is an error.
type ReadFile func(path string) ([]byte, error)

// Config configures a Watch. All fields are required.
type Config[V any] struct {
	// Name names the files in the log: "access file".
	Name string
	// Load makes a value of the files, which it reads by read alone, in the same order each time. before is the
	// value in force, nil at first. Load returns before if nothing has changed.
	Load func(read ReadFile, before *V) (*V, error)
	// Log gets messages for operators.
	Log *slog.Logger
}

// Watch holds the value of files, of which the last valid content is in force. New makes it, Run keeps it up to
// date. All methods may be called concurrently.
type Watch[V any] struct {
	cfg     Config[V]
	current atomic.Pointer[V]
	reload  chan struct{}

	mu     sync.Mutex // held while the files are read
	status Status
	seen   [sha256.Size]byte // digest of what the last look found
}

// New reads the files. It returns the error of Load.
func New[V any](cfg Config[V]) (*Watch[V], error) {
	w := &Watch[V]{cfg: cfg, reload: make(chan struct{}, 1)}
	v, seen, err := w.load()
	if err != nil {
		return nil, err
	}
	w.seen, w.status.Since = seen, time.Now()
	w.current.Store(v)
	return w, nil
}

// Current is the value in force.
func (w *Watch[V]) Current() *V { return w.current.Load() }

// Status is the state of the files, for an operator.
type Status struct {
	Since time.Time // when the value in force was loaded
	Fault error     // why the present files are not in force; nil if they are
}

// Status returns the state of the files. It may wait for a look at them.
func (w *Watch[V]) Status() Status {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.status
}

// Reload makes Run read the files now.
func (w *Watch[V]) Reload() {
	select {
	case w.reload <- struct{}{}:
	default:
	}
}

// Run reads the files again each Interval until ctx ends. It calls changed, from its own goroutine, after each
// change of the value in force.
//
// A change comes into force, and a fault shows, at the second look that finds it, or at once after Reload. Another
// program may be writing the files: the first half of a file can be valid, and mean something else.
func (w *Watch[V]) Run(ctx context.Context, changed func(*V)) {
	tick := time.NewTicker(Interval)
	defer tick.Stop()
	for {
		var now *V
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			now = w.look(waitForSecondLook)
		case <-w.reload:
			w.cfg.Log.Info("reading the " + w.cfg.Name + " again")
			now = w.look(takeFirstLook)
		}
		if now != nil {
			changed(now)
		}
	}
}

// lookRule says which look puts what it finds into force.
type lookRule int

const (
	waitForSecondLook lookRule = iota // the second one that finds the same
	takeFirstLook                     // an operator says that the files are complete
)

// look reads the files, and puts them into force by a rule. It returns the new value; nil for none.
func (w *Watch[V]) look(rule lookRule) *V {
	w.mu.Lock()
	defer w.mu.Unlock()
	v, found, err := w.load()
	isSecond := found == w.seen
	w.seen = found
	switch {
	case rule == waitForSecondLook && !isSecond:
	case err != nil:
		if w.status.Fault == nil || w.status.Fault.Error() != err.Error() {
			w.cfg.Log.Error("the "+w.cfg.Name+" is not valid; the last valid one stays in force", "error", err)
		}
		w.status.Fault = err
	default:
		wasFaulty := w.status.Fault != nil
		w.status.Fault = nil
		if v != w.current.Load() {
			w.status.Since = time.Now()
			w.current.Store(v)
			return v // the caller of Run logs what is new
		}
		if wasFaulty {
			w.cfg.Log.Info("the " + w.cfg.Name + " is valid again, and is the one in force")
		}
	}
	return nil
}

// load calls Load. found is a digest of all that it has read.
func (w *Watch[V]) load() (v *V, found [sha256.Size]byte, err error) {
	digest := sha256.New()
	v, err = w.cfg.Load(func(path string) ([]byte, error) {
		b, changed, err := readFile(path)
		fmt.Fprintf(digest, "%q %v %d %d\n", path, err, len(b), changed.UnixNano())
		digest.Write(b)
		return b, err
	}, w.current.Load())
	return v, [sha256.Size]byte(digest.Sum(nil)), err
}

// readFile does not wait: it refuses a named pipe, whose open would.
func readFile(path string) (b []byte, changed time.Time, err error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, changed, err
	}
	defer f.Close()
	about, err := f.Stat()
	if err != nil {
		return nil, changed, err
	}
	if !about.Mode().IsRegular() {
		return nil, changed, fmt.Errorf("%s is not a regular file", path)
	}
	b, err = io.ReadAll(io.LimitReader(f, MaxBytes+1))
	if err == nil && len(b) > MaxBytes {
		return nil, changed, fmt.Errorf("%s has more than %d bytes", path, MaxBytes)
	}
	return b, about.ModTime(), err
}
