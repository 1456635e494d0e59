package ranking

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
)

// contestColumns are the columns of the boards of these tests.
var contestColumns = definition.Columns{{Name: "solved", Max: 20}, {Name: "penalty", Order: definition.Asc, Max: 99999}}

// The message about a closed period has the columns of each entry.
func TestAClosedPeriodHasColumns(t *testing.T) {
	t.Parallel()
	boards := []definition.Board{{Name: "contest:{city}", Period: "1s", Base: friday, Columns: contestColumns}}
	simulatedWorlds(t, 1, Config{Announce: 2}, boards, func(t *testing.T, w *world) {
		o := must(w.stores[0].Apply(t.Context(), "contest:rome", []definition.Update{
			{Member: "mit", Columns: map[string]int64{"solved": 1, "penalty": 20}}, {Member: "eth", Columns: map[string]int64{"solved": 2}},
		}))(t)
		require.NoError(t, o[0].Err)
		name := definition.Qualify("contest:rome", o[0].Result.Period)
		w.until("the announcement", func() error { return missing([]string{name}, w.announced()) })
		require.JSONEq(t, `[{"rank":1,"member":"eth","score":200000,"columns":{"solved":2,"penalty":0}},
			{"rank":2,"member":"mit","score":99980,"columns":{"solved":1,"penalty":20}}]`, string(w.words()[0].Data.Top))
	})
}

// On a board with a limit, the member that ranks last by all columns leaves, and a sum is refused. A member_ttl works as on other
// boards.
func TestColumnsWithALimit(t *testing.T) {
	t.Parallel()
	boards := []definition.Board{{Name: "b", Mode: definition.Best, Limit: 2, MemberTTL: time.Hour, Columns: contestColumns}}
	simulatedWorlds(t, 1, Config{}, boards, func(t *testing.T, w *world) {
		send := func(member string, solved, penalty int64, op definition.Mode) Outcome {
			return must(w.stores[0].Apply(t.Context(), "b", []definition.Update{{Member: member, Op: op,
				Columns: map[string]int64{"solved": solved, "penalty": penalty}}}))(t)[0]
		}
		for _, member := range []string{"a", "b", "c"} {
			require.NoError(t, send(member, 1, int64(99-member[0]), "").Err)
		}
		require.Equal(t, []string{"c", "b"}, inOrder(must(w.stores[0].Page(t.Context(), "b", 1, 10))(t)))
		Refuses(t, "op", definition.ErrInvalid, send("c", 1, 0, definition.Sum).Err)
		require.Nil(t, send("d", 1, 5, "").Result.Current, "it has no place within the limit")
		w.pass(time.Hour)
		require.NoError(t, send("d", 0, 5, "").Err)
		require.Equal(t, []string{"d"}, inOrder(must(w.stores[0].Page(t.Context(), "b", 1, 10))(t)))
	})
}

// A change of the definition between the check of an update and its call decides: what was meant for other columns is refused.
func TestColumnsOfTheLatestDefinition(t *testing.T) {
	onTwoNodes(t, []definition.Board{{Name: "b", Columns: contestColumns}}, func(t *testing.T, a, b *Store) {
		columns := map[string]int64{"solved": 1, "penalty": 3}
		targetOf(t, a, "b") // this node knows the board as it was
		require.NoError(t, b.DefineBoard(t.Context(), definition.Board{Name: "b", Columns: definition.Columns{{Name: "solved", Max: 9},
			{Name: "time", Max: 9}}}, Moderator{}))
		require.NoError(t, apply(t, b, "b", definition.Update{Member: "x", Columns: map[string]int64{"solved": 1}}).Err)
		stall(a)
		Refuses(t, "columns.penalty", definition.ErrInvalid, apply(t, a, "b", definition.Update{Member: "y", Columns: columns}).Err)
		require.Equal(t, []string{"x"}, inOrder(must(b.Page(t.Context(), "b", 1, 10))(t)))
	})
}

// inOrder lists the members of a page.
func inOrder(p Page) (all []string) {
	for _, e := range p.Entries {
		all = append(all, e.Member)
	}
	return all
}
