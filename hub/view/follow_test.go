package view

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/feed"
	"rankcast/ranking/sortkey"
)

// A change that contradicts a followed member invalidates the view.
func TestContradictionOfAMemberInvalidates(t *testing.T) {
	t.Parallel()
	v := knownView(t)
	require.True(t, v.Apply(change(6, "m", 500, 400, 90)))
	require.EqualValues(t, 90, v.Standing(v.Member("m")).Entry.Rank)
	for what, c := range map[string]*feed.Changes{
		"another key":      change(6, "m", 501, 400, 90),
		"not there before": change(6, "m", 0, 400, 90),
		"there before":     change(6, "gone", 300, 400, 90),
		"a taken rank":     change(6, "gone", 0, 400, 200),
	} {
		v := knownView(t)
		require.False(t, v.Apply(c), what)
		require.True(t, v.NeedsPage(), what)
		require.Nil(t, v.BeginLookups(), what)
	}
}

// Without followers that see neighbours, the view tracks none.
func TestMaxAroundFollowsTheMembers(t *testing.T) {
	t.Parallel()
	v := New(0)
	a, b := v.Follow("a", 3), v.Follow("b", 7)
	require.EqualValues(t, 7, v.members.maxAround)
	v.Follow("b", 1)
	require.EqualValues(t, 3, v.members.maxAround)
	v.Unfollow(a)
	require.EqualValues(t, 1, v.members.maxAround)
	v.Unfollow(b)
	require.Zero(t, v.members.maxAround)
}

// Unfollow leaves nothing of a member in the rank index.
func TestUnfollowLeavesNothing(t *testing.T) {
	t.Parallel()
	v := knownView(t)
	require.Len(t, v.members.positions.blocks, 1)
	v.Unfollow(v.Member("m"))
	require.Empty(t, v.members.positions.blocks)
	require.Equal(t, 1, v.Followed())
}

// Neighbours become stale when a member enters or leaves among them, or beyond them where
// there are fewer than the owner shows.
func TestNeighboursBecomeStale(t *testing.T) {
	t.Parallel()
	near := func(members string) *Member {
		f := &Member{name: "m", around: 2}
		for _, m := range members {
			f.neighbours = append(f.neighbours, ranking.Entry{Key: sortkey.Key(10 * m), Member: string(m)})
		}
		return f
	}
	at := func(key rune, by int) OrderKey { return OrderKey{sortkey.Key(10*int(key) + by), "x"} }
	for _, c := range []struct {
		near string
		p    OrderKey
		old  bool
	}{
		{"klmno", at('k', -1), false}, {"klmno", at('k', 1), true}, {"klmno", at('m', 1), true}, {"klmno", at('o', -1), true},
		{"klmno", at('o', 1), false},
		{"lmno", at('l', -1), true}, {"lmno", at('o', 1), false},
		{"mno", at('m', -1), true},
		{"klmn", at('n', 1), true}, {"klmn", at('k', -1), false},
		{"klm", at('m', 1), true},
		{"m", at('m', 1), true},
	} {
		f := near(c.near)
		f.invalidateNeighbours(c.p)
		require.Equal(t, c.old, f.neighboursStale, "%s and %v", c.near, c.p)
	}
}

// pendingView follows "m", which has key 500 and rank 100 of a thousand, and "gone", which
// is not on the board. It is at seq 5 of epoch "e", and both lookups are pending.
func pendingView() (v *View, answer ranking.Places) {
	v = New(0)
	v.Follow("m", 0)
	v.Follow("gone", 0)
	page := ranking.Page{Head: ranking.Head{State: ranking.State{Epoch: "e", Seq: 5}, Total: 1000}}
	for i := range v.PageSize() {
		page.Entries = append(page.Entries, ranking.Entry{Key: sortkey.Key(i), Member: fmt.Sprint("top", i)})
	}
	v.BeginPage()
	v.ApplyPage(page)
	answer = ranking.Places{Head: ranking.Head{State: v.State(), Total: 1000}}
	for _, l := range v.BeginLookups() {
		found := ranking.Place{Entry: ranking.Entry{Member: l.Member}}
		if l.Member == "m" {
			found.Entry.Key, found.Entry.Rank, found.Position = 500, 100, 100
		}
		answer.List = append(answer.List, found)
	}
	return v, answer
}

