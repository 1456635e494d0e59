package hub

import (
	"slices"
	"sort"
	"time"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/feed"
	"rankcast/ranking/sortkey"
)

// place is where a member stands in the order. Its position follows from the index.
type place struct {
	key    sortkey.Key
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
	order   definition.Order
	ties    definition.Ties
	ends    time.Time // as ranking.Page has it
	final   bool      // likewise
	state   ranking.State
	total   int64
	entries []row   // in order
	tied    []int64 // for each place, its rank; nil where that is its position
	touched []int64 // for each place, the seq at which it last came to hold another entry or rank
	since   int64   // the seq from which touched, ends and final are known
}

// newTop makes a top of a page.
func newTop(p ranking.Page) top {
	t := top{
		period: p.Period, order: p.Order, ties: p.Ties, ends: p.Ends, final: p.Final,
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
	if t.ties.Tied() {
		t.tied = make([]int64, len(p.Entries), len(p.Entries)+1)
		for i, e := range p.Entries {
			t.tied[i] = e.Rank
		}
	}
	return t
}

// at is where the entry at an index stands.
func (t *top) at(i int) where {
	at := where{position: int64(i) + 1}
	if at.rank = at.position; t.tied != nil {
		at.rank = t.tied[i]
	}
	return at
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

// succession also takes the epoch over with which a board comes to be. In a period
// that has closed none comes to be any more: what was heard of it then is lost.
func (t *top) succession(c *feed.Changes) succession {
	if t.state.Epoch == "" && c.Seq == 1 && !replaces(c) && !t.final {
		t.state.Epoch = c.Epoch
	}
	switch {
	case c.Epoch == t.state.Epoch && leadsTo(c).Seq <= t.state.Seq:
		return included
	case c.Epoch == t.state.Epoch && c.Seq == t.state.Seq+1 && !replaces(c):
		return follows
	}
	return broken
}

// move applies the next change, keeping window entries at most. It reports false
// where the change contradicts what is held.
func (t *top) move(c feed.Change, window int) bool {
	t.state.Seq++
	if c.Rank != c.Position && !t.ties.Tied() {
		return false // it is of a board with other ties
	}
	from, to := len(t.entries), len(t.entries) // the places that change
	entered := -1
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
		next := i == len(t.entries) && (t.whole() || c.Position == int64(i)+1)
		if i < len(t.entries) || next {
			if found || c.Position != int64(i)+1 {
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
			entered = i
		}
		t.total++
	}
	t.touch(from, to)
	if t.tied != nil {
		t.number(from, to)
		return entered < 0 || entered >= len(t.tied) || t.tied[entered] == c.Rank
	}
	return true
}

// number gives the places their ranks by the ties anew, where those from one to
// before another have changed, and touches those that have another rank now: the
// entry may have stayed.
func (t *top) number(from, to int) {
	held := t.tied
	t.tied = slices.Grow(t.tied, max(0, len(t.entries)-len(t.tied)))[:len(t.entries)]
	for i := from; i < len(t.entries); i++ {
		rank := t.rankAfter(i)
		if i < len(held) && held[i] == rank {
			if i >= to {
				return // all is as before from here on
			}
			continue
		}
		t.tied[i], t.touched[i] = rank, t.state.Seq
	}
}

// rankAfter is the rank at an index as it follows from the place before.
func (t *top) rankAfter(i int) int64 {
	switch {
	case i > 0 && tierOf(t.entries[i-1].key) == tierOf(t.entries[i].key):
		return t.tied[i-1]
	case i > 0 && t.ties == definition.Dense:
		return t.tied[i-1] + 1
	}
	return int64(i) + 1
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
	if t.total != u.total || t.ties != u.ties || !slices.Equal(t.entries[:n], u.entries[:n]) {
		return false
	}
	return t.tied == nil || slices.Equal(t.tied[:n], u.tied[:n])
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
		list = append(list, ranking.Entry{Rank: t.at(from + i).rank, Member: r.member, Score: r.key.Score(t.order), Key: r.key, Data: r.data})
	}
	return list
}
