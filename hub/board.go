package hub

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"rankcast/ranking"
)

const (
	// boardChanges bounds the batches that wait for a board's goroutine.
	boardChanges = 256
	// boardEvents bounds what else does; the sender waits.
	boardEvents = 4
	// readAgainFirst and readAgainMost bound the pause after a page that could
	// not be read; resyncJitter spreads the boards and nodes that read anew
	// because of one event.
	readAgainFirst = 50 * time.Millisecond
	readAgainMost  = 2 * time.Second
	resyncJitter   = 50 * time.Millisecond
)

// What a board's goroutine is told, beside changes.
type (
	subscribed struct{ outages int } // the feed hears the board from now on
	unheard    struct{}              // the feed has gone down
	checked    struct {              // what a seq check found
		redis  ranking.BoardState // where the board is
		before ranking.State      // where the view was before that was asked
	}
)

// board is a goroutine that owns the view of one watched board.
type board struct {
	hub    *Hub
	def    ranking.Definition
	name   string
	ctx    context.Context
	cancel context.CancelFunc

	streams map[int]*stream // by N; guarded by hub.mu

	changes chan *ranking.Changes
	events  chan any
	pages   chan pageRead // of the page being read, else nil
	streamy chan struct{} // streams has changed; holds one
	at      atomic.Pointer[ranking.State]

	// The rest belongs to run.
	view      *View
	heard     bool   // the feed hears the board
	outages   int    // of the feed, when it began to
	renewed   bool   // a page was read since the last publish
	moved     bool   // the view has news to publish
	shown     *shown // what was published last
	published time.Time
	backoff   time.Duration
	readAfter time.Time
	audited   time.Time
	doubted   *ranking.State // where the last check saw Redis, if the view was not there
	timer     *time.Timer
}

// pageRead is what came of reading a page.
type pageRead struct {
	page ranking.Page
	err  error
}

func newBoard(h *Hub, d ranking.Definition) *board {
	b := &board{
		hub: h, def: d, name: d.Board, streams: make(map[int]*stream), view: NewView(d.Order, 0),
		changes: make(chan *ranking.Changes, boardChanges), events: make(chan any, boardEvents),
		streamy: make(chan struct{}, 1),
	}
	b.at.Store(&ranking.State{})
	b.ctx, b.cancel = context.WithCancel(h.ctx)
	return b
}

// tell passes an event on; it waits for room, which a live goroutine soon makes.
func (b *board) tell(event any) {
	select {
	case b.events <- event:
	case <-b.ctx.Done():
	}
}

// poke says that streams has changed.
func (b *board) poke() {
	select {
	case b.streamy <- struct{}{}:
	default:
	}
}

func (b *board) run() {
	defer b.cancel()
	b.timer = time.NewTimer(0)
	defer b.timer.Stop()
	for {
		select {
		case <-b.ctx.Done():
			return
		case c := <-b.changes:
			b.apply(c)
		case e := <-b.events:
			b.take(e)
		case p := <-b.pages:
			b.pageRead(p)
		case <-b.streamy:
		case <-b.timer.C:
		}
		b.step(time.Now())
	}
}

// apply gives the view a batch, and all that wait behind it: they go out in one frame.
func (b *board) apply(c *ranking.Changes) {
	for {
		if b.view.Apply(c) {
			b.moved = true
		}
		select {
		case c = <-b.changes:
		default:
			return
		}
	}
}

func (b *board) take(event any) {
	switch e := event.(type) {
	case subscribed:
		b.heard, b.outages = true, e.outages
		b.forget()
	case unheard:
		b.heard = false
		b.forget()
	case checked:
		b.check(e)
	}
}

// forget makes the view unsure, and the page unwelcome that is being read: it
// may miss changes that nobody heard.
func (b *board) forget() {
	b.view.Forget()
	b.forgetPage()
	b.doubted, b.readAfter = nil, time.Time{}
}

// forgetPage drops the page that is being read, or was read and is not shown yet.
func (b *board) forgetPage() {
	b.view.PageFailed()
	b.pages, b.renewed = nil, false
}

// check doubts the view where Redis has gone on without it: Redis was seen
// ahead at the last check, and the view is still not there.
func (b *board) check(c checked) {
	if !b.view.Shows(0) {
		return // it is being read anew already
	}
	if c.redis.Err != nil {
		b.hub.fellBehind(b)
		b.forgetPage() // it may be from before Redis went
		b.view.Doubt() // and one that can be read ends that
		return
	}
	at := b.view.State()
	reached := at.Epoch == c.redis.Epoch && at.Seq >= c.redis.Seq
	lost := b.doubted != nil && !(at.Epoch == b.doubted.Epoch && at.Seq >= b.doubted.Seq)
	// The view knew of more than there is: Redis has failed over or lost data.
	back := c.before.Epoch == c.redis.Epoch && c.before.Seq > c.redis.Seq
	b.doubted = nil
	switch {
	case back || !reached && lost:
		b.hub.log.Warn("view is not where Redis is, reading it anew", "board", b.name, "view", at, "redis", c.redis.State)
		b.view.Doubt()
	case !reached:
		b.doubted = &c.redis.State
	}
}

