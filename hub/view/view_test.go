package view

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/feed"
	"rankcast/ranking/sortkey"
)

func change(seq int64, member string, was, is, rank int64) *feed.Changes {
	c := feed.Change{Member: member, Rank: rank, Position: rank}
	if was != 0 {
		k := sortkey.Key(was)
		c.Old = &k
	}
	if is != 0 {
		k := sortkey.Key(is)
		c.New = &k
	}
	return &feed.Changes{Board: "b", Epoch: "e", Seq: seq, List: []feed.Change{c}}
}

// changeAt is change that the node receives at a time.
func changeAt(seq int64, at time.Duration, member string, was, is, rank int64) *feed.Changes {
	c := change(seq, member, was, is, rank)
	c.Received = at
	return c
}

// A view with fewer entries than the board appends the next member: the position says that
// no member is in between.
func TestTopAppendsTheNextMember(t *testing.T) {
	t.Parallel()
	v := New(2)
	page := ranking.Page{Head: ranking.Head{State: ranking.State{Epoch: "e", Seq: 1}, Total: 100}}
	for i := range v.PageSize() {
		page.Entries = append(page.Entries, ranking.Entry{Key: sortkey.Key(10 * (i + 1)), Member: "m"})
	}
	v.BeginPage()
	v.ApplyPage(page)
	w := len(v.entries)
	v.Apply(change(2, "m", 10, 0, 0))
	require.Len(t, v.entries, w-1, "a member left")
	v.Apply(change(3, "far", 0, 5000, 60))
	require.Len(t, v.entries, w-1, "a member far behind is not appended")
	v.Apply(change(4, "next", 0, int64(10*w+5), int64(w)))
	require.Len(t, v.entries, w)
	require.Equal(t, "next", v.entries[w-1].member)
	require.True(t, v.valid)
	v.Apply(change(5, "wrong", 0, 15, 3))
	require.False(t, v.valid, "a rank that contradicts the view")
}

// The buffer is bounded by time, whatever the number of changes. A page is good if the buffer has all changes behind it.
func TestLatePage(t *testing.T) {
	t.Parallel()
	for seq, good := range map[int64]bool{0: false, 14: false, 15: true, 20: true} {
		v := New(2)
		v.BeginPage()
		for i := range int64(20) {
			v.Apply(changeAt(i+1, time.Duration(i)*MaxBuffering/4, "m", i, i+1, 1))
		}
		require.Len(t, v.buffered, 5)
		v.ApplyPage(ranking.Page{Head: ranking.Head{State: ranking.State{Epoch: "e", Seq: seq}, Total: 1}, Order: definition.Asc,
			Entries: []ranking.Entry{{Rank: 1, Member: "m", Score: seq, Key: sortkey.Key(seq)}}})
		require.Equal(t, good, v.valid, "a page of seq %d", seq)
		require.Equal(t, !good, v.NeedsPage())
	}
	v := New(2)
	v.BeginPage()
	for i := range int64(100_000) {
		v.Apply(changeAt(i+1, time.Duration(i)*time.Microsecond, "m", i, i+1, 1))
	}
	v.ApplyPage(ranking.Page{Head: ranking.Head{State: ranking.State{Epoch: "e"}}, Order: definition.Asc})
	require.True(t, v.valid, "a fast board")
}

// The masters of two shards may have clocks that differ by more than MaxBuffering, and a clock may be set back. A view that is read while
// both change becomes valid all the same, and its buffer stays bounded.
func TestBufferingOfShardsWithOtherClocks(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	v := New(2)
	v.BeginPage()
	for i := range int64(40) {
		for shard := range 2 {
			c := changeAt(i+1, time.Duration(i)*time.Second/4, "m", i, i+1, 1)
			c.Shard, c.At = shard, now.Add(time.Duration(shard)*time.Minute)
			if c.Epoch = string(rune('e' + shard)); i > 20 {
				c.At = c.At.Add(-time.Hour)
			}
			c.List[0].Member = string(rune('m' + shard))
			v.Apply(c)
		}
	}
	require.Len(t, v.buffered, 2*21, "those of five seconds")
	states := ranking.States{{Epoch: "e", Seq: 19}, {Epoch: "f", Seq: 20}}
	v.ApplyPage(ranking.Page{Head: ranking.Head{State: states.State(), Shards: states, Total: 2}, Order: definition.Asc,
		Entries: []ranking.Entry{{Rank: 1, Member: "m", Score: 19, Key: 19}, {Rank: 2, Member: "n", Score: 20, Key: 20}}})
	require.True(t, v.valid)
	require.Equal(t, ranking.States{{Epoch: "e", Seq: 40}, {Epoch: "f", Seq: 40}}, v.States())
}

