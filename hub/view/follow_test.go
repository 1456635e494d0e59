package view

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking"
	"rankcast/ranking/feed"
	"rankcast/ranking/sortkey"
)

// A change that contradicts a followed member invalidates the view.
func TestContradictionOfAMemberInvalidates(t *testing.T) {
	t.Parallel()
	v, answer := pendingView()
	require.True(t, v.ApplyLookups(answer))
	require.True(t, v.Apply(change(6, "m", 500, 400, 90)))
	require.EqualValues(t, 90, v.Standing(v.Member("m")).Entry.Rank)
	for what, c := range map[string]*feed.Changes{
		"another key":      change(6, "m", 501, 400, 90),
		"not there before": change(6, "m", 0, 400, 90),
		"there before":     change(6, "gone", 300, 400, 90),
		"a taken rank":     change(6, "gone", 0, 400, 200),
	} {
		v, answer := pendingView()
		require.True(t, v.ApplyLookups(answer))
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
	v, answer := pendingView()
	require.True(t, v.ApplyLookups(answer))
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
