package hub

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"rankcast/ranking"
	"rankcast/ranking/feed"
)

const (
	// boardChanges bounds the batches that wait for a board's goroutine.
	boardChanges = 1024
	// boardEvents bounds what else does; the sender waits.
	boardEvents = 4
	// readAgainFirst and readAgainMost bound the pause after a read that failed;
	// resyncJitter spreads the boards and nodes that read anew because of one event.
	readAgainFirst = 50 * time.Millisecond
	readAgainMost  = 2 * time.Second
	resyncJitter   = 50 * time.Millisecond
	// auditMembers is how many followed members an audit compares.
	auditMembers = 64
)

// What a board's goroutine is told, beside changes and what a seq check found.
type (
	subscribed struct{ outages int } // the feed hears the board from now on
	unheard    struct{}              // the feed has gone down
)

// board is a goroutine that owns the view of one board, as named.
type board struct {
	hub      *Hub
	name     string // as clients name it, and in frames
	instance string // whose changes are heard
	ctx      context.Context
	cancel   context.CancelFunc

	streams // guarded by hub.mu

	renamedMu sync.Mutex
	renamed   map[member]bool // whose profiles have changed since the goroutine looked

	changes chan *feed.Changes
	events  chan any
	streamy chan struct{} // streams have come or gone; holds one
	at      atomic.Pointer[whereabouts]

	// The rest belongs to run.
	view        *View
	life        uint64 // counts the lives of the board that the view has shown, periods among them
	kind        string // of the members, as the last page or check told
	people      people
	naming      // which period the name means
	page        read[ranking.Page]
	places      read[ranking.Places]
	profiles    read[found]
	heard       bool   // the feed hears the board
	outages     int    // of the feed, when it began to
	renewed     bool   // a page was read since the last publish
	recovering  bool   // and published, but not all followed members are known again
	moved       bool   // the view has news to publish
	ranksMoved  bool   // ranks may have changed since all were told
	ranksCursor *place // where to go on telling them; nil: all were told
	shown       *shown // what was published last
	published   time.Time
	told        time.Time // when all ranks were
	news        []*stream // of members, that were told something in this step
	audited     time.Time
	doubted     *ranking.State // where the last check saw Redis, if the view was not there
	timer       *time.Timer
}

func newBoard(h *Hub, named ranking.Board) *board {
	b := &board{
		hub: h, name: named.Name, instance: named.Instance, streams: newStreams(),
		view: NewView(0), life: 1, naming: newNaming(named),
		changes: make(chan *feed.Changes, boardChanges), events: make(chan any, boardEvents),
		streamy: make(chan struct{}, 1), renamed: make(map[member]bool),
	}
	b.at.Store(&whereabouts{})
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

func (b *board) run() {
	defer b.cancel()
	defer b.partPeople()
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
		case p := <-b.page.answer:
			if isUnknown(p.err) {
				b.nothingThere(p)
			} else if !b.page.came(b, p) {
				b.hub.fellBehind(b)
				b.forgetPage()
			}
		case p := <-b.places.answer:
			if !b.places.came(b, p) {
				if isUnknown(p.err) {
					b.settled = false // a page will tell what has become of it
				} else if b.view.Missing() { // else all that is shown is right
					b.hub.fellBehind(b)
				}
				b.view.PlacesFailed()
			}
		case p := <-b.profiles.answer:
			if !b.profiles.came(b, p) {
				b.missedProfiles(p.value) // all else that is shown is right
			}
		case <-b.streamy:
		case <-b.parted:
			b.parting, b.parted = false, nil
		case <-b.timer.C:
		}
		b.step(time.Now())
	}
}

