package view

import (
	"slices"
	"sort"
	"time"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/feed"
	"rankcast/ranking/sortkey"
)

// OrderKey is the composite key by which the board orders members: sort key, then name.
type OrderKey struct {
	key    sortkey.Key
	member string
}

func (p OrderKey) before(q OrderKey) bool { return p.key.Before(p.member, q.key, q.member) }

func orderKeyOf(e ranking.Entry) OrderKey { return OrderKey{e.Key, e.Member} }

// entry is one of the first entries. Its position is its index plus 1.
type entry struct {
	OrderKey
	data string // as in ranking.Entry
}

// top is the first entries of a board at one state.
type top struct {
	period    string
	order     definition.Order
	ties      definition.Ties
	ends      time.Time       // as in ranking.Page
	final     bool            // as in ranking.Page
	frozen    *ranking.Frozen // as in ranking.Page
	state     ranking.State   // as clients see it
	shards    ranking.States  // of each shard; nil: the board has none
	total     int64
	entries   []entry // in order
	tiedRanks []int64 // for each index, the rank; nil without ties
}

// newTop returns the top of a page.
func newTop(p ranking.Page) top {
	t := top{
		period: p.Period, order: p.Order, ties: p.Ties, ends: p.Ends, final: p.Final, frozen: p.Frozen,
		state: p.State, shards: slices.Clone(p.Shards), total: p.Total,
	}
	t.entries = make([]entry, len(p.Entries), len(p.Entries)+1)
	for i, e := range p.Entries {
		t.entries[i] = entry{orderKeyOf(e), e.Data}
	}
	if t.ties.Tied() {
		t.tiedRanks = make([]int64, len(p.Entries), len(p.Entries)+1)
		for i, e := range p.Entries {
			t.tiedRanks[i] = e.Rank
		}
	}
	return t
}

// placementAt is the placement of the entry at an index.
func (t *top) placementAt(i int) Placement {
	at := Placement{position: int64(i) + 1}
	if at.rank = at.position; t.tiedRanks != nil {
		at.rank = t.tiedRanks[i]
	}
	return at
}

// isComplete reports whether the entries are the whole board.
func (t *top) isComplete() bool { return int64(len(t.entries)) == t.total }

// continuity is how a batch relates to the state of a top.
type continuity int

const (
	follows  continuity = iota // the batch is the next one
	included                   // the page already contained the batch
	gap                        // a batch in between is missing, or the epoch is another
)

// stateOf is the state of a shard; of the board, if it has none. It is nil for a shard that the board does not have.
func (t *top) stateOf(shard int) *ranking.State {
	switch {
	case t.shards == nil && shard == 0:
		return &t.state
	case shard < len(t.shards):
		return &t.shards[shard]
	}
	return nil
}

// continuityOf compares a batch with the top's state. The first batch of an empty board, or of a shard without members,
// gives the top its epoch. A closed period gets no first batch: Redis lost the period, and
// with it that batch.
func (t *top) continuityOf(c *feed.Changes) continuity {
	at := t.stateOf(c.Shard)
	if at == nil {
		return gap
	}
	if at.Epoch == "" && c.Seq == 1 && !isReplacement(c) && !t.final {
		if at.Epoch = c.Epoch; t.shards != nil {
			t.state.Epoch = t.shards.State().Epoch
		}
	}
	switch {
	case c.Epoch == at.Epoch && stateAfter(c).Seq <= at.Seq:
		return included
	case c.Epoch == at.Epoch && c.Seq == at.Seq+1 && !isReplacement(c):
		return follows
	}
	return gap
}

// count counts a change of a shard.
func (t *top) count(shard int) {
	t.state.Seq++
	if t.shards != nil {
		t.shards[shard].Seq++
	}
}

// isReplacement reports whether a message says that its board-period was replaced as a
// whole.
func isReplacement(c *feed.Changes) bool { return len(c.List) == 0 && !c.Freeze }

