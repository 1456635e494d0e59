package hub

import (
	"sync"
	"time"

	"rankcast/ranking/feed"
)

// boardChanges is the most batches that wait for a board's turn, unless the first has come within boardDelay: each shard of a fast board
// may have a batch a millisecond. A board that misses a batch resyncs.
const (
	boardChanges = 1024
	boardDelay   = time.Second
)

// inbox collects what other goroutines have for a board, until its next turn takes it. No
// sender waits. mu guards all of it.
type inbox struct {
	mu sync.Mutex
	streamSet
	work     work
	position checkPosition // of the view, after the last turn

	pending urgency          // of what has come since the last turn
	queued  [urgent + 1]bool // the hub's pool holds a turn of that urgency
	running bool             // a turn is under way
	stopped bool             // the last watcher has left
}

// work is what a turn has to act on.
type work struct {
	changes      []*feed.Changes     // bounded by boardChanges and boardDelay
	events       []any               // few: each has a cause that takes longer than a turn
	profiles     map[profileKey]bool // whose profile has changed
	members      []*stream           // of members: streams added or removed, in order
	largeCallers []any               // those who wait for a page that needs a permit
}

// Events of a board.
type (
	// linkChanged says whether the feed delivers the changes of a channel of the board from now on; "" stands for all.
	linkChanged struct {
		channel string
		feedLink
	}
	// profilesForgotten says that changes of profiles may be lost.
	profilesForgotten struct{}
	// clockSet says that Redis's clock was set: what the board knows of the end of a period is wrong.
	clockSet struct{}
	// finalsSent says that the shards have sent the final standings beside a publication.
	finalsSent struct{ of *publication }
)

// post adds to the work of the next turn, and queues that turn. After the last turn there is
// none.
func (b *board) post(level urgency, add func(*work)) {
	b.mu.Lock()
	add(&b.work)
	b.pending = max(b.pending, level)
	level = b.claimTurn()
	b.mu.Unlock()
	b.queueTurn(level)
}

// postEvent passes an event to the next turn.
func (b *board) postEvent(level urgency, event any) {
	b.post(level, func(w *work) { w.events = append(w.events, event) })
}

// wake queues a turn.
func (b *board) wake(level urgency) { b.post(level, func(*work) {}) }

// stop makes the next turn the last one.
func (b *board) stop() { b.post(normal, func(*work) { b.stopped = true }) }

// claimTurn returns the urgency of the turn that the caller passes to queueTurn once it has
// released mu; idle if the pool has such a turn already, or one is under way.
func (b *board) claimTurn() urgency {
	level := b.pending
	if b.running || level == idle || b.queued[level] {
		return idle
	}
	b.queued[level] = true
	return level
}

func (b *board) queueTurn(level urgency) {
	if level != idle {
		b.hub.turns.push(level, b.callers.inLines(), func() { b.turn(level) })
	}
}

// turn takes what is in the inbox and acts on it. Turns of one board never run at the same
// time. A turn that finds nothing to do is one that a more urgent turn has overtaken.
func (b *board) turn(level urgency) {
	b.mu.Lock()
	b.queued[level] = false
	if b.running || b.pending == idle {
		b.mu.Unlock()
		return
	}
	b.running, b.pending = true, idle
	todo, stopped := b.work, b.stopped
	b.work, b.shown = work{}, b.tops
	b.mu.Unlock()

	if !b.begun { // before any other turn can find it synced
		b.begun = true
		b.hub.status.begin(&b.mark)
	}
	if stopped {
		b.end()
		return // running stays true: there is no further turn
	}
	b.do(todo)

	b.mu.Lock()
	b.running = false
	b.position = b.currentPosition()
	level = b.claimTurn()
	b.mu.Unlock()
	b.queueTurn(level)
}

// isStopped reports whether the last watcher has left.
func (b *board) isStopped() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.stopped
}