// validView is a view of a page with one member, at seq 5 of epoch "e".
func validView() *View {
	v := New(2)
	v.BeginPage()
	v.ApplyPage(ranking.Page{Head: ranking.Head{State: ranking.State{Epoch: "e", Seq: 5}, Total: 1},
		Entries: []ranking.Entry{{Key: 10, Member: "m"}}})
	return v
}

// A change of another epoch invalidates the view, even where its seq is the next one.
func TestAnotherEpochInvalidates(t *testing.T) {
	t.Parallel()
	v := validView()
	c := change(6, "n", 0, 20, 2)
	c.Epoch = "f"
	require.False(t, v.Apply(c))
	require.False(t, v.valid)
}

// One subscription never repeats a seq. A seq that arrives a second time is another change:
// Redis failed over to a late replica.
func TestSeqRegressionInvalidates(t *testing.T) {
	t.Parallel()
	v := validView()
	v.Apply(change(6, "n", 0, 20, 2))
	v.Apply(change(7, "o", 0, 30, 3))
	require.True(t, v.valid)
	v.Apply(change(7, "p", 0, 40, 3))
	require.False(t, v.valid, "seq 7 arrived twice")
	// The pending page may be from before or after that.
	v.BeginPage()
	v.Apply(change(7, "q", 0, 50, 3))
	v.ApplyPage(ranking.Page{Head: ranking.Head{State: ranking.State{Epoch: "e", Seq: 7}}})
	require.False(t, v.valid, "the page may be from before")
	// A change that the page already contains is no regression: a page may be ahead of the
	// feed.
	v = validView()
	v.Apply(change(4, "x", 0, 40, 3))
	v.Apply(change(5, "m", 0, 10, 1))
	v.Apply(change(6, "n", 0, 20, 2))
	require.True(t, v.valid, "changes behind the page are passed over")
	require.EqualValues(t, 6, v.State().Seq)
}

// A page of another period moves the view to that period, with the changes that have
// arrived for it. A regression of that period, before or after, invalidates the view.
func TestPageOfAnotherPeriodMovesTheView(t *testing.T) {
	t.Parallel()
	next := func(seq int64, member string, is, rank int64) *feed.Changes {
		c := change(seq, member, 0, is, rank)
		c.Period, c.Epoch = "next", "f"
		return c
	}
	page := ranking.Page{Head: ranking.Head{State: ranking.State{Epoch: "f", Seq: 1}, Period: "next", Total: 1},
		Entries: []ranking.Entry{{Key: 10, Member: "m"}}}
	moved := func(batches ...*feed.Changes) *View {
		v := validView()
		v.BeginPage()
		for _, c := range batches {
			v.Apply(c)
			require.True(t, v.valid)
		}
		v.ApplyPage(page)
		require.Equal(t, "next", v.Period())
		return v
	}
	v := moved(next(1, "m", 10, 1), change(6, "n", 0, 20, 2), next(2, "n", 20, 2))
	require.True(t, v.valid)
	require.Equal(t, ranking.State{Epoch: "f", Seq: 2}, v.State())
	require.True(t, v.Apply(next(3, "o", 30, 3)))
	require.False(t, v.Apply(change(7, "o", 0, 30, 3)), "of the period before")
	require.True(t, v.valid)
	require.EqualValues(t, 3, v.Total())

	v = moved(next(1, "m", 10, 1), next(2, "n", 20, 2), next(2, "o", 20, 2))
	require.False(t, v.valid, "the page may be from before or after the regression")
	require.True(t, v.NeedsPage())

	v = moved(next(1, "m", 10, 1), next(2, "n", 20, 2))
	v.Apply(next(2, "o", 20, 2))
	require.False(t, v.valid)
}

// A closed period that is read as empty has lost the changes that arrived. It does not
// begin again.
func TestChangesOfALostClosedPeriodAreIgnored(t *testing.T) {
	t.Parallel()
	v := New(2)
	v.BeginPage()
	v.Apply(change(1, "m", 0, 10, 1))
	lost := ranking.Page{Head: ranking.Head{Bounds: ranking.Bounds{Final: true}}}
	v.ApplyPage(lost)
	require.False(t, v.valid)
	require.True(t, v.NeedsPage())
	v.BeginPage()
	v.ApplyPage(lost)
	require.True(t, v.Covers(2))
	require.True(t, v.Final())
	require.Empty(t, v.Top(2))
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