// An answer to lookups invalidates the view where it is of an earlier seq or of another
// epoch, or contradicts the changes that arrived since.
func TestContradictingLookupInvalidates(t *testing.T) {
	t.Parallel()
	for what, alter := range map[string]func(*View, *ranking.Places){
		"gone back":    func(_ *View, p *ranking.Places) { p.Seq-- },
		"another life": func(_ *View, p *ranking.Places) { p.Epoch = "f" },
		"at odds": func(v *View, _ *ranking.Places) {
			require.True(t, v.Apply(change(6, "m", 501, 400, 90)))
		},
		"a rank twice": func(_ *View, p *ranking.Places) {
			for i := range p.List {
				p.List[i].Entry.Rank, p.List[i].Position, p.List[i].Entry.Key = 100, 100, sortkey.Key(500+i)
			}
		},
	} {
		v, answer := pendingView()
		alter(v, &answer)
		v.ApplyLookups(answer)
		require.True(t, v.NeedsPage(), what)
		require.Nil(t, v.BeginLookups(), what)
	}
}

// An answer that comes so late that the view has dropped changes behind it is of no use: the lookups are repeated.
func TestLateLookupIsRepeated(t *testing.T) {
	t.Parallel()
	v, answer := pendingView()
	for i := range int64(20) {
		require.True(t, v.Apply(changeAt(6+i, time.Duration(i)*MaxBuffering/4, "far", 5000+i, 5001+i, 990)))
	}
	require.Len(t, v.buffered, 5, "as many as are not too old")
	require.True(t, v.ApplyLookups(answer))
	require.Len(t, v.BeginLookups(), 2)
}

// tiedView follows "m" with one neighbour on each side, at position 102 and key 500 of a
// thousand members on a board with ties: "l" has the same score, "n" the next one. The view
// is valid, at seq 5 of epoch "e".
func tiedView(t *testing.T, ties definition.Ties, l, m, n int64) *View {
	v := New(0)
	v.Follow("m", 1)
	page := ranking.Page{Head: ranking.Head{State: ranking.State{Epoch: "e", Seq: 5}, Total: 1000}, Order: definition.Asc, Ties: ties}
	for i := range int64(v.PageSize()) {
		page.Entries = append(page.Entries, ranking.Entry{Rank: i + 1, Key: sortkey.Key(i), Score: i, Member: "top"})
	}
	v.BeginPage()
	require.True(t, v.ApplyPage(page))
	require.Len(t, v.BeginLookups(), 1)
	around := []ranking.Entry{{Rank: l, Key: 500.25, Member: "l"}, {Rank: m, Key: 500.5, Member: "m"}, {Rank: n, Key: 501, Member: "n"}}
	require.True(t, v.ApplyLookups(ranking.Places{Head: ranking.Head{State: page.State, Total: 1000}, Ties: ties, List: []ranking.Place{
		{Entry: around[1], Position: 102, Around: around},
	}}))
	require.Len(t, v.TakeFound(), 1)
	return v
}

// tiedChange moves a member of a board with ties to a key, or from one.
func tiedChange(seq int64, c feed.Change, old, is sortkey.Key) *feed.Changes {
	if c.Member = "x"; old > 0 {
		c.Old = &old
	}
	if is > 0 {
		c.New = &is
	}
	return &feed.Changes{Board: "b", Epoch: "e", Seq: seq, List: []feed.Change{c}}
}

