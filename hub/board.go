package hub

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"rankcast/hub/view"
	"rankcast/ranking"
)

const (
	// boardChanges bounds the batches that wait for a board's goroutine.
	boardChanges = 1024
	// boardEvents bounds what else does; the sender waits.
	boardEvents = 4
	// retryMin and retryMax bound the pause after a read that failed;
	// resyncJitter spreads the boards and nodes that read anew because of one event.
	retryMin     = 50 * time.Millisecond
	retryMax     = 2 * time.Second
	resyncJitter = 50 * time.Millisecond
	// auditMembers is how many followed members an audit compares.
	auditMembers = 64
)

// What a board's goroutine is told, beside changes and what a seq check found.
type (
	feedSubscribed struct{ outages int } // the feed hears the board from now on
	feedDown       struct{}              // the feed has gone down
)

// board is a goroutine that owns the view of one board, as named.
type board struct {
	hub      *Hub
	name     string // as clients name it, and in frames
	instance string // whose changes are heard
	ctx      context.Context
	cancel   context.CancelFunc

	streamSet // guarded by hub.mu

	changedMu       sync.Mutex
	changedProfiles map[profileKey]bool // whose profiles have changed since the goroutine looked

	changes        chan *ranking.Changes
	events         chan any
	streamsChanged chan struct{} // streams have come or gone; holds one
	position       atomic.Pointer[checkPosition]

	// The rest belongs to run.
	view            *view.View
	streamsOf       map[*view.Member][]*stream // the streams of each followed member
	generation      uint64                     // counts the lives of the board that the view has shown, periods among them
	kind            string                     // of the members, as the last page or check told
	profiles        boardProfiles
	nameState       // which period the name means
	pageFetch       fetch[ranking.Page]
	lookupFetch     fetch[ranking.Places]
	profileFetch    fetch[profileResult]
	feedLive        bool           // the feed hears the board
	outages         int            // of the feed, when it began to
	pageApplied     bool           // a page was read since the last publish
	recovering      bool           // and published, but not all followed members are known again
	dirty           bool           // the view has news to publish
	ranksDirty      bool           // ranks may have changed since all were told
	ranksCursor     *view.OrderKey // where to go on telling them; nil: all were told
	publication     *publication   // what was published last
	publishedAt     time.Time
	ranksNotifiedAt time.Time // when all ranks were
	updated         []*stream // of members, that were told something in this step
	auditedAt       time.Time
	redisAhead      *ranking.State // where the last check saw Redis, if the view was not there
	timer           *time.Timer
}

func newBoard(h *Hub, named ranking.Board) *board {
	b := &board{
		hub: h, name: named.Name, instance: named.Instance, streamSet: newStreamSet(),
		view: view.New(0), streamsOf: make(map[*view.Member][]*stream), generation: 1, nameState: newNameState(named),
		changes: make(chan *ranking.Changes, boardChanges), events: make(chan any, boardEvents),
		streamsChanged: make(chan struct{}, 1), changedProfiles: make(map[profileKey]bool),
	}
	b.position.Store(&checkPosition{})
	b.ctx, b.cancel = context.WithCancel(h.ctx)
	return b
}

// sendEvent passes an event on; it waits for room, which a live goroutine soon makes.
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
					b.resolved = false // a page will tell what has become of it
				} else if b.view.AwaitsUnknown() { // else all that is shown is right
					b.hub.markUnsynced(b)
				}
				b.view.CancelLookups()
			}
		case p := <-b.profileFetch.result:
			if !b.profileFetch.complete(b, p) {
				b.applyPartialProfiles(p.value) // all else that is shown is right
			}
		case <-b.streamsChanged:
		case <-b.drained:
			b.draining, b.drained = false, nil
		case <-b.timer.C:
		}
		b.step(time.Now())
	}
}

// apply gives the view a batch, and all that wait behind it: they go out in one frame.
func (b *board) apply(c *ranking.Changes) {
	for {
		if b.isRelevant(c) && b.view.Apply(c) {
			b.prefetchProfiles(c)
			b.dirty, b.ranksDirty = true, true
			if b.view.Final() { // it is not, or not any more
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
			b.resolved = false // look again
		} else if e.redis.Kind != "" && e.before.period == b.period {
			b.kind = e.redis.Kind // a page that is to come with another is an audit away
		}
	}
}

// resetView makes the view unsure, and unwelcome what is being read: it may miss
// changes that nobody heard.
func (b *board) resetView() {
	b.view.Reset()
	b.dropPage()
	b.lookupFetch.drop()
	b.redisAhead, b.pageFetch.notBefore, b.lookupFetch.notBefore = nil, time.Time{}, time.Time{}
}

// step does what has come due: take in what was read, show what is new, read what
// is missing.
func (b *board) step(now time.Time) {
	tops := b.syncStreams()
	b.view.Resize(b.largestTop(tops))
	var wait time.Duration // until there is more to do; 0: nothing is due
	// isDue remembers to come back for what is not due yet.
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
	if !b.pageApplied { // else the entries go first: they may be of another life
		b.notifyFound()
		// After what was published: then both are as of one seq.
		if b.view.Valid() && (b.ranksCursor != nil || b.ranksDirty && !b.dirty && isDue(b.ranksNotifiedAt.Add(b.hub.cfg.MeInterval))) {
			if b.notifyRanks(now); b.ranksCursor != nil {
				isDue(now.Add(1)) // as soon as there was a look at what has come in
			}
		}
	}
	if b.feedLive && b.period != "" && b.view.LookupsQueued() {
		if isDue(b.lookupFetch.notBefore) {
			b.fetchLookups()
		}
	} else if b.lookupFetch.idle() && b.lookupFetch.failed() {
		b.lookupsDone() // what could not be read is not needed any more
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
