package batch

import (
	"context"
	"fmt"
	"sync"
	"time"

	"rankcast/ranking/definition"
)

const (
	// MaxItems and MaxBytes bound one call of a script, so that it holds Redis
	// for 2 to 3 ms at most.
	MaxItems = 128
	MaxBytes = 64 << 10
	// MaxWaiting bounds what waits for one board: at 20 µs an update, a sixth of a
	// second of Redis. What comes on top is refused at once.
	MaxWaiting = 8192
)

// Item is something on its way to Redis. It knows where its outcome belongs.
type Item interface {
	Bytes() int
	Fail(error) // nothing is known of what came of it
}

// pending is an item of one caller.
type pending[T Item] struct {
	item  T
	group *group
}

// group is the items of one caller.
type group struct {
	left int           // not answered yet; the queue's flush owns it
	done chan struct{} // closed when all are answered
	err  error         // set when nothing is known of any; read after done
	some bool          // at least one has an outcome
}

// Queues is group commit: while one call for a board is out, what arrives for
// that board waits and goes out together in the next. A board has a goroutine
// only while it has items waiting.
type Queues[T Item] struct {
	Call    func(ctx context.Context, name string, items []T) error
	Timeout time.Duration // of one call

	mu      sync.Mutex
	waiting map[string][]pending[T] // by board; an entry exists while its flush runs
	running sync.WaitGroup
}

// Wait returns when no call is under way and nothing waits.
func (q *Queues[T]) Wait() { q.running.Wait() }

// Waiting is how many items wait for a board.
func (q *Queues[T]) Waiting(name string) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting[name])
}

// Commit hands the items over and waits for their outcomes. When ctx ends first
// they are carried out all the same.
func (q *Queues[T]) Commit(ctx context.Context, name string, items []T) error {
	if len(items) == 0 {
		return nil
	}
	g := &group{left: len(items), done: make(chan struct{})}
	q.mu.Lock()
	waiting, flushing := q.waiting[name]
	if len(waiting)+len(items) > MaxWaiting {
		q.mu.Unlock()
		return fmt.Errorf("%w: %d updates wait already", definition.ErrOverloaded, len(waiting))
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

// flush makes calls for one board until nothing waits for it.
func (q *Queues[T]) flush(name string) {
	var items []T
	for batch := q.take(name); batch != nil; batch = q.take(name) {
		items = items[:0]
		for _, p := range batch {
			items = append(items, p.item)
		}
		// A context of its own: a caller that gives up takes nobody else's along.
		ctx, cancel := context.WithTimeout(context.Background(), q.Timeout)
		err := q.Call(ctx, name, items)
		cancel()
		if err != nil {
			// Whoever waits behind is told now, not one timeout after the other.
			batch = append(batch, q.takeAll(name)...)
		}
		answer(batch, err)
	}
}

// take cuts off the next batch. With nothing left it ends the board's flush.
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

// takeAll cuts off all that waits and leaves the flush running.
func (q *Queues[T]) takeAll(name string) []pending[T] {
	q.mu.Lock()
	defer q.mu.Unlock()
	waiting := q.waiting[name]
	q.waiting[name] = nil
	return waiting
}

// answer tells the callers what came of their items.
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
				g.err = nil // each outcome speaks for itself
			}
			close(g.done)
		}
	}
}
