package ranking_test

import (
	"context"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rankcast/ranking/proptest"
	"rankcast/ranking/rankingtest"
	"rankcast/ranking/redistest"
)

// Through any history a board does what the model says: each outcome, the order, the
// scores, the data, the count of changes, and whatever is read of it.
func TestBoardDoesWhatTheModelSays(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		families := rankingtest.Families(3)
		s := open(t, url, slices.Collect(maps.Values(families))...)
		rdb := redistest.Dial(t, url)
		members := []string{"a", "b", "B", "é", "a b", "c", "d"}
		runs := 0
		for _, name := range slices.Sorted(maps.Keys(families)) {
			t.Run(name, func(t *testing.T) {
				proptest.CheckSeeded(t, redistest.Volume(url, 40), func(t *rapid.T) {
					runs++
					h := rankingtest.NewHistory(t, s, rdb, families[name], runs, members)
					for range rapid.IntRange(1, 8).Draw(t, "calls") {
						h.Call()
						require.Equal(t, h.Model.Seq(), must(s.Page(context.Background(), h.Board, 1, 1))(t).Seq)
					}
					h.Read()
				})
			})
		}
	})
}
