package ranking

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
)

// Data of another layout, or of a version without layouts, are neither read nor changed, whether they are there
// before the node or appear while it runs. Of two nodes of different layouts on an empty store, one defines.
func TestDataOfAnotherLayout(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		for name, change := range map[string]func(s *Store) error{
			"another layout": func(s *Store) error {
				return s.rdb.HSet(t.Context(), s.keys.Definitions(), layoutField, Layout+1).Err()
			},
			"no layout": func(s *Store) error {
				return s.rdb.HDel(t.Context(), s.keys.Definitions(), layoutField).Err()
			},
		} {
			t.Run(name, func(t *testing.T) {
				require.NoError(t, redistest.Dial(t, url).FlushAll(t.Context()).Err())
				running := newNode(t, url)
				require.NoError(t, running.CheckLayout(t.Context()), "an empty store")
				define(t, running, definition.Board{Name: "b", History: time.Minute})
				apply(t, running, "b", definition.Update{Member: "m", Score: 3})
				require.NoError(t, running.CheckLayout(t.Context()))
				require.NoError(t, change(running))
				before := contents(t, running)

				var other *LayoutError
				for _, s := range []*Store{newNode(t, url), running} {
					require.ErrorAs(t, s.CheckLayout(t.Context()), &other)
					require.ErrorIs(t, other, definition.ErrUnavailable)
					require.Contains(t, other.Error(), "export the boards with the version that wrote them")
					require.ErrorAs(t, s.Define(t.Context(), definition.Set{Boards: []definition.Board{{Name: "new"}}}), &other)
					_, err := s.Apply(t.Context(), "b", []definition.Update{{Member: "m", Score: 4}})
					require.ErrorAs(t, err, &other)
					require.ErrorAs(t, errorOf(s.Page(t.Context(), "b", 1, 10)), &other)
					require.ErrorAs(t, errorOf(s.startDue(t.Context(), newWorkers())), &other)
				}
				require.Equal(t, before, contents(t, running))
			})
		}
		t.Run("two on an empty store", func(t *testing.T) {
			require.NoError(t, redistest.Dial(t, url).FlushAll(t.Context()).Err())
			a, b := newNode(t, url), newNode(t, url)
			d, err := b.catalog.readFresh(t.Context()) // there is no layout yet
			require.NoError(t, err)
			define(t, a, definition.Board{Name: "b"})
			require.NoError(t, a.rdb.HSet(t.Context(), a.keys.Definitions(), layoutField, Layout+1).Err())
			require.ErrorIs(t, b.catalog.change(t.Context(), d, catalogChange{fields: map[string]string{"x": "y"}}), errDefinitionsChanged)
			d.version = a.rdb.HGet(t.Context(), a.keys.Definitions(), "version").Val()
			require.ErrorIs(t, b.catalog.change(t.Context(), d, catalogChange{fields: map[string]string{"x": "y"}}), errDefinitionsChanged)
		})
	})
}
