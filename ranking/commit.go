package ranking

import (
	"context"
	"fmt"
	"sync"
	"time"
)

const (
	// batchUpdates and batchBytes bound one call of apply.lua, so that it holds
	// Redis for 2 to 3 ms at most.
	batchUpdates = 128
	batchBytes   = 64 << 10
	// queueUpdates bounds what waits for one board: at 20 µs an update, a sixth
	// of a second of Redis. What comes on top is refused at once.
	queueUpdates = 8192
)

// pending is an update on its way to Redis.
type pending struct {
	update  Update
	outcome *Outcome
	group   *group
}

// group is the updates of one caller.
type group struct {
	left int           // not answered yet; the board's flush owns it
	done chan struct{} // closed when all are answered
	err  error         // set when nothing is known of any; read after done
	some bool          // at least one has an outcome
}

func newPending(u Update, o *Outcome) pending { return pending{update: u, outcome: o} }

func (p pending) bytes() int { return len(p.update.Member) + len(p.update.ID) }

// queues is group commit: while one call for a board is out, what arrives for
// that board waits and goes out together in the next. A board has a goroutine
// only while it has updates waiting.
type queues struct {
	apply   func(context.Context, Definition, span, []pending) error
	timeout time.Duration // of one call

	mu      sync.Mutex
	waiting map[string][]pending // by board; an entry exists while its flush runs
	running sync.WaitGroup
}

// commit hands the updates over and waits for their outcomes. When ctx ends
// first they are carried out all the same.
func (q *queues) commit(ctx context.Context, d Definition, updates []pending) error {
	if len(updates) == 0 {
		return nil
	}
	g := &group{left: len(updates), done: make(chan struct{})}
	for i := range updates {
		updates[i].group = g
	}

	q.mu.Lock()
	waiting, flushing := q.waiting[d.Board]
	if len(waiting)+len(updates) > queueUpdates {
		q.mu.Unlock()
		return fmt.Errorf("%w: %d updates wait already", ErrOverloaded, len(waiting))
	}
	if q.waiting == nil {
		q.waiting = make(map[string][]pending)
	}
	q.waiting[d.Board] = append(waiting, updates...)
	if !flushing {
		q.running.Go(func() { q.flush(d) })
	}
	q.mu.Unlock()

	select {
	case <-g.done:
		return g.err
	case <-ctx.Done():
		return fmt.Errorf("%w: %w: %w", ErrUnavailable, ErrOutcomeUnknown, ctx.Err())
	}
}

// flush makes calls for one board until nothing waits for it.
func (q *queues) flush(d Definition) {
	for batch := q.take(d.Board); batch != nil; batch = q.take(d.Board) {
		// A context of its own: a caller that gives up takes nobody else's update along.
		ctx, cancel := context.WithTimeout(context.Background(), q.timeout)
		// (A board without periods never turns, so no turnError comes back.)
		err := q.apply(ctx, d, forever, batch)
		cancel()
		if err != nil {
			// Whoever waits behind is told now, not one timeout after the other.
			batch = append(batch, q.takeAll(d.Board)...)
		}
		answer(batch, err)
	}
}

// take cuts off the next batch. With nothing left it ends the board's flush.
func (q *queues) take(board string) []pending {
	q.mu.Lock()
	defer q.mu.Unlock()
	waiting := q.waiting[board]
	if len(waiting) == 0 {
		delete(q.waiting, board)
		return nil
	}
	size, bytes := 0, 0
	for size < min(len(waiting), batchUpdates) && bytes < batchBytes {
		bytes += waiting[size].bytes()
		size++
	}
	q.waiting[board] = waiting[size:]
	return waiting[:size:size]
}

// takeAll cuts off all that waits and leaves the flush running.
func (q *queues) takeAll(board string) []pending {
	q.mu.Lock()
	defer q.mu.Unlock()
	waiting := q.waiting[board]
	q.waiting[board] = nil
	return waiting
}

// answer tells the callers what came of their updates.
func answer(batch []pending, err error) {
	for _, p := range batch {
		g := p.group
		if err != nil {
			g.err = fmt.Errorf("%w: %w", ErrOutcomeUnknown, err)
			p.outcome.Err = g.err
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
