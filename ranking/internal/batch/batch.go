// Package batch is group commit. While as many calls for a board are in flight as may be, further
// writes for that board wait. They go out together in the next call. Reads of single members do the same.
//
// [Queues] has one queue for each name, which is a board or an event. A caller hands over a
// group of items with Commit and waits until each of them has an outcome. A queue takes the next
// batch of items, calls Queues.Call with it, and answers the callers. Under load, batches grow by
// themselves, so Redis runs few large calls instead of many small ones; without load an item
// goes out at once. All buffers are bounded: a full queue refuses further items with
// definition.ErrOverloaded.
//
// The next batch of a name goes out while others are in flight, so Redis has work while the node
// takes an answer. Call reports by its argument sent that a batch has its place on the connection.
// So the batches reach Redis in order. Call may have to send a batch again, and then it runs after
// its successor. Therefore no two batches in flight have items of one group: the items of a group
// are carried out in order.
//
// The store uses one Queues for updates, by board, one for events, by event, and one for reads, by board-period. The package
// knows neither Redis nor the content of items: it asks an item only for its size, and the
// Call that the store passes stores the outcome in each item.
package batch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"rankcast/ranking/definition"
)

const (
	// MaxWeight and MaxBytes bound one call of a script, so that it occupies Redis for at most
	// 2 to 3 ms. A batch ends with the item that reaches one of them.
	MaxWeight = 128
	MaxBytes  = 64 << 10
	// MaxWaiting is the default of Queues.MaxWaiting. At 20 µs an update they are a sixth of a second of Redis.
	MaxWaiting = 8192
	// defaultInFlight is the default of Queues.InFlight.
	defaultInFlight = 2
	// maxSlow is the greatest number of batches of one queue beyond Queues.InFlight, see
	// Queues.SlowAfter.
	maxSlow = 32
	// defaultSecond is the default of Queues.Second. With 32 callers of single updates, 1 raises
	// the CPU of an update by a tenth above that of one batch in flight, and 16 does not.
	defaultSecond = 16
)

// Item is one write, or one read, on its way to Redis. It knows where its outcome belongs.
type Item interface {
	Weight() int // number of updates, or of entries that a read returns
	Bytes() int  // approximate size in the call
	Fail(error)  // records that the outcome of the item is not known, and why
}

// pending is an item that waits, and the group it belongs to.
type pending[T Item] struct {
	item  T
	group *group
}

// group holds the items of one call of Commit. Queues.mu guards it until done is closed.
type group struct {
	left     int           // items not answered yet
	waiting  int           // weight of the items that wait
	inFlight int           // items in a batch in flight
	gone     bool          // the caller has given up, and its items are not to be carried out
	done     chan struct{} // closed when all items are answered
	err      error         // set when no item has an outcome
	some     bool          // at least one item has an outcome
}

// queue is the queue of one name.
type queue[T Item] struct {
	waiting  []pending[T]
	weight   int  // of waiting
	inFlight int  // batches, without slow ones
	slow     int  // batches that take longer than Queues.SlowAfter
	sent     bool // the latest batch has its place on the connection
	gone     bool // groups that have given up may be among those that wait
}