// stateAfter is the state to which a message takes its board-period.
func stateAfter(c *feed.Changes) ranking.State {
	return ranking.State{Epoch: c.Epoch, Seq: max(c.Seq, c.Last())} // a replacement has no last change
}

// applyChange applies the next change, which is of a shard, and keeps limit entries at most. It reports false
// where the change contradicts the top. The places in a change are those of the shard, so they mean nothing on a board with several.
func (t *top) applyChange(shard int, c feed.Change, limit int) bool {
	t.count(shard)
	placed := t.shards == nil
	if c.Rank != c.Position && !t.ties.Tied() {
		return false // the board has other ties
	}
	from, to := len(t.entries), len(t.entries) // the range of indexes that changes
	entered := -1
	if c.Old != nil {
		i, found := t.find(OrderKey{*c.Old, c.Member})
		switch {
		case found:
			t.entries = slices.Delete(t.entries, i, i+1)
			from = i
		case i < len(t.entries) || t.isComplete():
			return false // the member should have been here
		}
		t.total--
	}
	if c.New != nil {
		i, found := t.find(OrderKey{*c.New, c.Member})
		// Past the last entry the member belongs here only if no member is in between.
		next := i == len(t.entries) && (t.isComplete() || placed && c.Position == int64(i)+1)
		if i < len(t.entries) || next {
			if found || placed && c.Position != int64(i)+1 {
				return false
			}
			if from < to { // the member moved within the entries: those beyond stay
				from, to = min(from, i), max(from, i)+1
			} else {
				from = i
			}
			t.entries = slices.Insert(t.entries, i, entry{OrderKey{*c.New, c.Member}, c.Data})
			if len(t.entries) > limit {
				t.entries = t.entries[:limit]
			}
			entered = i
		}
		t.total++
	}
	if t.tiedRanks != nil {
		t.renumber(from, to)
		return !placed || entered < 0 || entered >= len(t.tiedRanks) || t.tiedRanks[entered] == c.Rank
	}
	return true
}

// renumber derives the ranks anew after the entries from index from to before to have
// changed.
func (t *top) renumber(from, to int) {
	held := t.tiedRanks
	t.tiedRanks = slices.Grow(t.tiedRanks, max(0, len(t.entries)-len(t.tiedRanks)))[:len(t.entries)]
	for i := from; i < len(t.entries); i++ {
		rank := t.deriveRank(i)
		if i < len(held) && held[i] == rank {
			if i >= to {
				return // the rest is unchanged
			}
			continue
		}
		t.tiedRanks[i] = rank
	}
}

// deriveRank is the rank at an index as it follows from the index before.
func (t *top) deriveRank(i int) int64 {
	switch {
	case i > 0 && scoreKeyOf(t.entries[i-1].key) == scoreKeyOf(t.entries[i].key):
		return t.tiedRanks[i-1]
	case i > 0 && t.ties == definition.Dense:
		return t.tiedRanks[i-1] + 1
	}
	return int64(i) + 1
}

// find returns the index of p, or the index at which p would be.
func (t *top) find(p OrderKey) (int, bool) {
	i := sort.Search(len(t.entries), func(i int) bool { return !t.entries[i].before(p) })
	return i, i < len(t.entries) && t.entries[i].OrderKey == p
}

// agrees reports whether two tops of one state are equal, as far as both go.
func (t *top) agrees(u *top) bool {
	n := min(len(t.entries), len(u.entries))
	if t.total != u.total || t.ties != u.ties || !slices.Equal(t.entries[:n], u.entries[:n]) {
		return false
	}
	return t.tiedRanks == nil || slices.Equal(t.tiedRanks[:n], u.tiedRanks[:n])
}

// list returns the entries from index from to before to.
func (t *top) list(from, to int) []ranking.Entry {
	list := make([]ranking.Entry, 0, to-from)
	for i, r := range t.entries[from:to] {
		list = append(list, ranking.Entry{Rank: t.placementAt(from + i).rank, Member: r.member, Score: r.key.Score(t.order),
			Key: r.key, Data: r.data})
	}
	return list
}
