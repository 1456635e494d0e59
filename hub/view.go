package hub

import (
	"slices"
	"time"

	"rankcast/ranking"
	"rankcast/ranking/feed"
)

const (
	// viewMargin is how many entries a view keeps beyond those asked for, and an
	// eighth of those asked for on top, so that members may leave the top without
	// a read each.
	viewMargin = 16
	// viewBuffer is the most changes that are kept while Redis is being read: what
	// the fastest makes in 100 ms. Beyond it the read is done again.
	viewBuffer = 8192
)

// View is the top of one period of a board and the ranks of the members that are
// followed, kept by changes alone: snapshot plus changes equals a fresh snapshot.
// It is plain data, for one goroutine at a time.
//
// It starts out unsure. Whoever owns it reads a page of Window entries whenever
// NeedsPage says so, between PageAsked and PageRead, and what Lookups asks for,
// until PlacesRead; and gives every change that it hears to Apply, in the
// meantime too. An answer that is Ahead of the view is kept back until it is not.
//
// A page of another period takes the view over to that one. Until then the
// changes of other periods are passed over, but for bringing such a page forward.
type View struct {
	want int // entries that are asked for

	top
	followed following
	own      []*Followed // who moved by themselves, for Own
	sure     bool        // top and followed are the board's at top.state

	course course // of the period that the view shows
	other  course // of the other period of which changes were heard last

	heard    []*feed.Changes // while a page or places are being read
	heardLen int             // changes in heard
	reading  bool            // a page has been asked for
	spoiled  bool            // the page will be of no use

	lookups
}

// NewView makes a view that shows up to want entries.
func NewView(want int) *View {
	return &View{want: want, followed: following{members: make(map[string]*Followed)}}
}

// Want changes how many entries are asked for.
func (v *View) Want(n int) { v.want = n }

// Window is how many entries a page for this view should have.
func (v *View) Window() int { return v.want + v.margin() }

func (v *View) margin() int { return viewMargin + v.want/8 }

// NeedsPage reports whether a page should be read now: the view is unsure, or
// will soon have too few entries, and none is being read.
func (v *View) NeedsPage() bool {
	low := len(v.entries) < v.want+v.margin()/2 && !v.whole()
	return !v.reading && (!v.sure || low)
}

// Shows reports whether the first n entries are known.
func (v *View) Shows(n int) bool { return v.sure && (len(v.entries) >= n || v.whole()) }

// Reading reports whether a page has been asked for.
func (v *View) Reading() bool { return v.reading }

// Doubt makes the view unsure, so that it is read anew.
func (v *View) Doubt() {
	if v.sure {
		v.sure = false
		v.voidFollowed()
	}
}

// Forget makes the view unsure and forgets what was heard, and whatever is being
// read: changes may have been missed that nobody will ever hear.
func (v *View) Forget() {
	v.Doubt()
	v.PageFailed()
	v.PlacesFailed()
	v.course.last, v.other.last = ranking.State{}, ranking.State{}
}

// State is the state of the board that the view shows; it means something only
// while the view is sure.
func (v *View) State() ranking.State { return v.state }

// Ahead reports whether the view is on its way to a state: changes that lead
// there are still to be heard.
func (v *View) Ahead(s ranking.State) bool {
	return v.sure && s.Epoch == v.state.Epoch && s.Seq > v.state.Seq
}

// Apply takes in what a batch changed. Changes that came with the page already
// are passed over; any that does not follow on makes the view unsure. It reports
// whether the view moved.
func (v *View) Apply(c *feed.Changes) bool {
	own := c.Period == v.period
	if !v.courseOf(c.Period).hear(c) {
		// What was heard of the period before is void.
		if v.spoiled = true; own {
			v.Doubt()
		}
	}
	v.hear(c)
	if !v.sure || !own {
		return false
	}
	switch v.succession(c) {
	case included:
		return false
	case broken:
		v.Doubt()
		return false
	}
	for _, change := range c.List {
		if !v.move(change, v.Window()) || !v.followed.move(change, v.changed) {
			v.Doubt()
			return false
		}
	}
	return true
}

