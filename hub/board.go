package hub

import (
	"errors"
	"math/rand/v2"
	"time"

	"rankcast/hub/view"
	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/feed"
)

const (
	// retryMin and retryMax bound the backoff after a failed read. resyncJitter spreads the
	// reads of boards and nodes that resync for the same reason.
	retryMin     = 50 * time.Millisecond
	retryMax     = 2 * time.Second
	resyncJitter = 50 * time.Millisecond
	// verifiedMembers is the number of followed members that a verification compares.
	verifiedMembers = 64
)

// syncState says how far what clients see of a board follows Redis.
type syncState int

const (
	// unsynced: no page has been published since changes were lost or a read failed.
	unsynced syncState = iota
	// recovering: a page was published. Some followed members are not known yet, or the name
	// has come to mean another period.
	recovering
	// live: clients see the current state, and each change moves it.
	live
	// ending: the final entries of a period were published. The followers get their final
	// standings before the next period is shown.
	ending
)

// board owns the view of one board, by name. It has no goroutine: when its inbox has
// something, the hub's pool runs a turn.
type board struct {
	hub      *Hub
	name     string // as clients and frames name the board
	instance string
	index    int      // in hub.order; guarded by hub.mu
	channels []string // by which the feed knows the instance, or its shards by number; guarded by hub.mu
	callers  callers
	phase    time.Time // when its slots began, see slotAfter
	mark     syncMark

	inbox

	// Only a turn accesses the rest.
	begun     bool // there was a turn
	view      *view.View
	shown     []*stream                  // of the top, by N
	streamsOf map[*view.Member][]*stream // of each followed member; nil: none
	state     syncState
	links     []feedLink         // to each channel
	link      feedLink           // to all of them together
	kind      string             // of the members, as in the last page or seq check
	columns   definition.Columns // of the scores, as in the last page
	profiles  boardProfiles
	nameState // the period that the name means

	pageFetch    fetch[ranking.Page]
	large        largePage
	lookupFetch  fetch[ranking.Places]
	profileFetch fetch[profileResult]
	verification verification
	redisAhead   *seqChecked // the last seq check, if the view had not reached what it found

	generation  uint64       // counts the epochs and periods that the view has shown
	publication *publication // the last one
	publishedAt time.Time
	changedAt   time.Time // when the oldest change since then was made, by Redis's clock; zero: none
	dirty       bool      // the view has changed since then
	pageToShow  bool      // a page was applied since then: it goes out before any standing
	ranks       rankRun   // of the members' standings
	updated     []*stream // streams with a new version in this turn
	flushing    bool      // the shards are sending the final standings
	timer       *time.Timer
}

func newBoard(h *Hub, named ranking.Board, phase time.Time, caller any) *board {
	b := &board{
		hub: h, name: named.Name, instance: named.Instance, phase: phase,
		view: view.New(0), generation: 1, nameState: newNameState(named),
	}
	b.callers.init(caller)
	return b
}

// do acts on what has come since the last turn, and does all that is due.
func (b *board) do(w work) {
	b.applyChanges(w.changes)
	for _, event := range w.events {
		b.handleEvent(event)
	}
	b.syncMembers(w.members)
	b.addLargeCallers(w.largeCallers)
	b.step(time.Now(), w.profiles)
}

// end is the last turn.
func (b *board) end() {
	b.resetProfiles()
	b.endLarge()
	if b.timer != nil {
		b.timer.Stop()
	}
	b.hub.status.end(&b.mark)
}

// applyChanges applies the batches that have arrived: one frame shows them together.
func (b *board) applyChanges(list []*feed.Changes) {
	for _, c := range list {
		if !b.isRelevant(c) {
			continue
		}
		if c.Freeze { // a page tells whether it is frozen, and whether it is final now
			b.freezeAt, b.resolved = ranking.State{Epoch: c.Epoch, Seq: c.Seq}, false
		}
		was := b.view.Valid()
		if b.view.Apply(c) {
			b.changedAt = earlier(b.changedAt, c.At)
			b.prefetchProfiles(c)
			b.dirty, b.ranks.dirty = true, true
			if b.view.Final() { // a final period does not change: it is not final, or not any more
				b.countResync(resyncReopened)
				b.view.Invalidate()
			}
		} else if was && !b.view.Valid() {
			reason := reasonOf(c)
			if b.countResync(reason); reason == resyncGap {
				b.hub.noteResync("board", b.name, "view", b.view.State(), "changes_from", c.Seq)
			}
		}
	}
}

// reasonOf is why a batch made a view invalid.
func reasonOf(c *feed.Changes) resyncReason {
	if len(c.List) == 0 && !c.Freeze {
		return resyncReplaced
	}
	return resyncGap
}

// countResync counts that a view that was valid is to be read again.
func (b *board) countResync(reason resyncReason) { b.hub.metrics.resyncs[reason].Inc() }

