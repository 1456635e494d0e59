package hub

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/feed"
	"rankcast/ranking/sortkey"
)

// tiedView follows "m" with one neighbour on each side, at position 102 and key 500 of
// a thousand places on a board with ties: "l" holds the same score, "n" the next. The
// view is at seq 5 of epoch "e", and knows.
func tiedView(t *testing.T, ties definition.Ties, l, m, n int64) *View {
	v := NewView(0)
	v.Follow("m", 1)
	page := ranking.Page{State: ranking.State{Epoch: "e", Seq: 5}, Order: definition.Asc, Ties: ties, Total: 1000}
	for i := range int64(v.Window()) {
		page.Entries = append(page.Entries, ranking.Entry{Rank: i + 1, Key: sortkey.Key(i), Score: i, Member: "top"})
	}
	v.PageAsked()
	require.True(t, v.PageRead(page))
	require.Len(t, v.Lookups(), 1)
	around := []ranking.Entry{{Rank: l, Key: 500.25, Member: "l"}, {Rank: m, Key: 500.5, Member: "m"}, {Rank: n, Key: 501, Member: "n"}}
	require.True(t, v.PlacesRead(ranking.Places{State: page.State, Ties: ties, Total: 1000, List: []ranking.Place{
		{Entry: around[1], Position: 102, Around: around},
	}}))
	require.Len(t, v.Found(), 1)
	return v
}

// tiedChange takes a member of a board with ties to a key, or from one.
func tiedChange(seq int64, c feed.Change, old, is sortkey.Key) *feed.Changes {
	if c.Member = "x"; old > 0 {
		c.Old = &old
	}
	if is > 0 {
		c.New = &is
	}
	return &feed.Changes{Board: "b", Epoch: "e", Seq: seq, List: []feed.Change{c}}
}

// Somebody far above leaves the score that a follower shares, or joins it: its own
// rank stays, a neighbour's does not, and that is told.
func TestRanksOfNeighboursAreTold(t *testing.T) {
	v := tiedView(t, definition.Shared, 100, 100, 103)
	f := v.Following("m")
	v.Told(f, v.Standing(f))
	require.True(t, v.Unchanged(f, where{100, 102}))
	require.True(t, v.Apply(tiedChange(6, feed.Change{Rank: 503, Position: 503}, 500.125, 700)))
	s := v.Standing(f)
	require.EqualValues(t, 100, s.Entry.Rank)
	require.EqualValues(t, 101, s.Position)
	require.EqualValues(t, 102, s.Around[2].Rank)
	require.False(t, v.Unchanged(f, where{100, 101}))
	v.Told(f, s)
	require.True(t, v.Unchanged(f, where{100, 101}))
}

// A view with fewer neighbours than it read does not hold the score of somebody whom
// it does not show, and who may leave it.
func TestScoresOfUnwantedNeighboursAreDropped(t *testing.T) {
	v := tiedView(t, definition.Dense, 40, 40, 41)
	v.Follow("m", 0)
	require.Len(t, v.followed.tiers.counts, 1)
	require.True(t, v.Apply(tiedChange(6, feed.Change{Rank: 1, Position: 2, Gone: true}, 501, 0.5)), "n's score has nobody")
}

// A message at odds with what is known of the ties makes the view unsure.
func TestContradictionOfTiesMakesAViewUnsure(t *testing.T) {
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
	require.Len(t, v.Lookups(), 1)
	require.True(t, v.PlacesRead(ranking.Places{State: v.State(), Ties: definition.Dense, Total: 1000, List: []ranking.Place{
		{Entry: ranking.Entry{Rank: 41, Key: 501, Member: "n"}, Position: 103},
	}}))
	c := tiedChange(6, feed.Change{Rank: 42, Position: 103}, 500.5, 501.5)
	c.List[0].Member = "m"
	require.False(t, v.Apply(c), "another rank than n's, of the same score")

	v = farKnown(t)
	require.False(t, v.Apply(tiedChange(6, feed.Change{Rank: 300, Position: 301}, 0, 700)), "ties on a board without")
}

func farKnown(t *testing.T) *View {
	v, answer := farView()
	require.True(t, v.PlacesRead(answer))
	return v
}

