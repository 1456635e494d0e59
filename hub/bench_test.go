package hub

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/feed"
	"rankcast/ranking/sortkey"
)

// crowd is a large board that knows ranks fast: a Fenwick tree over whole keys,
// each held by one member at most.
type crowd struct {
	tree []int32
	keys []int   // by member
	free []int   // keys that nobody holds
	at   []int32 // member by key, -1: nobody
}

func newCrowd(members int) *crowd {
	c := &crowd{tree: make([]int32, 2*members+1), keys: make([]int, members), at: make([]int32, 2*members)}
	order := rand.Perm(2 * members)
	for i := range c.at {
		c.at[i] = -1
	}
	for m := range members {
		c.put(m, order[m])
	}
	c.free = order[members:]
	return c
}

func (c *crowd) add(key int, by int32) {
	for i := key + 1; i < len(c.tree); i += i & -i {
		c.tree[i] += by
	}
}

func (c *crowd) put(m, key int) {
	c.keys[m], c.at[key] = key, int32(m)
	c.add(key, 1)
}

func (c *crowd) rank(key int) (rank int64) {
	for i := key + 1; i > 0; i -= i & -i {
		rank += int64(c.tree[i])
	}
	return rank
}

// move moves a member to a key and returns the change.
func (c *crowd) move(m, key int) feed.Change {
	old, now := sortkey.Key(c.keys[m]), sortkey.Key(key)
	c.add(c.keys[m], -1)
	c.at[c.keys[m]] = -1
	c.put(m, key)
	change := feed.Change{Member: crowdName(m), Old: &old, New: &now, Position: c.rank(key)}
	change.Rank = change.Position
	return change
}

// tied has the changes be of a board with these ties, on which all have different
// scores, so that each change makes one and ends one.
func tied(ties definition.Ties, changes []feed.Change) {
	for i := range changes {
		changes[i].Born, changes[i].Gone = ties == definition.Dense, ties == definition.Dense
	}
}

func crowdName(m int) string { return fmt.Sprintf("member-%07d", m) }

func (c *crowd) page(limit int) ranking.Page {
	p := ranking.Page{State: ranking.State{Epoch: "e", Seq: 1}, Order: definition.Asc, Total: int64(len(c.keys)), Start: 1}
	for key := 0; len(p.Entries) < min(limit, len(c.keys)); key++ {
		if m := c.at[key]; m >= 0 {
			p.Entries = append(p.Entries, ranking.Entry{Rank: int64(len(p.Entries)) + 1, Member: crowdName(int(m)), Key: sortkey.Key(key)})
		}
	}
	return p
}

// BenchmarkFollowed measures one change, of a member at random to a place at
// random, on a view of the top 10: without and with followed members, on a small
// and on a large board. 1 % of the changes are of followed members themselves.
// (Where more are followed than half of the board, the rest of them is not on
// it.) The last compare the ties, without and with neighbours.
func BenchmarkFollowed(b *testing.B) {
	for _, members := range []int{10_000, 1_000_000} {
		for _, followed := range []int{0, 1_000, 10_000, 100_000} {
			b.Run(fmt.Sprintf("board=%d/followed=%d", members, followed), func(b *testing.B) {
				benchFollowed(b, members, followed, 0, definition.First)
			})
		}
	}
	for _, ties := range []definition.Ties{definition.First, definition.Shared, definition.Dense} {
		for _, around := range []int{0, 5} {
			b.Run(fmt.Sprintf("board=1000000/followed=10000/ties=%s/around=%d", ties, around), func(b *testing.B) {
				benchFollowed(b, 1_000_000, 10_000, around, ties)
			})
		}
	}
}