// A member far above leaves or joins the score of a follower. The follower's rank stays, a
// neighbour's changes, and the follower is notified.
func TestRanksOfNeighboursChangeTheStanding(t *testing.T) {
	t.Parallel()
	v := tiedView(t, definition.Shared, 100, 100, 103)
	f := v.Member("m")
	v.MarkNotified(f, v.Standing(f))
	require.True(t, v.IsNotified(f, Placement{100, 102}))
	require.True(t, v.Apply(tiedChange(6, feed.Change{Rank: 503, Position: 503}, 500.125, 700)))
	s := v.Standing(f)
	require.EqualValues(t, 100, s.Entry.Rank)
	require.EqualValues(t, 101, s.Position)
	require.EqualValues(t, 102, s.Around[2].Rank)
	require.False(t, v.IsNotified(f, Placement{100, 101}))
	v.MarkNotified(f, s)
	require.True(t, v.IsNotified(f, Placement{100, 101}))
}

// A view that shows fewer neighbours than it read releases the scores of the others: the
// last member of such a score may leave it.
func TestScoresOfTrimmedNeighboursAreReleased(t *testing.T) {
	t.Parallel()
	v := tiedView(t, definition.Dense, 40, 40, 41)
	v.Follow("m", 0)
	require.Len(t, v.members.scores.counts, 1)
	require.True(t, v.Apply(tiedChange(6, feed.Change{Rank: 1, Position: 2, Gone: true}, 501, 0.5)), "no member has n's score")
}

// A change that contradicts the ties invalidates the view.
func TestContradictionOfTiesInvalidates(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]*feed.Changes{
		"born, and held":  tiedChange(6, feed.Change{Rank: 40, Position: 103, Born: true}, 0, 500.75),
		"gone, and held":  tiedChange(6, feed.Change{Rank: 60, Position: 203, Gone: true}, 500.75, 600),
		"an entry's rank": tiedChange(6, feed.Change{Rank: 4, Position: 6}, 0, 4.5),
	} {
		v := tiedView(t, definition.Dense, 40, 40, 41)
		require.False(t, v.Apply(c), what)
		require.True(t, v.NeedsPage(), what)
	}
	v := tiedView(t, definition.Dense, 40, 40, 41)
	require.True(t, v.Apply(tiedChange(6, feed.Change{Rank: 5, Position: 6}, 0, 4.5)))

	v = tiedView(t, definition.Dense, 40, 40, 41)
	v.Follow("n", 0)
	require.Len(t, v.BeginLookups(), 1)
	present := ranking.Head{State: v.State(), Total: 1000}
	require.True(t, v.ApplyLookups(ranking.Places{Head: present, Ties: definition.Dense, List: []ranking.Place{
		{Entry: ranking.Entry{Rank: 41, Key: 501, Member: "n"}, Position: 103},
	}}))
	c := tiedChange(6, feed.Change{Rank: 42, Position: 103}, 500.5, 501.5)
	c.List[0].Member = "m"
	require.False(t, v.Apply(c), "another rank than n's, of the same score")

	v = knownView(t)
	require.False(t, v.Apply(tiedChange(6, feed.Change{Rank: 300, Position: 301}, 0, 700)), "ties on a board without")
}

func knownView(t *testing.T) *View {
	v, answer := pendingView()
	require.True(t, v.ApplyLookups(answer))
	return v
}

// A verification finds wrong ranks in the right order.
func TestAuditComparesRanks(t *testing.T) {
	t.Parallel()
	v := tiedView(t, definition.Dense, 40, 40, 41)
	page := ranking.Page{Head: ranking.Head{State: v.State(), Total: 1000}, Order: definition.Asc, Ties: definition.Dense}
	page.Entries = v.Top(v.PageSize())
	v.BeginPage()
	require.True(t, v.ApplyPage(page))
	page.Entries[3].Rank--
	v.BeginPage()
	require.False(t, v.ApplyPage(page))

	for what, ranks := range map[string][3]int64{"its own": {41, 41, 42}, "a neighbour's": {40, 40, 42}} {
		v := tiedView(t, definition.Dense, 40, 40, 41)
		v.Sample(1)
		require.Len(t, v.BeginLookups(), 1)
		around := v.Standing(v.Member("m")).Around
		for i := range around {
			around[i].Rank = ranks[i]
		}
		present := ranking.Head{State: v.State(), Total: 1000}
		require.False(t, v.ApplyLookups(ranking.Places{Head: present, Ties: definition.Dense, List: []ranking.Place{
			{Entry: around[1], Position: 102, Around: around},
		}}), what)
		require.True(t, v.NeedsPage(), what)
	}
}