// courseOf gives what is known of the course of a period.
func (v *View) courseOf(period string) *course {
	if period == v.period {
		return &v.course
	}
	if period != v.other.period {
		v.other = course{period: period}
	}
	return &v.other
}

// hear keeps a batch for the answers that are on their way.
func (v *View) hear(c *feed.Changes) {
	if !v.listening() {
		return
	}
	if replaces(c) {
		// What went before leads nowhere: not from here, and not to what is there now.
		v.heard = slices.DeleteFunc(v.heard, func(before *feed.Changes) bool { return before.Period == c.Period })
	}
	v.heard = append(v.heard, c)
	if v.heardLen += max(1, len(c.List)); v.heardLen > viewBuffer {
		v.spoiled, v.looked.spoiled = true, true
	}
}

// listening reports whether an answer is on its way that changes will bring forward.
func (v *View) listening() bool {
	return v.reading && !v.spoiled || v.looked.members != nil && !v.looked.spoiled
}

// listen starts to keep what is heard, unless that goes on already.
func (v *View) listen() {
	if !v.listening() {
		v.heard, v.heardLen = nil, 0
	}
}

// PageAsked says that a page is being read from now on.
func (v *View) PageAsked() {
	v.listen()
	v.reading, v.spoiled = true, false
}

// PageFailed says that the page that was asked for will not come.
func (v *View) PageFailed() {
	v.reading = false
	v.listen()
}

// PageRead starts the view from a page and brings it forward by what was heard
// while it was read. The page is the truth, also where its seq is lower than the
// view's. It reports whether the view, if it was sure, had been right.
func (v *View) PageRead(p ranking.Page) (agreed bool) {
	another := p.Period != v.period
	if v.sure && v.spoiled && !another { // and nobody needs it
		v.PageFailed()
		return true
	}
	next, sure := newTop(p), !v.spoiled
	for _, c := range v.heard {
		sure = sure && v.bring(&next, c)
	}
	v.PageFailed() // it has come, and no other is on its way
	comparable := v.sure && sure && !another && v.state == next.state
	agreed = !comparable || v.agrees(&next)
	if anew := !comparable || !agreed; anew {
		v.takeOver(next, sure)
	} else {
		next.inherit(&v.top)
		v.top = next
		v.placeFollowed()
	}
	return agreed
}

// takeOver has the view be what was read, which is not what it was.
func (v *View) takeOver(next top, sure bool) {
	v.Doubt()
	if next.period != v.period {
		v.course = *v.courseOf(next.period)
	} else if !next.bounded(&v.top) {
		next.since = max(next.since, next.state.Seq+1)
	}
	v.course.read(next.state)
	next.since = max(next.since, v.course.twice)
	v.followed.tiers = newTiers(next.ties)
	if v.top, v.sure = next, sure; sure {
		v.placeFollowed()
		v.oweFollowed()
	}
}

// bring takes a top that was read forward by a batch that was heard since.
func (v *View) bring(t *top, c *feed.Changes) bool {
	if c.Period != t.period {
		return true
	}
	switch t.succession(c) {
	case included:
		return true
	case broken:
		return false
	}
	for _, change := range c.List {
		if !t.move(change, v.Window()) {
			return false
		}
	}
	return true
}

// Top copies the first entries, n at most.
func (v *View) Top(n int) []ranking.Entry { return v.list(0, min(n, len(v.entries))) }

// Touched copies, for the first n places at most, the seq since when they are as
// they are, entry and rank, and the seq from which on that is known.
func (v *View) Touched(n int) (touched []int64, since int64) {
	return slices.Clone(v.touched[:min(n, len(v.touched))]), v.since
}

// Period is the name of the period that the view shows.
func (v *View) Period() string { return v.period }

// Ends is when that period closes, or closed; zero: never.
func (v *View) Ends() time.Time { return v.ends }

// Final reports whether it has closed: what the view shows of it is the last.
func (v *View) Final() bool { return v.final }

// Close says that the period has closed, and that nobody can read any more what
// its last state was: the view's is taken for it.
func (v *View) Close() { v.final, v.since = true, v.state.Seq+1 }

// Total is how many members the board has.
func (v *View) Total() int64 { return v.total }
