package ranking

import (
	"cmp"
	"fmt"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
)

// An update without op means the mode that the board had when the id was first used. So a retry is the same update for as
// long as its id counts, whatever the mode is by now, and whether it names the op or not. Another op is another update.
func TestRetryAfterAChangeOfMode(t *testing.T) {
	onNode(t, nil, func(t *testing.T, s *Store) {
		modes := []definition.Mode{definition.Sum, definition.Best, definition.Last}
		ops := append([]definition.Mode{""}, modes...)
		for _, before := range modes {
			for _, after := range modes {
				board := fmt.Sprintf("%s-%s", before, after)
				define(t, s, definition.Board{Name: board, Mode: before})
				var firsts, retries []definition.Update
				for _, first := range ops {
					for _, retry := range ops {
						u := definition.Update{Member: fmt.Sprintf("of %s-%s", first, retry), Score: 5, ID: fmt.Sprintf("of %s-%s", first, retry), Op: first}
						firsts = append(firsts, u)
						u.Op = retry
						retries = append(retries, u)
					}
				}
				outcomes := must(s.Apply(t.Context(), board, firsts))(t)
				for _, o := range outcomes {
					require.NoError(t, o.Err)
					require.False(t, o.Result.Duplicate)
				}
				define(t, s, definition.Board{Name: board, Mode: after})
				again := must(s.Apply(t.Context(), board, retries))(t)
				for i, o := range again {
					what := fmt.Sprintf("mode %s, op %q; then mode %s, op %q", before, firsts[i].Op, after, retries[i].Op)
					if cmp.Or(firsts[i].Op, before) != cmp.Or(retries[i].Op, before) {
						require.ErrorIs(t, o.Err, ErrIDMismatch, what)
						continue
					}
					require.NoError(t, o.Err, what)
					require.True(t, o.Result.Duplicate, what)
					require.Equal(t, outcomes[i].Result.Current, o.Result.Current, what)
				}
				page := must(s.Page(t.Context(), board, 1, 100))(t)
				for _, e := range page.Entries {
					require.EqualValues(t, 5, e.Score, "%s: a retry counts once", board)
				}
			}
		}
	})
}

// What an event without op has done is taken back as the mode of then did it.
func TestTakeBackAfterAChangeOfMode(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, url string) {
		for _, op := range []definition.Mode{"", definition.Sum} {
			s := newNode(t, url)
			board, event := "by"+string(op), "gift"+string(op)
			define(t, s, definition.Board{Name: board})
			require.NoError(t, s.Define(t.Context(), definition.Set{Events: []definition.Event{
				{Name: event, Updates: []definition.Target{{Board: board, Member: "m", Score: "{n}", Op: op}}},
			}}))
			send := func(id string, n int) Outcome {
				happened := must(s.ApplyEvents(t.Context(), event,
					[]EventCall{{ID: id, Fields: map[string]jsontext.Value{"n": jsontext.Value(fmt.Sprint(n))}}}))(t)
				require.NoError(t, happened[0].Err)
				return happened[0].Outcomes[0]
			}
			require.EqualValues(t, 5, send("a", 5).Result.Current.Score)
			require.EqualValues(t, 13, send("b", 8).Result.Current.Score)
			define(t, s, definition.Board{Name: board, Mode: definition.Best})
			require.True(t, send("a", 5).Result.Duplicate)
			taken := must(s.TakeBack(t.Context(), event, "a", nil, Moderator{By: "ops"}))(t)
			require.NoError(t, taken.Outcomes[0].Err)
			require.EqualValues(t, 8, taken.Outcomes[0].Result.Current.Score)
		}
	})
}