// A replacement of a board-period invalidates the view, also where the board did not exist,
// and where the replacement arrives with a page.
func TestReplacementInvalidates(t *testing.T) {
	t.Parallel()
	replaced := func(epoch string, seq int64) *feed.Changes {
		return &feed.Changes{Board: "b", Epoch: epoch, Seq: seq}
	}
	v := New(2)
	v.BeginPage()
	v.ApplyPage(ranking.Page{})
	require.True(t, v.valid)
	require.False(t, v.Apply(replaced("f", 1)))
	require.True(t, v.NeedsPage(), "it is not empty any more")

	// The page is read while changes of the epoch before arrive.
	v.BeginPage()
	c := change(8, "n", 0, 20, 2)
	c.Epoch = "old"
	v.Apply(c)
	v.Apply(replaced("g", 1))
	next := change(2, "n", 0, 20, 2)
	next.Epoch = "g"
	v.Apply(next)
	page := ranking.Page{Head: ranking.Head{State: ranking.State{Epoch: "g", Seq: 1}, Total: 1},
		Entries: []ranking.Entry{{Key: 10, Member: "m"}}}
	require.True(t, v.ApplyPage(page))
	require.True(t, v.valid)
	require.Equal(t, ranking.State{Epoch: "g", Seq: 2}, v.State())

	require.False(t, v.Apply(replaced("g", 3)))
	require.True(t, v.NeedsPage(), "of the same epoch, and still not what was there")

	v = validView()
	v.Apply(replaced("e", 5))
	require.True(t, v.valid, "it came with the page")
	v.Apply(change(6, "n", 0, 20, 2))
	require.True(t, v.valid)

	v = validView()
	v.Apply(replaced("e", 5))
	v.Apply(replaced("e", 5))
	require.False(t, v.valid, "it arrived twice")
}

// A member that moves during each look-up is recovered all the same: its standing is as of a look-up since the view started over.
func TestMovingMemberRecovers(t *testing.T) {
	t.Parallel()
	v := New(0)
	m := v.Follow("far", 0)
	shard := ranking.ShardOf("far", 2)
	states := ranking.States{{Epoch: "e", Seq: 5}, {Epoch: "f", Seq: 7}}
	head := func() ranking.Head {
		return ranking.Head{State: states.State(), Shards: slices.Clone(states), Total: 1000}
	}
	page := ranking.Page{Head: head(), Order: definition.Asc}
	for i := range v.PageSize() {
		page.Entries = append(page.Entries, ranking.Entry{Rank: int64(i) + 1, Key: sortkey.Key(i), Member: fmt.Sprint("m", i)})
	}
	v.BeginPage()
	v.ApplyPage(page)
	require.False(t, v.Recovered())
	for i := range int64(3) {
		require.Equal(t, []ranking.Lookup{{Member: "far"}}, v.BeginLookups())
		p := ranking.Places{Head: head(), ByShard: []ranking.Head{head(), head()}, List: []ranking.Place{{
			Entry: ranking.Entry{Rank: 500, Member: "far", Score: 400 + i, Key: sortkey.Key(400 + i)}, Position: 500}}}
		c := change(states[shard].Seq+1, "far", 400+i, 401+i, 250)
		c.Shard, c.Epoch = shard, states[shard].Epoch
		states[shard].Seq++
		require.True(t, v.Apply(c))
		require.True(t, v.ApplyLookups(p))
		require.True(t, v.Recovered())
		require.False(t, m.Known())
		require.EqualValues(t, 500, v.TakeFound()[0].AsOf.Entry.Rank)
		require.False(t, v.LookupsQueued(), "not before the owner takes those that moved")
		require.Equal(t, []*Member{m}, v.TakeMoved())
		v.RequestLookup(m)
	}
}
