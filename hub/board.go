package hub

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"rankcast/hub/view"
	"rankcast/ranking"
	"rankcast/ranking/feed"
)

const (
	// boardChanges is the most batches that wait for a board's goroutine. A board that
	// misses one resyncs.
	boardChanges = 1024
	// boardEvents is the most other events that wait. The sender of a further one waits.
	boardEvents = 4
	// retryMin and retryMax bound the backoff after a failed read. resyncJitter spreads the
	// reads of boards and nodes that resync for the same reason.
	retryMin     = 50 * time.Millisecond
	retryMax     = 2 * time.Second
	resyncJitter = 50 * time.Millisecond
	// verifiedMembers is the number of followed members that a verification compares.
	verifiedMembers = 64
)

// Events of a board's goroutine, beside changes and seqChecked.
type (
	feedSubscribed struct{ outages int } // the feed delivers the board's changes from now on
	feedDown       struct{}              // the feed has gone down
)

// board is a goroutine that owns the view of one board, by name.
type board struct {
	hub      *Hub
	name     string // as clients and frames name the board
	instance string // the feed delivers its changes
	ctx      context.Context
	cancel   context.CancelFunc

	streamSet // guarded by hub.mu

	changedMu       sync.Mutex
	changedProfiles map[profileKey]bool // changed since the goroutine last looked

	changes        chan *feed.Changes
	events         chan any
	streamsChanged chan struct{} // streams or profiles have changed; holds one
	position       atomic.Pointer[checkPosition]

	// Only run accesses the rest.
	view            *view.View
	streamsOf       map[*view.Member][]*stream // of each followed member
	generation      uint64                     // counts the epochs and periods that the view has shown
	kind            string                     // of the members, as in the last page or seq check
	profiles        boardProfiles
	nameState       // the period that the name means
	pageFetch       fetch[ranking.Page]
	lookupFetch     fetch[ranking.Places]
	profileFetch    fetch[profileResult]
	feedLive        bool           // the feed delivers the board's changes
	outages         int            // of the feed, at the last feedSubscribed
	pageApplied     bool           // a page was applied since the last publication
	recovering      bool           // then published, but not all followed members are known yet
	dirty           bool           // the view has changed since the last publication
	ranksDirty      bool           // ranks may have changed since notifyRanks last began
	ranksCursor     *view.OrderKey // where notifyRanks goes on; nil: it is done
	publication     *publication   // the last one
	publishedAt     time.Time
	ranksNotifiedAt time.Time // when notifyRanks last began
	updated         []*stream // streams of members with a new version in this step
	verifiedAt      time.Time
	redisAhead      *ranking.State // the state that the last seq check found, if the view had not reached it
	timer           *time.Timer
}

func newBoard(h *Hub, named ranking.Board) *board {
	b := &board{
		hub: h, name: named.Name, instance: named.Instance, streamSet: newStreamSet(),
		view: view.New(0), streamsOf: make(map[*view.Member][]*stream), generation: 1, nameState: newNameState(named),
		changes: make(chan *feed.Changes, boardChanges), events: make(chan any, boardEvents),
		streamsChanged: make(chan struct{}, 1), changedProfiles: make(map[profileKey]bool),
	}
	b.position.Store(&checkPosition{})
	b.ctx, b.cancel = context.WithCancel(h.ctx)
	return b
}

// sendEvent passes an event to the goroutine. It waits for room, which a running goroutine
// soon makes.
func (b *board) sendEvent(event any) {
	select {
	case b.events <- event:
	case <-b.ctx.Done():
	}
}

func (b *board) run() {
	defer b.cancel()
	defer b.resetProfiles()
	b.timer = time.NewTimer(0)
	defer b.timer.Stop()
	for {
		select {
		case <-b.ctx.Done():
			return
		case c := <-b.changes:
			b.apply(c)
		case e := <-b.events:
			b.handleEvent(e)
		case p := <-b.pageFetch.result:
			if isNotFound(p.err) {
				b.pageNotFound(p)
			} else if !b.pageFetch.complete(b, p) {
				b.hub.markUnsynced(b)
				b.dropPage()
			}
		case p := <-b.lookupFetch.result:
			if !b.lookupFetch.complete(b, p) {
				if isNotFound(p.err) {
					b.resolved = false // a page will tell whether the period still exists
				} else if b.view.AwaitsUnknown() { // otherwise all that clients see is right
					b.hub.markUnsynced(b)
				}
				b.view.CancelLookups()
			}
		case p := <-b.profileFetch.result:
			if !b.profileFetch.complete(b, p) {
				b.applyPartialProfiles(p.value) // all else that clients see is right
			}
		case <-b.streamsChanged:
		case <-b.drained:
			b.draining, b.drained = false, nil
		case <-b.timer.C:
		}
		b.step(time.Now())
	}
}

