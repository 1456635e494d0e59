package hub

import (
	"slices"
	"sort"

	"rankcast/ranking"
)

const (
	// viewMargin is how many entries a view keeps beyond those asked for, and an
	// eighth of those asked for on top, so that members may leave the top without
	// a read each.
	viewMargin = 16
	// viewBuffer is the most changes that are kept while a page is being read:
	// what the fastest Redis makes in 100 ms. Beyond it the page is read again.
	viewBuffer = 8192
)

// View is the top of one board, kept by changes alone: snapshot plus changes
// equals a fresh snapshot. It is plain data, for one goroutine at a time.
//
// It starts out unsure. Whoever owns it reads a page of Window entries whenever
// NeedsPage says so, between PageAsked and PageRead, and gives every change that
// it hears to Apply, in the meantime too.
type View struct {
	order ranking.Order
	want  int // entries that are asked for

	period  string
	state   ranking.State
	total   int64
	entries []place // the first of the board, in order
	sure    bool    // entries are the board's at state

	last     ranking.State      // where the last changes heard took the board
	reading  bool               // a page has been asked for
	heard    []*ranking.Changes // meanwhile
	heardLen int                // changes in heard
	spoiled  bool               // the page will be of no use
}

// place is a member's position in the order. Ranks follow from the index.
type place struct {
	key    ranking.Key
	member string
}

func (p place) before(q place) bool { return p.key.Before(p.member, q.key, q.member) }

// NewView makes a view that shows up to want entries of a board of that order.
func NewView(order ranking.Order, want int) *View { return &View{order: order, want: want} }

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

// whole reports whether the entries are all there are.
func (v *View) whole() bool { return int64(len(v.entries)) == v.total }

// Shows reports whether the first n entries are known.
func (v *View) Shows(n int) bool { return v.sure && (len(v.entries) >= n || v.whole()) }

// Reading reports whether a page has been asked for.
func (v *View) Reading() bool { return v.reading }

// Doubt makes the view unsure, so that it is read anew.
func (v *View) Doubt() { v.sure = false }

// Forget makes the view unsure and forgets what was heard, and the page that is
// being read: changes may have been missed that nobody will ever hear.
func (v *View) Forget() {
	v.Doubt()
	v.PageFailed()
	v.last = ranking.State{}
}

// State is the state of the board that the view shows; it means something only
// while the view is sure.
func (v *View) State() ranking.State { return v.state }

// Apply takes in what a batch changed. Changes that came with the page already
// are passed over; any that does not follow on makes the view unsure. It reports
// whether the view moved.
func (v *View) Apply(c *ranking.Changes) bool {
	if c.Epoch == v.last.Epoch && c.Seq <= v.last.Seq {
		// One subscription never repeats itself, so the board has gone back: a
		// replica took over that did not have all. What was heard before is void.
		v.sure, v.spoiled = false, true
	}
	v.last = ranking.State{Epoch: c.Epoch, Seq: c.Last()}
	if v.reading && !v.spoiled {
		v.heard = append(v.heard, c)
		v.heardLen += len(c.List)
		v.spoiled = v.heardLen > viewBuffer
	}
	return v.sure && v.follow(c)
}

// PageAsked says that a page is being read from now on.
func (v *View) PageAsked() {
	v.reading, v.heard, v.heardLen, v.spoiled = true, nil, 0, false
}

// PageFailed says that the page that was asked for will not come.
func (v *View) PageFailed() { v.reading, v.heard = false, nil }

// PageRead starts the view from a page and brings it forward by what was heard
// while it was read. The page is the truth, also where its seq is lower than the
// view's. It reports whether the view, if it was sure, had been right.
func (v *View) PageRead(p ranking.Page) (agreed bool) {
	old := *v
	v.period, v.state, v.total = p.Period, p.State, p.Total
	v.entries = make([]place, len(p.Entries), len(p.Entries)+1)
	for i, e := range p.Entries {
		v.entries[i] = place{e.Key, e.Member}
	}
	v.sure = !v.spoiled
	heard := v.heard
	v.reading, v.heard = false, nil
	for _, c := range heard {
		if v.sure {
			v.follow(c)
		}
	}
	if !old.sure || !v.sure || old.state != v.state {
		return true // nothing to compare
	}
	n := min(len(old.entries), len(v.entries))
	return old.total == v.total && slices.Equal(old.entries[:n], v.entries[:n])
}

// follow applies a batch to a sure view.
func (v *View) follow(c *ranking.Changes) (moved bool) {
	if v.state.Epoch == "" && c.Seq == 1 {
		v.state.Epoch = c.Epoch // the board has come to be
	}
	switch {
	case c.Epoch != v.state.Epoch:
		v.sure = false
		return false
	case c.Last() <= v.state.Seq:
		return false
	case c.Seq != v.state.Seq+1:
		v.sure = false
		return false
	}
	for _, change := range c.List {
		v.state.Seq++
		if !v.move(change) {
			v.sure = false
			return false
		}
	}
	return true
}

// move applies one change. It reports false where the change contradicts what
// the view holds.
func (v *View) move(c ranking.Change) bool {
	if c.Old != nil {
		i, found := v.find(place{*c.Old, c.Member})
		switch {
		case found:
			v.entries = slices.Delete(v.entries, i, i+1)
		case i < len(v.entries) || v.whole():
			return false // it should have been here
		}
		v.total--
	}
	if c.New == nil {
		return true
	}
	i, found := v.find(place{*c.New, c.Member})
	// Past the last entry it belongs to the view only if nobody stands between.
	next := i == len(v.entries) && (v.whole() || c.Rank == int64(i)+1)
	if i < len(v.entries) || next {
		if found || c.Rank != int64(i)+1 {
			return false
		}
		v.entries = slices.Insert(v.entries, i, place{*c.New, c.Member})
		if most := v.Window(); len(v.entries) > most {
			v.entries = v.entries[:most]
		}
	}
	v.total++
	return true
}

// find gives the index at which p stands or would stand.
func (v *View) find(p place) (int, bool) {
	i := sort.Search(len(v.entries), func(i int) bool { return !v.entries[i].before(p) })
	return i, i < len(v.entries) && v.entries[i] == p
}

// Top copies the first entries, n at most.
func (v *View) Top(n int) []ranking.Entry {
	n = min(n, len(v.entries))
	top := make([]ranking.Entry, n)
	for i, p := range v.entries[:n] {
		top[i] = ranking.Entry{Rank: int64(i) + 1, Member: p.member, Score: p.key.Score(v.order), Key: p.key}
	}
	return top
}

// Period is the name of the period that the view shows.
func (v *View) Period() string { return v.period }

// Total is how many members the board has.
func (v *View) Total() int64 { return v.total }