func benchFollowed(b *testing.B, members, followed, around int, ties definition.Ties) {
	c := newCrowd(members)
	on := min(followed, members/2) // members 0 to on-1
	v := NewView(10)
	for m := range followed {
		if m < on {
			v.Follow(crowdName(m), around)
		} else {
			v.Follow(fmt.Sprint("elsewhere ", m), 0)
		}
	}
	v.PageAsked()
	page := c.page(v.Window())
	page.Ties = ties
	v.PageRead(page)
	byRank := make([]ranking.Entry, 0, members)
	for key, m := range c.at {
		if m >= 0 {
			byRank = append(byRank, ranking.Entry{Rank: int64(len(byRank)) + 1, Member: crowdName(int(m)), Key: sortkey.Key(key), Score: int64(key)})
		}
	}
	places := make(map[string]ranking.Place, on)
	for m := range on {
		rank := int(c.rank(c.keys[m]))
		places[crowdName(m)] = ranking.Place{Entry: byRank[rank-1], Position: int64(rank), Around: byRank[max(0, rank-1-around):min(members, rank+around)]}
	}
	for l := v.Lookups(); l != nil; l = v.Lookups() {
		p := ranking.Places{State: v.State(), Ties: ties, Total: v.Total()}
		for _, one := range l {
			p.List = append(p.List, places[one.Member])
		}
		v.PlacesRead(p)
	}

	// A round of changes and then all of them back, so that it can go on for ever.
	const round = 1 << 16
	type step struct{ m, from int }
	var steps []step
	var changes []feed.Change
	for range round {
		m := on + rand.IntN(members-on)
		if on > 0 && rand.IntN(100) == 0 {
			m = rand.IntN(on)
		}
		i := rand.IntN(len(c.free))
		steps = append(steps, step{m, c.keys[m]})
		to := c.free[i]
		c.free[i] = c.keys[m]
		changes = append(changes, c.move(m, to))
	}
	for i := round - 1; i >= 0; i-- {
		changes = append(changes, c.move(steps[i].m, steps[i].from))
	}
	tied(ties, changes)
	batch := &feed.Changes{Board: "b", Epoch: "e", Seq: 1, List: make([]feed.Change, 1)}
	n := 0
	for b.Loop() {
		batch.Seq++
		batch.List[0] = changes[n%len(changes)]
		v.Apply(batch)
		v.Own()
		n++
	}
	if !v.sure {
		b.Fatal("the view is unsure")
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/change")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkTell measures what it costs to tell 100,000 followers that somebody
// new at the top has moved them all, as happens at most once a MeInterval: the
// encoding of their frames and handing them to the shards. The median of the
// longest step is for how long the board's goroutine is away from the changes.
func BenchmarkTell(b *testing.B) {
	const followed = 100_000
	f := newFakeBoard()
	h := New(f, f, Config{Log: slog.New(slog.DiscardHandler), Shards: 2})
	board := newBoard(h, theBoard)
	v := board.view
	v.sure, v.state, v.total = true, ranking.State{Epoch: "e", Seq: 1}, 10*followed
	for i := range followed {
		st := board.memberStream(crowdName(i), 0)
		st.shards.Store(h.shards[i%2].bit)
		member := v.Follow(st.member, 0)
		member.streams = append(member.streams, st)
		v.followed.enter(member, sortkey.Key(i), where{int64(i) + 2, int64(i) + 2})
	}
	for _, s := range h.shards {
		s.takeNews() // the status
	}
	var steps []time.Duration
	by := int64(1)
	for b.Loop() {
		v.state.Seq++
		v.followed.shift(place{-1, "x"}, by)
		by = -by
		var longest time.Duration
		for first := true; first || board.ranksCursor != nil; first = false {
			start := time.Now()
			board.tellRanks(start)
			h.announce(board.news...)
			board.news = board.news[:0]
			longest = max(longest, time.Since(start))
		}
		steps = append(steps, longest)
		for _, s := range h.shards {
			if news, _ := s.takeNews(); len(news) != followed/2 {
				b.Fatal("not all were told")
			}
		}
	}
	slices.Sort(steps)
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/followed, "ns/follower")
	b.ReportMetric(float64(steps[len(steps)/2].Microseconds())/1e3, "ms/longest-step")
	b.ReportMetric(0, "ns/op")
}