// An audit sees ranks that are wrong though all stand where they should.
func TestAuditComparesRanks(t *testing.T) {
	v := tiedView(t, definition.Dense, 40, 40, 41)
	page := ranking.Page{State: v.State(), Order: definition.Asc, Ties: definition.Dense, Total: 1000}
	page.Entries = v.Top(v.Window())
	v.PageAsked()
	require.True(t, v.PageRead(page))
	page.Entries[3].Rank--
	v.PageAsked()
	require.False(t, v.PageRead(page))

	for what, ranks := range map[string][3]int64{"its own": {41, 41, 42}, "a neighbour's": {40, 40, 42}} {
		v := tiedView(t, definition.Dense, 40, 40, 41)
		v.Sample(1)
		require.Len(t, v.Lookups(), 1)
		around := v.Standing(v.Following("m")).Around
		for i := range around {
			around[i].Rank = ranks[i]
		}
		require.False(t, v.PlacesRead(ranking.Places{State: v.State(), Ties: definition.Dense, Total: 1000, List: []ranking.Place{
			{Entry: around[1], Position: 102, Around: around},
		}}), what)
		require.True(t, v.NeedsPage(), what)
	}
}

// A board-period that was replaced as a whole is read anew: a message of that is no
// change, not even of a board that was not there, nor where it came with a page.
func TestReplacedIsReadAnew(t *testing.T) {
	replaced := func(epoch string, seq int64) *feed.Changes {
		return &feed.Changes{Board: "b", Epoch: epoch, Seq: seq}
	}
	v := NewView(2)
	v.PageAsked()
	v.PageRead(ranking.Page{})
	require.True(t, v.sure)
	require.False(t, v.Apply(replaced("f", 1)))
	require.True(t, v.NeedsPage(), "it is not empty any more")

	// Read while changes of the life before are heard.
	v.PageAsked()
	c := change(8, "n", 0, 20, 2)
	c.Epoch = "old"
	v.Apply(c)
	v.Apply(replaced("g", 1))
	next := change(2, "n", 0, 20, 2)
	next.Epoch = "g"
	v.Apply(next)
	page := ranking.Page{State: ranking.State{Epoch: "g", Seq: 1}, Total: 1, Entries: []ranking.Entry{{Key: 10, Member: "m"}}}
	require.True(t, v.PageRead(page))
	require.True(t, v.sure)
	require.Equal(t, ranking.State{Epoch: "g", Seq: 2}, v.State())

	require.False(t, v.Apply(replaced("g", 3)))
	require.True(t, v.NeedsPage(), "of the same epoch, and still not what was there")

	v = sureView()
	v.Apply(replaced("e", 5))
	require.True(t, v.sure, "it came with the page")
	v.Apply(change(6, "n", 0, 20, 2))
	require.True(t, v.sure)

	v = sureView()
	v.Apply(replaced("e", 5))
	v.Apply(replaced("e", 5))
	require.EqualValues(t, 6, v.course.twice, "heard twice")
}

// What a change does to the ranks of those who did not move is in the delta.
func TestDeltaHasRanksThatOthersMoved(t *testing.T) {
	inBubble(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.ties = definition.Dense
		for i, score := range []int64{90, 80, 80, 70, 60, 50, 40, 30} {
			f.set(string(rune('a'+i)), score)
		}
		_, conn, _ := join(t, h, 8)
		_, me, _ := follow(t, h, 1, "g", 0)
		h.FeedSubscribed("b")
		synctest.Wait()
		conn.take(t)
		me.take(t)
		require.EqualValues(t, 2, f.top(8)[2].Rank)
		h.FeedChanges(f.set("e", 70)) // where nobody but e moves, and nobody holds 60 any more
		pass(2 * time.Second)
		require.Equal(t, []string{"delta"}, conn.take(t))
		require.Equal(t, f.top(8), conn.board.Top)
		require.Equal(t, []string{"me"}, me.take(t))
		meHolds(t, f, me, "g", 0)
	})
}

// A board that was replaced is shown as the snapshot of another life, and followers
// are told anew.
func TestReplacedBoardIsShown(t *testing.T) {
	inBubble(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(100)
		_, conn, _ := follow(t, h, 3, "m050", 2)
		h.FeedSubscribed("b")
		pass(3 * time.Second)
		conn.take(t)
		pages := len(f.pages)
		h.FeedChanges(f.replace(map[string]int64{"m050": 1, "m051": 2, "m001": 3, "x": 4}))
		pass(resyncJitter)
		require.Equal(t, []string{"snapshot", "me"}, conn.take(t))
		require.Len(t, f.pages, pages+1)
		require.Equal(t, f.top(3), conn.board.Top)
		meHolds(t, f, conn, "m050", 2)
		h.FeedChanges(f.set("m001", 0))
		pass(2 * time.Second)
		require.Equal(t, f.top(3), conn.board.Top)
		meHolds(t, f, conn, "m050", 2)
		require.Len(t, f.pages, pages+1)
		require.Empty(t, f.logged())
	})
}