func (b *board) handleEvent(event any) {
	switch e := event.(type) {
	case linkChanged:
		b.changeLink(e)
		b.resetView()
	case seqChecked:
		if b.checkSeq(e); b.missing {
			b.resolved = false // read the name again
		} else if e.redis.Kind != "" && e.before.period == b.period {
			b.kind = e.redis.Kind // a page with another kind arrives at the next verification at the latest
		}
	case *fetchResult[ranking.Page]:
		if !b.pageFetch.isCurrent(e) {
			return
		}
		switch {
		case e.err == nil && len(e.value.Shards) != b.shards():
			b.watchShards(len(e.value.Shards))
		case isNotFound(e.err):
			b.pageNotFound(e)
		case e.err != nil && b.large.reading:
			b.largePageFailed()
		case !b.pageFetch.complete(b, e):
			b.pageFailed(e.err)
		}
	case permitGivenEvent:
		b.large.given = e.permit == b.large.permit
	case *fetchResult[ranking.Places]:
		if b.lookupFetch.isCurrent(e) && !b.lookupFetch.complete(b, e) {
			b.lookupsFailed(e.err)
		}
	case *fetchResult[profileResult]:
		if b.profileFetch.isCurrent(e) && !b.profileFetch.complete(b, e) {
			b.applyPartialProfiles(e.value) // all else that clients see is right
		}
	case profilesForgotten:
		if b.link.live {
			b.refreshProfiles()
		}
	case clockSet:
		if !b.rolloverDue.IsZero() {
			b.rolloverDue = time.Now().Add(rand.N(clockJitter))
		}
	case finalsSent:
		if e.of == b.publication && b.state == ending {
			b.endDrain()
		}
	}
}

// resetView makes the view invalid and drops the reads under way: changes may have been
// lost.
func (b *board) resetView() {
	if b.view.Valid() {
		b.countResync(resyncFeed)
	}
	b.view.Reset()
	b.dropPage()
	b.lookupFetch.drop()
	b.redisAhead, b.pageFetch.notBefore, b.lookupFetch.notBefore = nil, time.Time{}, time.Time{}
}

// pageFailed handles a failed read of a page. Clients do not become stale while a result has yet to
// be built, if they see nothing of the board, or its present result.
func (b *board) pageFailed(err error) {
	if errors.Is(err, definition.ErrNotBuilt) && (b.publication == nil || b.view.Valid()) {
		b.view.CancelPage()
	} else {
		b.markUnsynced()
	}
}

// markUnsynced notes that Redis could not be read, and drops the page that may be older
// than the failure.
func (b *board) markUnsynced() {
	b.hub.status.lost(&b.mark)
	b.dropPage()
}

// markSynced notes that clients see the current state.
func (b *board) markSynced() {
	b.state = live
	b.hub.status.syncedAfter(&b.mark, b.link.outage)
}

// step does all that is due: it applies answers, publishes, and starts reads.
func (b *board) step(now time.Time, changed map[profileKey]bool) {
	b.view.Resize(b.viewSize())
	due := &schedule{now: now}
	b.applyAnswers(due)
	b.loadProfiles(due, changed)
	b.startStreams()
	b.view.Resize(b.viewSize()) // a stream that has started may be the largest one
	b.publishDue(due)
	b.notifyDue(due)
	b.readDue(due)
	b.hub.announce(b.updated...)
	b.updated = b.updated[:0]
	b.drain(due)
	if b.state == recovering && !b.pageToShow && b.resolved && !b.lookupFetch.failed() && b.view.Recovered() {
		b.markSynced()
	}
	if !b.rolloverDue.IsZero() && due.has(b.rolloverDue) {
		b.resolved, b.rolloverDue = false, time.Time{}
	}
	ready, ok := b.readyTop()
	if b.link.live && ok && !b.view.PagePending() && b.pageDue(due, ready) {
		b.fetchPage()
	}
	b.stepLarge(due, ready)
	b.setTimer(due)
}

// schedule collects what a turn has to do later.
type schedule struct {
	now  time.Time
	wait time.Duration // until the first of it is due; 0: nothing is
}

// has reports whether a time has come. Otherwise the board gets a turn at that time.
func (s *schedule) has(at time.Time) bool {
	d := at.Sub(s.now)
	if d > 0 && (s.wait == 0 || d < s.wait) {
		s.wait = d
	}
	return d <= 0
}

// setTimer queues a turn for when more is due.
func (b *board) setTimer(due *schedule) {
	if due.wait == 0 {
		return
	}
	if b.timer == nil {
		b.timer = time.AfterFunc(due.wait, func() { b.wake(urgent) }) // what is due is a frame, mostly
	} else {
		b.timer.Reset(due.wait)
	}
}