// Queues holds a queue of items for each name. A queue has a goroutine for each batch in flight, which may be that of the caller of a
// read, and none without one. Commit, Wait and Waiting may be called concurrently. The caller sets Call
// and Timeout before the first Commit.
type Queues[T Item] struct {
	// Call carries out items of one name, and stores the outcome in each of them. With an
	// error no outcome is known, and Queues calls Fail on each item. Call calls sent at most
	// once: when a later Call for the name may begin, because Redis will receive its items
	// later.
	Call    func(ctx context.Context, name string, items []T, sent func()) error
	Timeout time.Duration // of one Call
	// MaxWeight is the weight of the items with which a batch ends. Default: the constant MaxWeight.
	MaxWeight int
	// LargeWeight is MaxWeight for a batch that begins with a group of more than MaxWeight. Such a
	// group is never in two batches in flight, so it gains by larger ones. Default: MaxWeight.
	LargeWeight int
	// MaxWaiting is the greatest weight of the items that wait in one queue. Commit refuses further items at once.
	// Default 8,192.
	MaxWaiting int
	// Reads says that the items change nothing, so that one need not be carried out. A caller that finds its queue empty makes its
	// call itself, within its own context: another goroutine would cost a fifth of the CPU of a read. A caller whose context ends
	// takes its items back. The items that wait fail with a call before them only if it has timed out. Default: writes.
	Reads bool
	// InFlight is the greatest number of batches of a name in flight, without slow ones. Default 2.
	InFlight int
	// Second is the least weight that must wait before a batch goes out while another one is in
	// flight. Small batches cost more CPU for each item. Default 16.
	Second int
	// SlowAfter is the time after which a batch that has its place on the connection no longer
	// keeps later batches back; at most maxSlow batches of a name are so. Default: never.
	SlowAfter time.Duration

	mu      sync.Mutex
	queues  map[string]*queue[T] // by name; an entry exists while a batch is in flight
	running sync.WaitGroup
}

// Wait returns when no call is under way and no item waits.
func (q *Queues[T]) Wait() { q.running.Wait() }

// Waiting is the weight of the items that wait in the queue of a name, without those in a call.
func (q *Queues[T]) Waiting(name string) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	if of := q.queues[name]; of != nil {
		return of.weight
	}
	return 0
}

// Commit hands over the items and waits for their outcomes. It returns nil when at least one
// item has an outcome, and the error of Call when no item has one. The error of items that were not
// carried out, because the Call before them failed, is not ErrOutcomeUnknown. Commit returns
// definition.ErrOverloaded when the items do not fit into the queue; then none is carried out.
// When ctx ends first, Commit returns definition.ErrUnavailable and ErrOutcomeUnknown, and the
// items are still carried out, unless they are reads.
func (q *Queues[T]) Commit(ctx context.Context, name string, items []T) error {
	if len(items) == 0 {
		return nil
	}
	if q.Reads && ctx.Err() != nil {
		return fmt.Errorf("%w: %w", definition.ErrUnavailable, ctx.Err())
	}
	g := &group{left: len(items), done: make(chan struct{})}
	for _, i := range items {
		g.waiting += i.Weight()
	}
	q.mu.Lock()
	of := q.queues[name]
	if of == nil {
		of = &queue[T]{sent: true}
		if q.queues == nil {
			q.queues = make(map[string]*queue[T])
		}
		q.queues[name] = of
	}
	if of.weight+g.waiting > cmp.Or(q.MaxWaiting, MaxWaiting) {
		q.mu.Unlock()
		return fmt.Errorf("%w: as much is waiting already as may; send again later", definition.ErrOverloaded)
	}
	for _, i := range items {
		of.waiting = append(of.waiting, pending[T]{i, g})
	}
	of.weight += g.waiting
	if q.Reads && of.inFlight+of.slow == 0 {
		batch := q.take(of)
		q.running.Add(1)
		q.mu.Unlock()
		q.flush(ctx, name, of, batch)
	} else {
		q.start(name, of)
		q.mu.Unlock()
	}
	select {
	case <-g.done: // also if ctx has ended during the caller's own call
		return g.err
	default:
	}
	select {
	case <-g.done:
		return g.err
	case <-ctx.Done():
		q.giveUp(of, g)
		return fmt.Errorf("%w: %w: %w", definition.ErrUnavailable, definition.ErrOutcomeUnknown, ctx.Err())
	}
}

// giveUp takes the items of a caller back, if they need not be carried out.
func (q *Queues[T]) giveUp(of *queue[T], g *group) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.Reads && g.left > 0 { // else the answer came meanwhile
		g.gone, of.gone = true, true
		of.weight -= g.waiting
	}
}

// start flushes the next batch in a goroutine, if one may go out now. The caller holds q.mu.
func (q *Queues[T]) start(name string, of *queue[T]) {
	if batch := q.take(of); batch != nil {
		// The call has a context of its own, so that a caller that gives up does not cancel the items of others.
		q.running.Add(1)
		go q.flush(context.Background(), name, of, batch)
	}
}

