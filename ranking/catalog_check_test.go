package ranking_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking"
	"rankcast/ranking/definition"
)

// A check of a definition says what Define would, and defines nothing.
func TestCheckDefine(t *testing.T) {
	onEngines(t, func(t *testing.T, url string) {
		s := open(t, url, definition.Board{Name: "used"}, definition.Board{Name: "unused"})
		require.NoError(t, applyOne(t, s, "used", definition.Update{Member: "ana", Score: 1}).Err)
		before := allKeys(t, url)
		check := func(boards ...definition.Board) error {
			return s.CheckDefine(t.Context(), definition.Set{Boards: boards})
		}
		require.NoError(t, check(definition.Board{Name: "new"}, definition.Board{Name: "used"}))
		require.NoError(t, check(definition.Board{Name: "unused", Order: definition.Asc}))
		err := check(definition.Board{Name: "used", Order: definition.Asc})
		require.ErrorIs(t, err, ranking.ErrConflict)
		require.Equal(t, err, s.Define(t.Context(), definition.Set{Boards: []definition.Board{{Name: "used", Order: definition.Asc}}}))
		require.ErrorIs(t, check(definition.Board{Name: "x", Mode: "most"}), ranking.ErrInvalid)
		require.ErrorIs(t, errorOf(s.Definition(t.Context(), "new")), ranking.ErrUnknownBoard)
		require.Equal(t, before, allKeys(t, url))
	})
}
