package ranking_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
)

// what is public of a board, and a line for each entry.
func publicOf(t testing.TB, s *ranking.Store, board string) (lines []string) {
	t.Helper()
	p := must(s.Page(t.Context(), board, 1, 100))(t)
	for _, e := range p.Entries {
		lines = append(lines, fmt.Sprintf("%d %s %d %s", e.Rank, e.Member, e.Score, e.Data))
	}
	return lines
}

// A frozen board stands still for the public while updates count, and each revealed member comes to the place that it would have had.
func TestFreezeAndReveal(t *testing.T) {
	t.Parallel()
	for _, ties := range []definition.Ties{definition.First, definition.Shared, definition.Dense, definition.ByMember} {
		t.Run(string(ties), func(t *testing.T) {
			redistest.Engines(t, func(t *testing.T, url string) {
				s := open(t, url, definition.Board{Name: "final", Ties: ties, Reveal: definition.RevealHost}, definition.Board{Name: "open", Ties: ties})
				both := func(u definition.Update) (frozen, open ranking.Outcome) {
					t.Helper()
					return applyOne(t, s, "final", u), applyOne(t, s, "open", u)
				}
				for i, m := range []string{"a", "b", "c", "d"} {
					both(definition.Update{Member: m, Score: int64(10 * (4 - i))})
				}
				was := publicOf(t, s, "final")
				by := ranking.Moderator{Reason: "the finish"}
				head := must(s.Freeze(t.Context(), "final", by))(t)
				require.NotNil(t, head.Frozen)
				require.Equal(t, definition.RevealHost, head.Frozen.Reveals)
				before := must(s.Page(t.Context(), "final", 1, 100))(t)
				for _, u := range []definition.Update{
					{Member: "d", Score: 35, ID: "1"}, {Member: "new", Score: 45, Data: `{"from":"x"}`}, {Member: "c", Score: 10}, {Member: "b", Score: 1},
					{Member: "b", Score: 4, Data: `1`},
				} {
					o, _ := both(u)
					require.NoError(t, o.Err)
					require.Equal(t, ranking.Result{Frozen: true}, o.Result)
				}
				o, _ := both(definition.Update{Member: "d", Score: 35, ID: "1"})
				require.Equal(t, ranking.Result{Frozen: true, Duplicate: true}, o.Result)
				_, err := s.Remove(t.Context(), "final", "a")
				require.NoError(t, err)
				_, err = s.Remove(t.Context(), "open", "a")
				require.NoError(t, err)

				require.Equal(t, was, publicOf(t, s, "final"))
				after := must(s.Page(t.Context(), "final", 1, 100))(t)
				require.Equal(t, before, after)

				pending := must(s.Pending(t.Context(), "final", ranking.PendingQuery{Limit: 10}))(t)
				var order []string
				for _, e := range pending.Entries {
					order = append(order, e.Member)
				}
				require.Equal(t, []string{"new", "d", "c", "b", "a"}, order)
				final := make(map[string]int64)
				for _, e := range must(s.Page(t.Context(), "open", 1, 100))(t).Entries {
					final[e.Member] = e.Rank
				}
				for _, e := range pending.Entries {
					if e.Pending != nil && ties != definition.Dense {
						require.Equal(t, final[e.Member], e.Pending.Rank, e.Member)
					}
				}
				first := must(s.Reveal(t.Context(), "final", []string{"new"}, by))(t)
				require.EqualValues(t, 4, first.Left)
				require.Nil(t, first.List[0].Previous)
				require.EqualValues(t, 45, first.List[0].Current.Score)
				again := must(s.Reveal(t.Context(), "final", []string{"new"}, by))(t)
				require.Empty(t, again.List)
				all := must(s.RevealAll(t.Context(), "final", by))(t)
				require.Nil(t, all.Frozen)
				require.EqualValues(t, 4, all.Count)
				require.Equal(t, publicOf(t, s, "open"), publicOf(t, s, "final"))
				o, open := both(definition.Update{Member: "d", Score: 35, ID: "1"})
				require.Equal(t, open.Result.Current.Score, o.Result.Current.Score)
				require.True(t, o.Result.Duplicate)
				require.EqualValues(t, 10, o.Result.Previous.Score)
				o, open = both(definition.Update{Member: "d", Score: 1})
				require.Equal(t, open, o)
			})
		})
	}
}