// step does what has come due: read a page, show what is new.
func (b *board) step(now time.Time) {
	streams := b.snapshotStreams()
	b.view.Want(b.most(streams))
	if state := b.view.State(); *b.at.Load() != state {
		b.at.Store(&state)
	}
	var wait time.Duration // until there is more to do; 0: nothing is due
	soonest := func(d time.Duration) {
		if wait == 0 || d < wait {
			wait = d
		}
	}
	if b.heard && !b.view.Reading() {
		if due := b.pageDue(now).Sub(now); due > 0 {
			soonest(due)
		} else {
			b.read()
		}
	}
	b.startStreams(streams)
	if b.moved && b.view.Shows(b.mostShown(streams)) {
		if due := b.published.Add(b.hub.cfg.Interval).Sub(now); due > 0 {
			soonest(due)
		} else {
			b.publish(streams, now)
		}
	}
	if wait > 0 {
		b.timer.Reset(wait)
	}
}

// pageDue is when the next page should be read: for an audit, if nothing else.
func (b *board) pageDue(now time.Time) time.Time {
	if !b.view.NeedsPage() {
		if b.backoff > 0 {
			return b.readAfter // the last page could not be read, and clients were told
		}
		return b.audited.Add(b.hub.cfg.AuditInterval)
	}
	if b.readAfter.IsZero() {
		b.readAfter = now
		if b.shown != nil && !b.view.Shows(0) {
			// What made this view unsure may have done so to many, on all nodes.
			b.readAfter = now.Add(rand.N(resyncJitter))
		}
	}
	return b.readAfter
}

// snapshotStreams lists the board's streams, smallest N first.
func (b *board) snapshotStreams() []*stream {
	b.hub.mu.Lock()
	defer b.hub.mu.Unlock()
	return slices.SortedFunc(maps.Values(b.streams), func(a, b *stream) int { return a.n - b.n })
}

// most is the largest N that is asked for.
func (b *board) most(streams []*stream) int {
	if len(streams) == 0 {
		return 0
	}
	return streams[len(streams)-1].n
}

// mostShown is the largest N that has been shown. (A larger one that is not
// shown yet makes nobody wait.)
func (b *board) mostShown(streams []*stream) int {
	for _, st := range slices.Backward(streams) {
		if st.version.Load() != nil {
			return st.n
		}
	}
	return 0
}

// read reads a page beside the goroutine, one at a time.
func (b *board) read() {
	b.view.PageAsked()
	limit := b.view.Window()
	pages := make(chan pageRead, 1)
	b.pages = pages
	b.hub.running.Go(func() {
		select {
		case b.hub.reading <- struct{}{}:
			defer func() { <-b.hub.reading }()
		case <-b.ctx.Done():
			return
		}
		page, err := b.hub.source.Page(b.ctx, b.name, 1, limit)
		pages <- pageRead{page, err}
	})
}

func (b *board) pageRead(p pageRead) {
	if p.err != nil {
		b.forgetPage()
		if b.ctx.Err() != nil {
			return
		}
		if b.backoff == 0 { // once an outage
			b.hub.log.Warn("cannot read a board, trying again", "board", b.name, "error", p.err)
		}
		b.hub.fellBehind(b)
		b.backoff = min(max(2*b.backoff, readAgainFirst), readAgainMost)
		b.readAfter = time.Now().Add(b.backoff/2 + rand.N(b.backoff/2))
		return
	}
	b.pages = nil
	if !b.view.PageRead(p.page) {
		b.hub.log.Error("view differed from Redis at the same seq", "board", b.name, "state", p.page.State)
	}
	b.moved, b.renewed = true, true
	b.backoff, b.readAfter = 0, time.Time{}
	// Boards that were read together are not audited together.
	b.audited = time.Now().Add(-rand.N(b.hub.cfg.AuditInterval / 4))
}

// startStreams shows what was published last to streams that show nothing yet,
// so that from then on all streams of the board move together.
func (b *board) startStreams(streams []*stream) {
	if b.shown == nil {
		return
	}
	for _, st := range streams {
		covered := len(b.shown.top) >= st.n || int64(len(b.shown.top)) == b.shown.total
		if st.version.Load() == nil && covered {
			st.advance(nil, b.shown, nil)
			b.hub.announce(st)
		}
	}
}

// publish shows the view to all streams.
func (b *board) publish(streams []*stream, now time.Time) {
	s := &shown{period: b.view.Period(), state: b.view.State(), total: b.view.Total(), top: b.view.Top(b.view.Window())}
	var difference *rows
	if b.shown != nil {
		difference = s.difference(b.shown, b.mostShown(streams))
	}
	news := make([]*stream, 0, len(streams))
	for _, st := range streams {
		if b.view.Shows(st.n) && st.advance(b.shown, s, difference) {
			news = append(news, st)
		}
	}
	b.shown, b.moved, b.published = s, false, now
	b.hub.announce(news...)
	if b.renewed {
		b.renewed = false
		b.hub.caughtUp(b)
	}
}
