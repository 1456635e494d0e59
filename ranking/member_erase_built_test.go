package ranking

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
)

// A board that is built, of others or of what is in its window, is built on when a member
// was erased from it.
func TestBuiltBoardsOutliveAnErasure(t *testing.T) {
	t.Parallel()
	boards := func(time.Time) []definition.Board {
		return []definition.Board{{Name: "a", Kind: "user"}, {Name: "u", Kind: "user", Union: &definition.Union{Of: []string{"a"}}},
			{Name: "b", Kind: "user", Window: time.Hour}}
	}
	worlds(t, 1, patient, boards, func(t *testing.T, w *world) {
		s := w.stores[0]
		for _, board := range []string{"a", "b"} {
			w.write(s, board, "x", 5)
			w.write(s, board, "y", 5)
		}
		for _, board := range []string{"u", "b"} {
			require.Len(t, whole(t, s, board).Entries, 2)
		}
		must(s.Erase(context.Background(), "user", "x", Moderator{}))(t)
		w.until("the erasure", func() error { return w.erased("user", "x") })
		for _, board := range []string{"u", "b"} {
			old(t, time.Hour, board, s)
			require.Equal(t, map[string]int64{"y": 5}, scoresOf(whole(t, s, board)), board)
			holder := s.rdb.Exists(t.Context(), s.keys.Build(board).Lock).Val()
			require.Zero(t, holder)
		}
	})
}
