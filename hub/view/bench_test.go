package view

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/feed"
	"rankcast/ranking/sortkey"
)

// bigBoard is a large board that computes ranks fast: a Fenwick tree over integer keys,
// each held by one member at most.
type bigBoard struct {
	tree []int32
	keys []int   // by member
	free []int   // keys without a member
	at   []int32 // member by key; -1: none
}

func newBigBoard(members int) *bigBoard {
	c := &bigBoard{tree: make([]int32, 2*members+1), keys: make([]int, members), at: make([]int32, 2*members)}
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

func (c *bigBoard) add(key int, by int32) {
	for i := key + 1; i < len(c.tree); i += i & -i {
		c.tree[i] += by
	}
}

func (c *bigBoard) put(m, key int) {
	c.keys[m], c.at[key] = key, int32(m)
	c.add(key, 1)
}

func (c *bigBoard) rank(key int) (rank int64) {
	for i := key + 1; i > 0; i -= i & -i {
		rank += int64(c.tree[i])
	}
	return rank
}

// move moves a member to a key and returns the change.
func (c *bigBoard) move(m, key int) feed.Change {
	old, now := sortkey.Key(c.keys[m]), sortkey.Key(key)
	c.add(c.keys[m], -1)
	c.at[c.keys[m]] = -1
	c.put(m, key)
	change := feed.Change{Member: memberName(m), Old: &old, New: &now, Position: c.rank(key)}
	change.Rank = change.Position
	return change
}

// tied makes the changes those of a board with these ties. All members have different
// scores, so each change creates a score and ends one.
func tied(ties definition.Ties, changes []feed.Change) {
	for i := range changes {
		changes[i].Born, changes[i].Gone = ties == definition.Dense, ties == definition.Dense
	}
}

func memberName(m int) string { return fmt.Sprintf("member-%07d", m) }

func (c *bigBoard) page(limit int) ranking.Page {
	p := ranking.Page{Head: ranking.Head{State: ranking.State{Epoch: "e", Seq: 1}, Total: int64(len(c.keys))}, Order: definition.Asc, Start: 1}
	for key := 0; len(p.Entries) < min(limit, len(c.keys)); key++ {
		if m := c.at[key]; m >= 0 {
			p.Entries = append(p.Entries, ranking.Entry{Rank: int64(len(p.Entries)) + 1, Member: memberName(int(m)), Key: sortkey.Key(key)})
		}
	}
	return p
}

// BenchmarkFollowed measures one change, of a random member to a random place, on a view of
// the top 10: without and with followed members, on a small and on a large board. 1 % of
// the changes are of followed members. Where more members are followed than half of the
// board, the others are not on the board. The last cases compare the ties, without and with
// neighbours.
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
	c := newBigBoard(members)
	on := min(followed, members/2) // members 0 to on-1
	v := New(10)
	for m := range followed {
		if m < on {
			v.Follow(memberName(m), around)
		} else {
			v.Follow(fmt.Sprint("elsewhere ", m), 0)
		}
	}
	v.BeginPage()
	page := c.page(v.PageSize())
	page.Ties = ties
	v.ApplyPage(page)
	byRank := make([]ranking.Entry, 0, members)
	for key, m := range c.at {
		if m >= 0 {
			byRank = append(byRank, ranking.Entry{Rank: int64(len(byRank)) + 1, Member: memberName(int(m)), Key: sortkey.Key(key),
				Score: int64(key)})
		}
	}
	places := make(map[string]ranking.Place, on)
	for m := range on {
		rank := int(c.rank(c.keys[m]))
		places[memberName(m)] = ranking.Place{Entry: byRank[rank-1], Position: int64(rank),
			Around: byRank[max(0, rank-1-around):min(members, rank+around)]}
	}
	for l := v.BeginLookups(); l != nil; l = v.BeginLookups() {
		p := ranking.Places{Head: ranking.Head{State: v.State(), Total: v.Total()}, Ties: ties}
		for _, one := range l {
			p.List = append(p.List, places[one.Member])
		}
		v.ApplyLookups(p)
	}

	// A round of changes, and then their reverse, so that the benchmark can repeat them.
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
		v.TakeMoved()
		n++
	}
	if !v.valid {
		b.Fatal("the view is invalid")
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/change")
	b.ReportMetric(0, "ns/op")
}
