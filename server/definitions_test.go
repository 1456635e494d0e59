package server

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server/access"
	"rankcast/server/internal/readable"
)

// A list of definitions is read and encoded once for each version of the definitions.
func TestDefinitionsAreEncodedOnce(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, url string) {
		rdb := redistest.Dial(t, url)
		store := ranking.New(rdb, ranking.Config{CallTimeout: redistest.CallTimeout})
		t.Cleanup(store.Close)
		cache, reads := new(definitionsCache), 0
		get := func() string {
			t.Helper()
			version, err := store.DefinitionsVersion(t.Context())
			require.NoError(t, err)
			list, err := cache.list(t.Context(), version, func(ctx context.Context, to *readable.List) error {
				reads++
				boards, err := store.Boards(ctx)
				for range boards {
					require.NoError(t, to.Add(access.Resource{}, 1))
				}
				return err
			})
			require.NoError(t, err)
			return string(list.Whole())
		}
		for i, want := range []string{"1", "1,1"} {
			require.NoError(t, store.DefineBoard(t.Context(), definition.Board{Name: fmt.Sprint("b", i)}, ranking.Moderator{}))
			for range 3 {
				require.Equal(t, "["+want+"]", get())
				require.Equal(t, i+1, reads)
			}
		}
	})
}
