// Package sharedread makes identical reads that arrive at the same time share one answer.
package sharedread

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// ErrPanicked is wrapped by the error of a shared read that has panicked.
var ErrPanicked = errors.New("a shared read panicked")

// Reads makes reads with the same key share one answer. A read begins at once if no other read of its key is
// out. Callers that arrive while a read is out wait until it ends, and then share one further read. They do not
// join the read that is out: it may have looked before they came, and miss what was written since.
//
// One read of a key is out at a time, and one group of callers waits for its end. Reads keeps nothing of a key
// without a read. Do may be called concurrently.
type Reads[K comparable, V any] struct {
	// FailsWaiting reports whether the error of a read also is the answer to the callers that wait for its
	// end. Else they would wait for a second timeout after the first one. Default: never.
	FailsWaiting func(error) bool
	// Context is the context of each shared read. The owner of the Reads ends it once no caller waits any more. Required.
	Context context.Context

	mu      sync.Mutex
	waiting map[K]*group[V] // has the keys with a read that is out; nil: no group waits
	callers atomic.Int64    // of all groups
	running sync.WaitGroup
}

// group is the callers that share one read.
type group[V any] struct {
	read   func(context.Context) (V, error) // of the first caller
	done   chan struct{}                    // closed when the group has answer and err
	answer V
	err    error
}

// Do returns the answer of a read that begins after the call of Do, or its error. read reads the answer of the key. Callers
// that share the answer must not change it.
//
// A read of one caller has its ctx and its goroutine. A read that callers share has Reads.Context: read bounds its time. A
// caller whose ctx ends gets the error of ctx. The read goes on, also without callers.
func (r *Reads[K, V]) Do(ctx context.Context, key K, read func(context.Context) (V, error)) (V, error) {
	g := r.enter(key, read)
	if g == nil {
		return r.readAlone(ctx, key, read)
	}
	r.callers.Add(1)
	defer r.callers.Add(-1)
	select {
	case <-g.done:
		return g.answer, g.err
	case <-ctx.Done():
		var none V
		return none, ctx.Err()
	}
}

// Waiting is the number of callers that wait for an answer which they share, or may share.
func (r *Reads[K, V]) Waiting() int { return int(r.callers.Load()) }

// Wait returns when no shared read is under way. Call it after the last Do has returned.
func (r *Reads[K, V]) Wait() { r.running.Wait() }

// enter joins the group that waits for the end of the read that is out. It returns nil if none was out: then the
// read of the caller is out.
func (r *Reads[K, V]) enter(key K, read func(context.Context) (V, error)) *group[V] {
	r.mu.Lock()
	defer r.mu.Unlock()
	g, out := r.waiting[key]
	if !out {
		if r.waiting == nil {
			r.waiting = make(map[K]*group[V])
		}
		r.waiting[key] = nil
		return nil
	}
	if g == nil {
		g = &group[V]{read: read, done: make(chan struct{})}
		r.waiting[key] = g
	}
	return g
}

// readAlone reads for one caller. A goroutine reads for the callers that have come meanwhile.
func (r *Reads[K, V]) readAlone(ctx context.Context, key K, read func(context.Context) (V, error)) (answer V, err error) {
	defer func() { // also if read panics
		if ctx.Err() == nil { // else err may be that this caller has given up, and other reads may succeed
			r.failWaiting(key, err)
		}
		if r.release(key) {
			r.running.Go(func() { r.readShared(key) })
		}
	}()
	return read(ctx)
}

// readShared reads for one group after the other, until no group waits.
func (r *Reads[K, V]) readShared(key K) {
	for {
		// On a busy machine many callers are about to come, such as those that have just got an answer. They
		// join the group before its read begins. On an idle machine this takes no time.
		runtime.Gosched()
		g := r.begin(key)
		if g == nil {
			return
		}
		g.answer, g.err = Safely(func() (V, error) { return g.read(r.Context) })
		r.failWaiting(key, g.err)
		close(g.done)
	}
}

// Safely calls read, and returns an error if read panics: nobody else recovers the goroutine of a shared read.
func Safely[V any](read func() (V, error)) (answer V, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v\n%s", ErrPanicked, p, debug.Stack())
		}
	}()
	return read()
}

// release says that the read that is out has ended, if no group waits for that. It reports whether one does.
func (r *Reads[K, V]) release(key K) (waits bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.waiting[key] != nil {
		return true
	}
	delete(r.waiting, key)
	return false
}

// begin returns the callers that wait, whose read is under way from then on. It returns nil if no caller waits.
func (r *Reads[K, V]) begin(key K) *group[V] {
	r.mu.Lock()
	defer r.mu.Unlock()
	g := r.waiting[key]
	if g == nil {
		delete(r.waiting, key)
		return nil
	}
	r.waiting[key] = nil
	return g
}

// failWaiting answers the group that waits with the error of the read that has ended, if the error holds for it
// too.
func (r *Reads[K, V]) failWaiting(key K, err error) {
	if err == nil || r.FailsWaiting == nil || !r.FailsWaiting(err) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if g := r.waiting[key]; g != nil {
		g.err = err
		close(g.done)
		r.waiting[key] = nil
	}
}