// apply gives the view a batch, and all that wait behind it: they go out in one frame.
func (b *board) apply(c *feed.Changes) {
	for {
		if b.concerns(c) && b.view.Apply(c) {
			b.expect(c)
			b.moved, b.ranksMoved = true, true
			if b.view.Final() { // it is not, or not any more
				b.view.Doubt()
			}
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
		b.forgetPeople()
	case unheard:
		b.heard = false
		b.forget()
	case checked:
		if b.check(e); b.gone {
			b.settled = false // look again
		} else if e.redis.Kind != "" && e.before.of == b.of {
			b.kind = e.redis.Kind // a page that is to come with another is an audit away
		}
	}
}

// forget makes the view unsure, and unwelcome what is being read: it may miss
// changes that nobody heard.
func (b *board) forget() {
	b.view.Forget()
	b.forgetPage()
	b.places.forget()
	b.doubted, b.page.after, b.places.after = nil, time.Time{}, time.Time{}
}

// forgetPage drops the page that is being read, or was read and is not shown yet.
func (b *board) forgetPage() {
	b.view.PageFailed()
	b.page.forget()
	b.renewed, b.recovering = false, false
}

// step does what has come due: take in what was read, show what is new, read what
// is missing.
func (b *board) step(now time.Time) {
	tops := b.takeStreams()
	b.view.Want(b.most(tops))
	var wait time.Duration // until there is more to do; 0: nothing is due
	// isDue remembers to come back for what is not due yet.
	isDue := func(at time.Time) bool {
		d := at.Sub(now)
		if d > 0 && (wait == 0 || d < wait) {
			wait = d
		}
		return d <= 0
	}
	b.takeAnswers(now, isDue)
	b.meet(isDue)
	b.noteWhereabouts()
	b.startStreams(tops)
	if b.moved && b.view.Shows(b.mostShown(tops)) && (b.turned() || isDue(b.published.Add(b.hub.cfg.Interval))) && b.introduced(&b.people.since, isDue, b.first) {
		b.publish(tops, now)
	} else if b.unread {
		b.show(b.shown.atEnd(), tops, now)
	}
	if !b.renewed { // else the entries go first: they may be of another life
		b.tellFound()
		// After what was published: then both are as of one seq.
		if b.view.Shows(0) && (b.ranksCursor != nil || b.ranksMoved && !b.moved && isDue(b.told.Add(b.hub.cfg.MeInterval))) {
			if b.tellRanks(now); b.ranksCursor != nil {
				isDue(now.Add(1)) // as soon as there was a look at what has come in
			}
		}
	}
	if b.heard && b.of != "" && b.view.Waiting() {
		if isDue(b.places.after) {
			b.readPlaces()
		}
	} else if b.places.idle() && b.places.failed() {
		b.placesSettled() // what could not be read is not needed any more
	}
	if b.heard && b.profiles.idle() && b.people.waiting() && isDue(b.profiles.after) {
		b.readProfiles()
	}
	b.hub.announce(b.news...)
	b.news = b.news[:0]
	b.part(isDue)
	if b.recovering && !b.renewed && b.settled && b.view.Recovered() {
		b.recovering = false
		b.hub.caughtUp(b)
	}
	if !b.due.IsZero() && isDue(b.due) {
		b.settled, b.due = false, time.Time{}
	}
	if b.heard && !b.view.Reading() && isDue(b.pageDue(now)) {
		b.readPage()
	}
	if wait > 0 {
		b.timer.Reset(wait)
	}
}

// pageDue is when the next page should be read: for an audit, if nothing else.
func (b *board) pageDue(now time.Time) time.Time {
	if !b.view.NeedsPage() {
		if b.page.failed() {
			return b.page.after // the last could not be read, and clients were told
		}
		if b.turning() {
			return now
		}
		return b.audited.Add(b.hub.cfg.AuditInterval)
	}
	if b.page.after.IsZero() {
		b.page.after = now
		if b.shown != nil && !b.view.Shows(0) {
			// What made this view unsure may have done so to many, on all nodes.
			b.page.after = now.Add(rand.N(resyncJitter))
		}
	}
	return b.page.after
}

// most is the largest N that is asked for.
func (b *board) most(tops []*stream) int {
	if len(tops) == 0 {
		return 0
	}
	return tops[len(tops)-1].n
}

// mostShown is the largest N that has been shown. (A larger one that is not
// shown yet makes nobody wait.)
func (b *board) mostShown(tops []*stream) int {
	for _, st := range slices.Backward(tops) {
		if st.version.Load() != nil {
			return st.n
		}
	}
	return 0
}

func (b *board) readPage() {
	b.view.PageAsked()
	name, limit := b.pageName(), b.view.Window()
	b.asked = name
	b.page.start(b, func(ctx context.Context) (ranking.Page, error) {
		return b.hub.source.Page(ctx, name, 1, limit)
	})
}

// readPlaces looks up who is to be, all that have come meanwhile in one call.
func (b *board) readPlaces() {
	if lookups := b.view.Lookups(); lookups != nil {
		of := b.of
		b.places.start(b, func(ctx context.Context) (ranking.Places, error) {
			return b.hub.source.Places(ctx, of, lookups)
		})
	}
}

// takeAnswers takes in what was read, once the view is not on its way there any
// more.
func (b *board) takeAnswers(now time.Time, isDue func(time.Time) bool) {
	agreed := true
	if b.profiles.held != nil {
		f := *b.profiles.held
		b.profiles.settle()
		b.tookProfiles(f, now)
	}
	if p := b.page.held; p != nil && (!b.view.Ahead(p.State) || b.waitedLong(isDue)) {
		was, period := b.view.State(), b.view.Period()
		agreed = b.view.PageRead(*p)
		if is := b.view.State(); is.Epoch != was.Epoch || is.Seq < was.Seq {
			b.beginLife()
		}
		b.learn(period)
		b.page.settle()
		b.moved, b.renewed = true, true
		if !b.audited.IsZero() && now.Sub(b.audited) >= b.hub.cfg.AuditInterval {
			b.view.Sample(auditMembers)
		}
		// Boards that were read together are not audited together.
		b.audited = now.Add(-rand.N(b.hub.cfg.AuditInterval / 4))
	}
	if p := b.places.held; p != nil && !b.view.Ahead(p.State) && b.introduced(&b.places.at, isDue, around(p)) {
		agreed = b.view.PlacesRead(*p) && agreed
		b.placesSettled()
	}
	if !agreed {
		b.hub.log.Error("view differed from Redis at the same seq", "board", b.name, "state", b.view.State())
	}
}

// placesSettled ends the pauses between look-ups, and what clients were told of
// them.
func (b *board) placesSettled() {
	if b.places.failed() {
		b.recovering = true
	}
	b.places.settle()
}

// startStreams shows what was published last to streams that show nothing yet,
// so that from then on all streams of the board move together.
func (b *board) startStreams(tops []*stream) {
	if b.shown == nil {
		return
	}
	for _, st := range tops {
		if st.version.Load() == nil && b.shown.covers(st.n) {
			st.advance(nil, b.shown, nil)
			b.hub.announce(st)
		}
	}
}

// publish shows the view to all streams, and those who moved by themselves where
// they are now.
func (b *board) publish(tops []*stream, now time.Time) {
	s := &shown{
		life: b.life, period: b.view.Period(), ends: b.view.Ends(), final: b.view.Final(), gone: b.gone,
		state: b.view.State(), total: b.view.Total(), top: b.view.Top(b.view.Window()),
	}
	s.touched, s.since = b.view.Touched(len(s.top))
	b.introduce(s, now)
	b.show(s, tops, now)
	b.moved = false
	b.tellOwn()
	if b.renewed {
		b.renewed, b.recovering = false, true
	}
}

// show gives the streams what they show next.
func (b *board) show(s *shown, tops []*stream, now time.Time) {
	var difference *rows
	if b.shown != nil && s.follows(b.shown) {
		difference = s.difference(b.shown, b.mostShown(tops))
	}
	news := make([]*stream, 0, len(tops))
	for _, st := range tops {
		if s.covers(st.n) && st.advance(b.shown, s, difference) {
			news = append(news, st)
		}
	}
	if s.final && (b.shown == nil || !b.shown.final) {
		b.showedEnd()
	}
	b.shown, b.published, b.unread = s, now, false
	b.hub.announce(news...)
}