// apply applies a batch, and all batches that wait behind it: one frame shows them
// together.
func (b *board) apply(c *feed.Changes) {
	for {
		if b.isRelevant(c) && b.view.Apply(c) {
			b.prefetchProfiles(c)
			b.dirty, b.ranksDirty = true, true
			if b.view.Final() { // a final period does not change: it is not final, or not any more
				b.view.Invalidate()
			}
		}
		select {
		case c = <-b.changes:
		default:
			return
		}
	}
}

func (b *board) handleEvent(event any) {
	switch e := event.(type) {
	case feedSubscribed:
		b.feedLive, b.outages = true, e.outages
		b.resetView()
		b.refreshProfiles()
	case feedDown:
		b.feedLive = false
		b.resetView()
	case seqChecked:
		if b.checkSeq(e); b.missing {
			b.resolved = false // read the name again
		} else if e.redis.Kind != "" && e.before.period == b.period {
			b.kind = e.redis.Kind // a page with another kind arrives at the next verification at the latest
		}
	}
}

// resetView makes the view invalid and drops the reads under way: changes may have been
// lost.
func (b *board) resetView() {
	b.view.Reset()
	b.dropPage()
	b.lookupFetch.drop()
	b.redisAhead, b.pageFetch.notBefore, b.lookupFetch.notBefore = nil, time.Time{}, time.Time{}
}

// step does all that is due: it applies answers, publishes, and starts reads.
func (b *board) step(now time.Time) {
	tops := b.syncStreams()
	b.view.Resize(b.largestTop(tops))
	var wait time.Duration // until more is due; 0: no timer is needed
	// isDue reports whether a time has come, and otherwise sets the timer for it.
	isDue := func(at time.Time) bool {
		d := at.Sub(now)
		if d > 0 && (wait == 0 || d < wait) {
			wait = d
		}
		return d <= 0
	}
	b.applyAnswers(now, isDue)
	b.loadProfiles(isDue)
	b.storePosition()
	b.startStreams(tops)
	if b.dirty && b.view.Covers(b.largestPublishedTop(tops)) && (b.rolledOver() || isDue(b.publishedAt.Add(b.hub.cfg.Interval))) && b.profilesReady(&b.profiles.waitingSince, isDue, b.eachTopMember) {
		b.publish(tops, now)
	} else if b.publishAsEnd {
		b.publishStreams(b.publication.asFinal(), tops, now)
	}
	if !b.pageApplied { // otherwise the top goes first: the page may be of another generation
		b.notifyFound()
		// After the publication: both are then as of one seq.
		if b.view.Valid() && (b.ranksCursor != nil || b.ranksDirty && !b.dirty && isDue(b.ranksNotifiedAt.Add(b.hub.cfg.MeInterval))) {
			if b.notifyRanks(now); b.ranksCursor != nil {
				isDue(now.Add(1)) // the goroutine first takes the events that wait
			}
		}
	}
	if b.feedLive && b.period != "" && b.view.LookupsQueued() {
		if isDue(b.lookupFetch.notBefore) {
			b.fetchLookups()
		}
	} else if b.lookupFetch.idle() && b.lookupFetch.failed() {
		b.lookupsDone() // the lookup that failed is not needed any more
	}
	if b.feedLive && b.profileFetch.idle() && b.profiles.needsFetch() && isDue(b.profileFetch.notBefore) {
		b.fetchProfiles()
	}
	b.hub.announce(b.updated...)
	b.updated = b.updated[:0]
	b.drain(isDue)
	if b.recovering && !b.pageApplied && b.resolved && b.view.Recovered() {
		b.recovering = false
		b.hub.markSynced(b)
	}
	if !b.rolloverDue.IsZero() && isDue(b.rolloverDue) {
		b.resolved, b.rolloverDue = false, time.Time{}
	}
	if b.feedLive && !b.view.PagePending() && isDue(b.pageDue(now)) {
		b.fetchPage()
	}
	if wait > 0 {
		b.timer.Reset(wait)
	}
}
