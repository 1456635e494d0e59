package hub

import (
	"slices"
	"sort"
	"time"

	"rankcast/ranking"
)

// place is a member's position in the order. Ranks follow from the index.
type place struct {
	key    ranking.Key
	member string
}

func (p place) before(q place) bool { return p.key.Before(p.member, q.key, q.member) }

func placeOf(e ranking.Entry) place { return place{e.Key, e.Member} }

// row is what a top holds of an entry.
type row struct {
	place
	data string // as ranking.Entry has it
}

// top is the first entries of a board at one state of it.
type top struct {
	period  string
	order   ranking.Order
	ends    time.Time // as ranking.Page has it
	final   bool      // likewise
	state   ranking.State
	total   int64
	entries []row   // in order
	touched []int64 // for each place, the seq at which it last came to hold another entry
	since   int64   // the seq from which touched, ends and final are known
}

// newTop makes a top of a page.
func newTop(p ranking.Page) top {
	t := top{
		period: p.Period, order: p.Order, ends: p.Ends, final: p.Final,
		state: p.State, total: p.Total, since: p.Seq,
	}
	if t.final {
		t.since++ // who was at that seq before may not know that it is the last
	}
	t.entries = make([]row, len(p.Entries), len(p.Entries)+1)
	t.touched = make([]int64, len(p.Entries), len(p.Entries)+1)
	for i, e := range p.Entries {
		t.entries[i], t.touched[i] = row{placeOf(e), e.Data}, p.Seq
	}
	return t
}

// bounded reports whether two tops say the same of when the period closes.
func (t *top) bounded(u *top) bool { return t.final == u.final && t.ends.Equal(u.ends) }

// whole reports whether the entries are all there are.
func (t *top) whole() bool { return int64(len(t.entries)) == t.total }

// succession is how a batch stands to the state of a top.
type succession int

const (
	follows  succession = iota // it is the next
	included                   // it came with the page already
	broken                     // something is missing between, or it is of another life of the board
)

// succession also takes the epoch over with which a board comes to be.
func (t *top) succession(c *ranking.Changes) succession {
	if t.state.Epoch == "" && c.Seq == 1 {
		t.state.Epoch = c.Epoch
	}
	switch {
	case c.Epoch == t.state.Epoch && c.Last() <= t.state.Seq:
		return included
	case c.Epoch == t.state.Epoch && c.Seq == t.state.Seq+1:
		return follows
	}
	return broken
}

// move applies the next change, keeping window entries at most. It reports false
// where the change contradicts what is held.
func (t *top) move(c ranking.Change, window int) bool {
	t.state.Seq++
	from, to := len(t.entries), len(t.entries) // the places that change
	if c.Old != nil {
		i, found := t.find(place{*c.Old, c.Member})
		switch {
		case found:
			t.entries = slices.Delete(t.entries, i, i+1)
			from = i
		case i < len(t.entries) || t.whole():
			return false // it should have been here
		}
		t.total--
	}
	if c.New != nil {
		i, found := t.find(place{*c.New, c.Member})
		// Past the last entry it belongs here only if nobody stands between.
		next := i == len(t.entries) && (t.whole() || c.Rank == int64(i)+1)
		if i < len(t.entries) || next {
			if found || c.Rank != int64(i)+1 {
				return false
			}
			if from < to { // from one place to another: those beyond stay
				from, to = min(from, i), max(from, i)+1
			} else {
				from = i
			}
			t.entries = slices.Insert(t.entries, i, row{place{*c.New, c.Member}, c.Data})
			if len(t.entries) > window {
				t.entries = t.entries[:window]
			}
		}
		t.total++
	}
	t.touch(from, to)
	return true
}

// touch notes that the places from one to before another, and those that have
// come to be, are as they are since now.
func (t *top) touch(from, to int) {
	for len(t.touched) < len(t.entries) {
		t.touched = append(t.touched, t.state.Seq)
	}
	t.touched = t.touched[:len(t.entries)]
	for i := from; i < min(to, len(t.touched)); i++ {
		t.touched[i] = t.state.Seq
	}
}

// find gives the index at which p stands or would stand.
func (t *top) find(p place) (int, bool) {
	i := sort.Search(len(t.entries), func(i int) bool { return !t.entries[i].before(p) })
	return i, i < len(t.entries) && t.entries[i].place == p
}

// agrees reports whether two tops of one state say the same, as far as both go.
func (t *top) agrees(u *top) bool {
	n := min(len(t.entries), len(u.entries))
	return t.total == u.total && slices.Equal(t.entries[:n], u.entries[:n])
}

// inherit takes over what an older top of the same state knows of the past.
func (t *top) inherit(old *top) {
	copy(t.touched, old.touched)
	if t.since = old.since; !t.bounded(old) {
		t.since = t.state.Seq + 1 // nobody knows yet
	}
}

// list gives the entries of the places from one to before another.
func (t *top) list(from, to int) []ranking.Entry {
	list := make([]ranking.Entry, 0, to-from)
	for i, r := range t.entries[from:to] {
		list = append(list, ranking.Entry{Rank: int64(from+i) + 1, Member: r.member, Score: r.key.Score(t.order), Key: r.key, Data: r.data})
	}
	return list
}
