package client_test

import (
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server/client"
	"rankcast/server/servertest"
)

// The client sends columns in the place of a score, and reads them in the order of the board.
func TestColumns(t *testing.T) {
	contest := definition.Board{Name: "contest", Kind: "team", Columns: definition.Columns{{Name: "solved", Max: 20},
		{Name: "penalty", Order: definition.Asc, Max: 99999}}}
	servertest.With(servertest.Config{}, contest, definition.Board{Name: "copy", Columns: contest.Columns}).OnEngines(t,
		func(t *testing.T, n *servertest.Node) {
			c, ctx := newClient(t, n.Addr), t.Context()
			of := func(solved, penalty int64) client.Columns {
				return client.Columns{{"solved", solved}, {"penalty", penalty}}
			}
			r := redistest.Must(c.Update(ctx, "contest", client.Update{Member: "mit", Columns: client.Columns{{"penalty", 20}, {"solved", 1}}}))(t)
			require.Equal(t, of(1, 20), r.Columns)
			all := redistest.Must(c.Updates(ctx, "contest", []client.Update{{Member: "mit", Columns: client.Columns{{"penalty", 20}}},
				{Member: "eth", Columns: of(2, 20)}, {Member: "eth", Score: 5}}))(t)
			require.Equal(t, of(1, 40), all[0].Result.Columns)
			require.Equal(t, of(1, 20), all[0].Result.Previous.Columns)
			require.Equal(t, "score", refusal(t, all[2].Err).Field[len("updates[2]."):])

			page := redistest.Must(c.Top(ctx, "contest", client.Query{MinColumns: of(1, 40), MaxColumns: of(1, 0)}))(t)
			require.Equal(t, []client.Entry{{Rank: 2, Member: "mit", Score: 99960, Columns: of(1, 40)}}, page.Top)
			require.EqualValues(t, 1, *page.Count)
			require.EqualValues(t, 1, redistest.Must(c.CountColumns(ctx, "contest", of(2, 99), nil))(t))
			at := redistest.Must(c.AtColumns(ctx, "contest", of(1, 40), 0, ""))(t)
			require.Equal(t, []any{of(1, 40), int64(3), int64(1)}, []any{at.Columns, at.Rank, at.Count})
			mit := redistest.Must(c.Member(ctx, "contest", "mit", 1))(t)
			require.Equal(t, of(1, 20), mit.ToNextColumns)
			require.EqualValues(t, 20, mit.ToNextColumns.Value("penalty"))
			require.Nil(t, redistest.Must(c.Member(ctx, "contest", "eth", 0))(t).ToNextColumns)
			require.Equal(t, of(1, 40), redistest.Must(c.Members(ctx, "contest", "mit"))(t)[0].Columns)
			require.Equal(t, of(1, 40), redistest.Must(c.MemberBoards(ctx, "team", "mit", 0, ""))(t).Boards[0].Columns)

			var rows []client.Row
			for row, err := range c.Export(ctx, "contest") {
				require.NoError(t, err)
				rows = append(rows, row)
			}
			require.Equal(t, []client.Row{{Member: "eth", Score: 199980, Columns: of(2, 20)},
				{Member: "mit", Score: 99960, Columns: of(1, 40)}}, rows)
			rows[1].Score = 0
			done := redistest.Must(c.Import(ctx, "copy", func(yield func(client.Row) bool) { _ = yield(rows[0]) && yield(rows[1]) }))(t)
			require.EqualValues(t, 2, done.Imported)

			states := make(chan client.Board, 16)
			go func() {
				_ = c.Watch(ctx, "contest", client.Watch{Me: "mit", Around: 1}, func(b client.Board) { states <- b })
			}()
			for b := range states {
				if b.Me != nil && b.Me.Around != nil {
					require.Equal(t, of(2, 20), b.Top[0].Columns)
					require.Equal(t, []client.Columns{of(1, 40), of(1, 20)}, []client.Columns{b.Me.Columns, b.Me.ToNextColumns})
					require.Contains(t, string(b.Columns), `"name":"penalty","order":"asc","max":99999`)
					break
				}
			}
		})
	var decoded client.Columns
	for _, text := range []string{`[1]`, `{"a":"b"}`, `{"a":1.5}`, `7`} {
		require.Error(t, json.Unmarshal([]byte(text), &decoded), text)
	}
	require.NoError(t, json.Unmarshal([]byte(`null`), &decoded))
	require.Nil(t, decoded)
}
