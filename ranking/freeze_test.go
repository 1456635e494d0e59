package ranking_test

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
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
				s := open(t, url, definition.Board{Name: "final", Ties: ties, Reveal: definition.RevealHost},
					definition.Board{Name: "open", Ties: ties})
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

// A frozen board with columns counts, refuses and reveals by column.
func TestFrozenColumns(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, url string) {
		s := open(t, url, definition.Board{Name: "contest", Reveal: definition.RevealHost, Columns: definition.Columns{
			{Name: "solved", Max: 3}, {Name: "penalty", Order: definition.Asc, Max: 99}}})
		solve := func(member string, penalty int64) ranking.Outcome {
			return applyOne(t, s, "contest", definition.Update{Member: member, Columns: map[string]int64{"solved": 1, "penalty": penalty}})
		}
		require.NoError(t, solve("a", 10).Err)
		require.NoError(t, solve("b", 5).Err)
		must(s.Freeze(t.Context(), "contest", ranking.Moderator{Reason: "the last hour"}))(t)
		pends := solve("a", 60).Result
		require.True(t, pends.Frozen)
		require.Nil(t, pends.Current)
		refused := solve("a", 60)
		ranking.Refuses(t, "columns.penalty", definition.ErrOutOfRange, refused.Err)
		require.True(t, refused.Result.Frozen)
		require.Equal(t, []string{"1 b 95 ", "2 a 90 "}, publicOf(t, s, "contest"))
		r := must(s.RevealAll(t.Context(), "contest", ranking.Moderator{}))(t)
		require.EqualValues(t, 130, r.List[0].Current.Score)
		require.JSONEq(t, `{"solved":2,"penalty":70}`, string(r.Columns.JSON(130)))
		require.Equal(t, []string{"1 a 130 ", "2 b 95 "}, publicOf(t, s, "contest"))
	})
}

// The feed of an event leaves out what it does to a frozen board, also after the reveal, unless the definition keeps it on. A viewer
// cannot tell a refusal from an update that counts.
func TestFrozenFeedPauses(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, url string) {
		s := open(t, url, definition.Board{Name: "idols", Min: new(int64(0)), Max: new(int64(10)), Reveal: definition.RevealHost})
		for name, feed := range map[string]definition.FreezeFeed{"vote": "", "loud": definition.FeedOn} {
			e := definition.Event{Name: name, Sender: "idol", FreezeFeed: feed,
				Rules:   definition.FieldRules{"n": {Min: new(int64(-20)), Max: new(int64(20))}},
				Updates: []definition.Target{{Board: "idols", Member: "{idol}", Score: "{n}"}}}
			require.NoError(t, s.Define(t.Context(), definition.Set{Events: []definition.Event{e}}))
		}
		vote, loud := listen(t, url, "vote"), listen(t, url, "loud")
		call := func(id string, n int) ranking.EventCall {
			return ranking.EventCall{ID: id, Fields: map[string]jsontext.Value{"idol": jsontext.Value(`"i"`), "n": jsontext.Value(strconv.Itoa(n))}}
		}
		happen(t, s, "vote", call("1", 3))
		require.Len(t, vote.items(t), 1)
		must(s.Freeze(t.Context(), "idols", ranking.Moderator{Reason: "the finish"}))(t)
		for _, refused := range []int{20, -20} {
			h := happen(t, s, "vote", by("i", call("", refused)))
			require.NoError(t, h[0].Err)
			require.Equal(t, []ranking.Outcome{{Result: ranking.Result{Frozen: true}}}, h[0].Outcomes)
			require.ErrorIs(t, happen(t, s, "vote", call("", refused))[0].Outcomes[0].Err, definition.ErrOutOfRange)
		}
		h := happen(t, s, "vote", by("i", call("2", 4)), by("i", call("", 1)))
		require.Equal(t, []ranking.Outcome{{Result: ranking.Result{Frozen: true}}}, h[0].Outcomes)
		happen(t, s, "loud", call("3", 1))
		require.Empty(t, vote.items(t))
		require.Len(t, loud.items(t), 1)
		require.Equal(t, []string{"1 i 3 "}, publicOf(t, s, "idols"))
		all := must(s.RevealAll(t.Context(), "idols", ranking.Moderator{}))(t)
		require.EqualValues(t, 1, all.Count)
		require.Equal(t, []string{"1 i 9 "}, publicOf(t, s, "idols"))
		again := happen(t, s, "vote", by("i", call("2", 4)))
		require.True(t, again[0].Outcomes[0].Result.Duplicate)
		require.EqualValues(t, 9, again[0].Outcomes[0].Result.Current.Score)
		require.Empty(t, vote.items(t))
		happen(t, s, "vote", call("4", -1))
		require.Len(t, vote.items(t), 1)
	})
}
