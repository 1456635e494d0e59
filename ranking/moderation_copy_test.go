package ranking

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/keyspace"
	"rankcast/ranking/redistest"
)

// moderationContent is all that a copy of the moderation says.
type moderationContent struct {
	members map[string]int64
	scopes  map[string]scopeState
	emptied []string
}

// A copy of the moderation says what a plain list of the acts says, and never changes once there is a next
// one.
func TestModerationCopies(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m, hidden, latest := &moderation{}, make(map[string]int64), make(map[string]int64)
		var before *moderation
		var was moderationContent
		scopes, members := []string{"b/b", "b/ba", "k/user"}, []string{"a", "b", "m", "z"}
		for revision := range int64(rapid.IntRange(1, 60).Draw(t, "acts")) {
			revision++
			scope, member := rapid.SampledFrom(scopes).Draw(t, "scope"), rapid.SampledFrom(members).Draw(t, "member")
			before, was = m, contentOf(m)
			m = m.next(revision, 0)
			if rapid.Bool().Draw(t, "hide") {
				m.hide(scope, member, revision)
				hidden[hiddenEntry(scope, member)] = revision
			} else {
				m.show(scope, member, revision)
				delete(hidden, hiddenEntry(scope, member))
			}
			latest[scope] = revision
			require.Equal(t, was, contentOf(before))
			require.Equal(t, hidden, contentOf(m).members)
			empty := 0
			for scope, revision := range latest {
				var in []string
				for _, member := range members {
					if _, there := hidden[hiddenEntry(scope, member)]; there {
						in = append(in, member)
					}
				}
				state, _ := m.scopes.Get(scope)
				require.Equal(t, scopeState{revision, len(in)}, state)
				if len(in) == 0 {
					empty++
				}
				after := rapid.SampledFrom([]string{"", "a", "c", "zz"}).Draw(t, "after")
				in = slices.DeleteFunc(in, func(member string) bool { return member <= after })
				require.ElementsMatch(t, in, m.page(scope, after, 9))
				require.True(t, slices.IsSorted(m.page(scope, after, 9)))
				require.Equal(t, m.page(scope, after, 9)[:min(1, len(in))], m.page(scope, after, 1))
			}
			require.Equal(t, empty, m.emptied.Len())

			require.Equal(t, m.members.Len(), m.hidings.Len())
			from, most := rapid.Int64Range(0, revision).Draw(t, "from"), rapid.Int64Range(0, 5).Draw(t, "most")
			var since []string
			n := int64(0)
			for _, member := range members {
				changes := int64(0)
				for _, scope := range []string{"b/b", "k/user"} {
					if hidden[hiddenEntry(scope, member)] > from {
						changes++
					}
				}
				if n += changes; changes > 0 {
					since = append(since, member)
				}
			}
			found, all := m.since("b", "user", from, most)
			if require.Equal(t, n <= most, all); all {
				require.Equal(t, since, found)
			}
		}
	})
}

// Members who are hidden and shown on ever new boards leave no more in a node than a bounded rest.
func TestModerationOfEverNewBoardsIsForgotten(t *testing.T) {
	t.Parallel()
	m := &moderation{}
	m.hide("b/kept", "m", 1)
	const more = 100
	for i := range int64(maxEmptied + more) {
		scope := fmt.Sprint("b/fam:", i)
		m.hide(scope, "m", 2*i+2)
		m.show(scope, "m", 2*i+3)
	}
	require.Equal(t, 1, m.members.Len())
	require.Equal(t, maxEmptied+1, m.scopes.Len())
	require.Equal(t, maxEmptied, m.emptied.Len())
	require.EqualValues(t, 2*(more-1)+3, m.forgotten)
	require.True(t, m.hides("kept", "user", "m"))
}

