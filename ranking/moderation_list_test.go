package ranking

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/keyspace"
	"rankcast/ranking/redistest"
)

// The list of hidden members is of one state, although a moderator hides another member between any two commands of its
// reader: none is told to be hidden on all boards of the kind that is not, and the total counts those of the list.
func TestHiddenIsReadAtOneState(t *testing.T) {
	onTwoNodes(t, []definition.Board{{Name: "b", Kind: "user"}}, func(t *testing.T, moderator, reader *Store) {
		hide := func(member string) {
			must(moderator.Apply(t.Context(), "b", []definition.Update{{Member: member, Score: 1}}))(t)
			require.NoError(t, moderator.Hide(t.Context(), "b", member, Moderator{}))
		}
		hide("m0")
		_, err := reader.Hidden(t.Context(), "b", "", 1) // the node knows the definitions
		require.NoError(t, err)
		n := 0
		betweenCommands(reader, func() { n++; hide(fmt.Sprint("m", n)) })
		page := must(reader.Hidden(t.Context(), "b", "", MaxHiddenPage))(t)
		require.NotEmpty(t, page.Members)
		require.Len(t, page.Members, page.Total)
		for _, h := range page.Members {
			require.False(t, h.Everywhere, h.Member)
			require.NotNil(t, h.Score, h.Member)
		}
	})
}

// All pages together list each hidden member once, by id, with the score of the period; whether few have one
// or many.
func TestPagesOfHidden(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ onBoard, scored, everywhere, everywhereScored int }{
		{0, 0, 0, 0}, {3, 0, 0, 0}, {7, 4, 5, 3}, {90, 80, 150, 60},
		{0, 0, 2 * moderationPage, 2*moderationPage - 1}, {100, 40, 2 * moderationPage, moderationPage},
		{moderationPage + 50, moderationPage + 9, 0, 0}, {2 * moderationPage, 20, 2 * moderationPage, moderationPage + 200},
		{5, 5, maxLookedAt + 2000, moderationPage + 1},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			redistest.Engines(t, func(t *testing.T, url string) {
				s, rdb, k := newNode(t, url), redistest.Dial(t, url), keyspace.New("rc")
				define(t, s, definition.Board{Name: "b", Kind: "user"})
				want := make(map[string]HiddenMember)
				var hidden []redis.Z
				scored := make(map[string][]redis.Z) // by key
				revision := 0
				hide := func(scope, member string, everywhere, withScore bool) {
					revision++
					hidden = append(hidden, redis.Z{Score: float64(revision), Member: hiddenEntry(scope, member)})
					h := HiddenMember{Member: member, Everywhere: everywhere}
					if withScore {
						h.Score = new(int64(revision))
						key := keysOf(s, "b", "", member).Hidden
						scored[key] = append(scored[key], redis.Z{Score: float64(-revision), Member: member})
					}
					if old, both := want[member]; both { // on the board too
						h.Score, h.Everywhere = old.Score, false
					} else if everywhere && !withScore {
						return
					}
					want[member] = h
				}
				for i := range c.onBoard {
					hide("b/b", fmt.Sprintf("m%05d", 3*i), false, i < c.scored)
				}
				for i := range c.everywhere { // those with a score come last
					member := fmt.Sprintf("m%05d", 2*i+1)
					_, both := want[member]
					hide("k/user", member, true, !both && i >= c.everywhere-c.everywhereScored)
				}
				for part := range slices.Chunk(hidden, 1000) {
					require.NoError(t, rdb.ZAdd(t.Context(), k.Hidden(), part...).Err())
				}
				for key, scored := range scored {
					for part := range slices.Chunk(scored, 1000) {
						require.NoError(t, rdb.ZAdd(t.Context(), key, part...).Err())
					}
				}
				require.NoError(t, rdb.HSet(t.Context(), k.Definitions(), "moderated", revision).Err())
				var all []HiddenMember
				for _, member := range slices.Sorted(maps.Keys(want)) {
					all = append(all, want[member])
				}
				for _, limit := range []int{MaxHiddenPage, max(1, len(all)), max(1, len(all)/5)} {
					limit = min(limit, MaxHiddenPage)
					var got []HiddenMember
					for after, pages := "", 0; ; pages++ {
						page := must(s.Hidden(t.Context(), "b", after, limit))(t)
						require.Equal(t, len(all), page.Total)
						require.LessOrEqual(t, len(page.Members), limit)
						got = append(got, page.Members...)
						if page.Next == "" {
							require.LessOrEqual(t, pages, len(all)/limit+c.everywhere/maxLookedAt+1)
							break
						}
						after = page.Next
					}
					require.Equal(t, all, got)
				}
				var kinds []string
				for after := ""; ; {
					page := must(s.HiddenEverywhere(t.Context(), "user", after, 900))(t)
					require.Equal(t, c.everywhere, page.Total)
					kinds = append(kinds, page.Members...)
					if after = page.Next; after == "" {
						break
					}
				}
				require.Len(t, slices.Compact(kinds), c.everywhere)
				require.True(t, slices.IsSorted(kinds))
			})
		})
	}
}