// flush makes the call for a batch, which q.running counts, within ctx. It then starts the next batch, also if Call panics.
func (q *Queues[T]) flush(ctx context.Context, name string, of *queue[T], batch []pending[T]) {
	defer q.running.Done()
	items := make([]T, len(batch))
	for i, p := range batch {
		items[i] = p.item
	}
	within, cancel := context.WithTimeout(ctx, q.Timeout)
	defer cancel()
	passed, slow := false, false // the next batch may have begun; the batch counts as slow
	var late *time.Timer
	err := errPanicked // unless Call returns
	defer func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		if late != nil {
			late.Stop()
			late = nil
		}
		if !passed {
			of.sent = true
		}
		if slow {
			of.slow--
		} else {
			of.inFlight--
		}
		for _, p := range batch {
			p.group.inFlight--
		}
		answer(batch, err)
		// The items behind fail too, instead of one timeout after the other. A read fails by a timeout alone: of Redis, not of its caller.
		if err != nil && (!q.Reads || ctx.Err() == nil && definition.IsTimeout(err)) {
			answer(of.waiting, notSent(err))
			of.waiting, of.weight = nil, 0
		}
		q.start(name, of)
		if of.inFlight+of.slow == 0 {
			delete(q.queues, name)
		}
	}()
	err = q.Call(within, name, items, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		passed, of.sent = true, true
		if q.SlowAfter > 0 {
			late = time.AfterFunc(q.SlowAfter, func() {
				q.mu.Lock()
				defer q.mu.Unlock()
				if late != nil && of.slow < maxSlow {
					slow = true
					of.slow++
					of.inFlight--
					q.start(name, of)
				}
			})
		}
		q.start(name, of)
	})
}

// errPanicked is the error of a call that panicked.
var errPanicked = fmt.Errorf("%w: the call panicked", definition.ErrUnavailable)

// take removes the next batch from a queue. It returns nil when none may go out now. A batch ends
// before a group that fits only into the next one, so that the next one need not wait for the
// rest of that group. The caller holds q.mu.
func (q *Queues[T]) take(of *queue[T]) []pending[T] {
	if of.gone {
		of.waiting = slices.DeleteFunc(of.waiting, func(p pending[T]) bool { return p.group.gone })
		of.gone = false
	}
	most := cmp.Or(q.MaxWeight, MaxWeight)
	if !of.sent || of.inFlight == cmp.Or(q.InFlight, defaultInFlight) || len(of.waiting) == 0 ||
		of.inFlight > 0 && of.weight < cmp.Or(q.Second, defaultSecond) {
		return nil
	}
	if of.waiting[0].group.waiting > most {
		most = max(most, q.LargeWeight)
	}
	size, weight, bytes := 0, 0, 0
	var last *group
	for size < len(of.waiting) && weight < most && bytes < MaxBytes {
		next := of.waiting[size]
		if g := next.group; g != last {
			if g.inFlight > 0 || size > 0 && g.waiting <= most && weight+g.waiting > most {
				break
			}
			last = g
		}
		weight += next.item.Weight()
		bytes += next.item.Bytes()
		size++
	}
	if size == 0 {
		return nil
	}
	batch := of.waiting[:size:size]
	for _, p := range batch {
		p.group.inFlight++
		p.group.waiting -= p.item.Weight()
	}
	of.waiting, of.weight = of.waiting[size:], of.weight-weight
	of.inFlight++
	of.sent = false
	return batch
}

// notSent is the error of items that waited while a call ended with err: none of them was carried out.
func notSent(err error) error {
	if !errors.Is(err, definition.ErrOutcomeUnknown) {
		return err
	}
	return fmt.Errorf("%w: not sent, because the call before ended with: %v", definition.ErrUnavailable, err)
}

// answer completes the items of a batch, and wakes the callers whose items are all answered. The
// caller holds Queues.mu.
func answer[T Item](batch []pending[T], err error) {
	for _, p := range batch {
		g := p.group
		if err != nil {
			if g.err == nil || errors.Is(err, definition.ErrOutcomeUnknown) {
				g.err = err // of no item more is known than of the group
			}
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