// Redis remembers a bounded number of members that were shown again. A node that does not know what Redis
// has forgotten reads all anew; and a member that still is to be shown on a board is shown.
func TestShownMembersAreForgotten(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		a, b, rdb, k := newNode(t, url), newNode(t, url), redistest.Dial(t, url), keyspace.New("rc")
		define(t, a, definition.Board{Name: "b"})
		apply(t, a, "b", definition.Update{Member: "m", Score: 1})
		require.NoError(t, a.Hide(t.Context(), "b", "m", Moderator{}))
		require.True(t, lookAtHidden(t, b).hides("b", "member", "m"))
		require.NoError(t, a.setHidden(t.Context(), Action{Action: actionShow, Board: "b", Member: "m"}))
		shown := lookAtHidden(t, a).revision

		// As many acts follow as Redis remembers, and one more.
		others := make([]redis.Z, maxEmptied)
		for i := range others {
			others[i] = redis.Z{Score: float64(shown + 1 + int64(i)), Member: hiddenEntry(boardScope(fmt.Sprint("fam:", i)), "m")}
		}
		for part := range slices.Chunk(others, 1000) {
			require.NoError(t, rdb.ZAdd(t.Context(), k.Shown(), part...).Err())
		}
		require.NoError(t, rdb.HSet(t.Context(), k.Definitions(), "moderated", shown+maxEmptied).Err())
		require.NoError(t, a.setHidden(t.Context(), Action{Action: actionHide, Board: "b", Member: "other"}))
		require.EqualValues(t, maxEmptied, rdb.ZCard(t.Context(), k.Shown()).Val())
		require.NoError(t, rdb.ZScore(t.Context(), k.Shown(), others[0].Member.(string)).Err())

		for name, node := range map[string]*Store{"an old copy": b, "no copy": newNode(t, url)} {
			m := lookAtHidden(t, node)
			require.False(t, m.hides("b", "member", "m"), name)
			require.True(t, m.hides("b", "member", "other"), name)
			require.Equal(t, shown, m.forgotten, name)
			require.Equal(t, maxEmptied+1, m.scopes.Len(), name)
		}
		require.NoError(t, a.setHidden(t.Context(), Action{Action: actionShow, Board: "b", Member: "other"}))
		// An act removes several, where there are more than Redis remembers.
		for part := range slices.Chunk(others[:100], 100) {
			for i := range part {
				part[i].Member = hiddenEntry("b/more", fmt.Sprint("m", i))
			}
			require.NoError(t, rdb.ZAdd(t.Context(), k.Shown(), part...).Err())
		}
		before := rdb.ZCard(t.Context(), k.Shown()).Val()
		require.NoError(t, a.setHidden(t.Context(), Action{Action: actionHide, Board: "b", Member: "other"}))
		require.Less(t, rdb.ZCard(t.Context(), k.Shown()).Val(), before-1)

		d := must(b.catalog.readFresh(t.Context()))(t)
		periods := must(b.periodRecords(t.Context(), nil, "b"))(t)
		require.Empty(t, entriesOf(t, b, "b"))
		forgotten := *d.hidden
		forgotten.scopes = *forgotten.scopes.Copy()
		forgotten.scopes.Delete("b/b")
		require.NoError(t, b.moderate(t.Context(), "b", d.boards["b/0"], &forgotten, periods))
		require.Equal(t, []string{"m 1 #1"}, entriesOf(t, b, "b"))
	})
}

// A node reads all members that one revision has hidden, however many they are.
func TestManyHiddenByOneRevision(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		rdb, k := redistest.Dial(t, url), keyspace.New("rc")
		want := map[string]int64{"b/b\x1ffirst": 1}
		for i := range 2*moderationPage + 7 {
			want[hiddenEntry("b/b", fmt.Sprint("m", i))] = 2
		}
		want["b/b\x1flast"] = 3
		var all []redis.Z
		for entry, revision := range maps.All(want) {
			all = append(all, redis.Z{Score: float64(revision), Member: entry})
		}
		require.NoError(t, rdb.ZAdd(t.Context(), k.Hidden(), all...).Err())
		require.NoError(t, rdb.HSet(t.Context(), k.Definitions(), "moderated", 3).Err())
		require.Equal(t, want, contentOf(lookAtHidden(t, newNode(t, url))).members)
	})
}