// A list of a member's places has the boards of the kind that hide it by themselves, and no other.
func TestPlacesOfAHiddenMember(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		s := newNode(t, url)
		define(t, s, definition.Board{Name: "a", Kind: "user"}, definition.Board{Name: "fans:{star}", Kind: "user"},
			definition.Board{Name: "stars", Kind: "star"})
		for _, board := range []string{"stars", "fans:s2", "fans:s1", "a"} {
			require.NoError(t, s.Hide(t.Context(), board, "u", Moderator{}))
		}
		require.NoError(t, s.Hide(t.Context(), "fans:s3", "other", Moderator{}))
		require.NoError(t, s.HideEverywhere(t.Context(), "star", "u", Moderator{}))
		places := func(kind, after string, limit int) HiddenPlaces {
			return must(s.HiddenPlaces(t.Context(), kind, "u", after, limit, func(board string) bool { return board != "fans:s1" }))(t)
		}
		require.Equal(t, HiddenPlaces{false, []string{"a", "fans:s2"}, ""}, places("user", "", 2))
		require.Equal(t, HiddenPlaces{false, []string{"a"}, "a"}, places("user", "", 1))
		require.Equal(t, HiddenPlaces{false, []string{"fans:s2"}, ""}, places("user", "a", 1))
		require.Equal(t, HiddenPlaces{true, []string{"stars"}, ""}, places("star", "", 9))
		require.NoError(t, s.Show(t.Context(), "fans:s2", "u", Moderator{}))
		require.NoError(t, s.ShowEverywhere(t.Context(), "star", "u", Moderator{}))
		require.Equal(t, HiddenPlaces{false, []string{"a"}, ""}, places("user", "", 9))
		require.Equal(t, HiddenPlaces{false, []string{"stars"}, ""}, places("star", "", 9))
		refused(t, errorOf(s.HiddenPlaces(t.Context(), "user", "u", "", 0, nil)), "limit")
		refused(t, errorOf(s.HiddenPlaces(t.Context(), "No", "u", "", 1, nil)), "kind")
		refused(t, errorOf(s.HiddenPlaces(t.Context(), "user", "", "", 1, nil)), "member")
	})
}

// A list of hidden members, and a page of the audit, wait while another caller has the turn.
func TestModeratorsTakeTurns(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		s, rdb, k := newNode(t, url), redistest.Dial(t, url), keyspace.New("rc")
		define(t, s, definition.Board{Name: "few"}, definition.Board{Name: "many"})
		apply(t, s, "few", definition.Update{Member: "m", Score: 1})
		require.NoError(t, s.Hide(t.Context(), "few", "m", Moderator{}))
		var scored []redis.Z
		for i := range moderationPage + 1 {
			scored = append(scored, redis.Z{Score: 1, Member: fmt.Sprint("m", i)})
		}
		require.NoError(t, rdb.ZAdd(t.Context(), k.Board("many", "").Hidden, scored...).Err())
		for _, board := range []string{"few", "many"} {
			waitsForTurn(t, s, func(ctx context.Context) error { return errorOf(s.Hidden(ctx, board, "", 1)) })
		}
		waitsForTurn(t, s, func(ctx context.Context) error { return errorOf(s.Audit(ctx, "", 1)) })
	})
}

// Callers that each carry a long count on by a part complete it together.
func TestCallersShareALongCount(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		s, k := newNode(t, url), keyspace.New("rc")
		m := &moderation{}
		for i := range int64(3*moderationPage - 1) {
			m.hide("b/b", fmt.Sprint("m", i), i+1)
		}
		l := hiddenList{s, m, "b/b", "k/user", []keyspace.BoardKeys{k.Board("b", "")}, definition.Desc}
		var count hiddenCount
		for part := 1; part < 3; part++ {
			require.NoError(t, l.countPart(t.Context(), &count))
			require.False(t, count.complete)
			require.Equal(t, part*moderationPage, count.unscored)
		}
		s.hiddenCounts.Put(l.shards[0].Hidden, count, 1)
		// The list does not count the first parts again: it would find no members there any more.
		rest := &moderation{}
		for member := range m.in("b/b", count.after) {
			rest.hide("b/b", member, 1)
		}
		for i := range moderationPage {
			rest.hide("b/b", fmt.Sprint("a", i), 1)
		}
		l.moderation = rest
		require.Equal(t, 3*moderationPage-1, must(l.countUnscored(t.Context()))(t))
	})
}
