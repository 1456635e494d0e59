// Package batch is group commit. While one call of a script for a board is out, further writes
// for that board wait. They go out together in the next call.
//
// [Queues] has one queue for each name, which is a board or an event. A caller hands over a
// group of items with Commit and waits until each of them has an outcome. The flush of a queue
// takes the next batch of items, calls Queues.Call with it, and answers the callers. Under
// load, batches grow by themselves, so Redis runs few large calls instead of many small ones;
// without load an item goes out at once. All buffers are bounded: a full queue refuses further
// items with definition.ErrOverloaded.
//
// The store uses one Queues for updates, by board, and two for events, by event. The package
// knows neither Redis nor the content of items: it asks an item only for its size, and the
// Call that the store passes stores the outcome in each item.
package batch

import (
	"context"
	"fmt"
	"sync"
	"time"

	"rankcast/ranking/definition"
)

const (
	// MaxItems and MaxBytes bound one call of a script, so that it occupies Redis for at most
	// 2 to 3 ms. A batch ends with the item that reaches MaxBytes.
	MaxItems = 128
	MaxBytes = 64 << 10
	// MaxWaiting is the greatest number of items that wait in one queue. At 20 µs an update
	// they are a sixth of a second of Redis. Commit refuses further items at once.
	MaxWaiting = 8192
)

// Item is one write on its way to Redis. It knows where its outcome belongs.
type Item interface {
	Bytes() int // approximate size in the call
	Fail(error) // records that the outcome of the item is not known, and why
}

// pending is an item that waits, and the group it belongs to.
type pending[T Item] struct {
	item  T
	group *group
}

// group holds the items of one call of Commit.
type group struct {
	left int           // items not answered yet; the flush of the queue owns it
	done chan struct{} // closed when all items are answered
	err  error         // set when no item has an outcome; read after done
	some bool          // at least one item has an outcome
}

// Queues holds a queue of items for each name, and makes one call at a time for each name. A
// queue has a goroutine only while it has items waiting or in a call. Commit, Wait and Waiting
// may be called concurrently. The caller sets Call and Timeout before the first Commit.
type Queues[T Item] struct {
	// Call carries out items of one name, and stores the outcome in each of them. With an
	// error no outcome is known, and Queues calls Fail on each item.
	Call    func(ctx context.Context, name string, items []T) error
	Timeout time.Duration // of one Call

	mu      sync.Mutex
	waiting map[string][]pending[T] // by name; an entry exists while its flush runs
	running sync.WaitGroup
}

// Wait returns when no call is under way and no item waits.
func (q *Queues[T]) Wait() { q.running.Wait() }

// Waiting is the number of items that wait in the queue of a name, without those in a call.
func (q *Queues[T]) Waiting(name string) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting[name])
}

// Commit hands over the items and waits for their outcomes. It returns nil when at least one
// item has an outcome, and the error of Call when no item has one. It returns
// definition.ErrOverloaded when the items do not fit into the queue; then none is carried out.
// When ctx ends first, Commit returns definition.ErrUnavailable and ErrOutcomeUnknown, and the
// items are still carried out.
func (q *Queues[T]) Commit(ctx context.Context, name string, items []T) error {
	if len(items) == 0 {
		return nil
	}
	g := &group{left: len(items), done: make(chan struct{})}
	q.mu.Lock()
	waiting, flushing := q.waiting[name]
	if len(waiting)+len(items) > MaxWaiting {
		q.mu.Unlock()
		return fmt.Errorf("%w: %d writes are waiting already; send again later", definition.ErrOverloaded, len(waiting))
	}
	for _, i := range items {
		waiting = append(waiting, pending[T]{i, g})
	}
	if q.waiting == nil {
		q.waiting = make(map[string][]pending[T])
	}
	q.waiting[name] = waiting
	if !flushing {
		q.running.Go(func() { q.flush(name) })
	}
	q.mu.Unlock()

	select {
	case <-g.done:
		return g.err
	case <-ctx.Done():
		return fmt.Errorf("%w: %w: %w", definition.ErrUnavailable, definition.ErrOutcomeUnknown, ctx.Err())
	}
}

// flush makes calls for one name until no item waits for it.
func (q *Queues[T]) flush(name string) {
	var items []T
	for batch := q.take(name); batch != nil; batch = q.take(name) {
		items = items[:0]
		for _, p := range batch {
			items = append(items, p.item)
		}
		// The call has a context of its own, so that a caller that gives up does not cancel
		// the items of others.
		ctx, cancel := context.WithTimeout(context.Background(), q.Timeout)
		err := q.Call(ctx, name, items)
		cancel()
		if err != nil {
			// The items behind fail now, instead of one timeout after the other.
			batch = append(batch, q.takeAll(name)...)
		}
		answer(batch, err)
	}
}

// take removes the next batch from the queue. It returns nil for an empty queue, which it
// deletes; that ends the flush.
func (q *Queues[T]) take(name string) []pending[T] {
	q.mu.Lock()
	defer q.mu.Unlock()
	waiting := q.waiting[name]
	if len(waiting) == 0 {
		delete(q.waiting, name)
		return nil
	}
	size, bytes := 0, 0
	for size < min(len(waiting), MaxItems) && bytes < MaxBytes {
		bytes += waiting[size].item.Bytes()
		size++
	}
	q.waiting[name] = waiting[size:]
	return waiting[:size:size]
}

// takeAll removes all waiting items from the queue and leaves the flush running.
func (q *Queues[T]) takeAll(name string) []pending[T] {
	q.mu.Lock()
	defer q.mu.Unlock()
	waiting := q.waiting[name]
	q.waiting[name] = nil
	return waiting
}

// answer completes the items of a batch, and wakes the callers whose items are all answered.
func answer[T Item](batch []pending[T], err error) {
	for _, p := range batch {
		g := p.group
		if err != nil {
			g.err = err
			p.item.Fail(err)
		} else {
			g.some = true
		}
		g.left--
		if g.left == 0 {
			if g.some {
				g.err = nil // the items hold their own outcomes
			}
			close(g.done)
		}
	}
}
