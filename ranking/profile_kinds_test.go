package ranking

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/internal/profiles"
	"rankcast/ranking/redistest"
)

// As many kinds are marked as may be, whatever callers compete, and what more there are can
// have profiles all the same: all nodes see them, also when the others have none any more.
func TestKindsWithProfilesAreBounded(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, url string) {
		s, other, ctx := newNode(t, url), newNode(t, url), t.Context()
		var fields []any
		for i := range profiles.MaxKinds - 2 {
			fields = append(fields, fmt.Sprint(profilesField, "old", i), "1")
		}
		require.NoError(t, s.rdb.HSet(ctx, s.keys.Definitions(), append(fields, "version", "1", layoutField, Layout)...).Err())
		for _, node := range []*Store{s, other} {
			must(node.catalog.readFresh(ctx))(t)
		}
		kinds := make([]string, 40)
		var callers sync.WaitGroup
		for i := range kinds {
			kinds[i] = fmt.Sprint("new", i)
			callers.Go(func() {
				node := []*Store{s, other}[i%2]
				must(node.SetProfile(ctx, kinds[i], "m", Profile{Name: "Ann"}))(t)
			})
		}
		redistest.Wait(t, "the callers of the test", callers.Wait)
		marks := func() (n int) {
			names := must(s.rdb.HGetAll(ctx, s.keys.Definitions()).Result())(t)
			for name := range names {
				if strings.HasPrefix(name, profilesField) {
					n++
				}
			}
			require.Contains(t, names, profilesField+profiles.EveryKind)
			return n
		}
		require.Equal(t, profiles.MaxKinds+1, marks(), "with the mark of every kind")
		third := newNode(t, url)
		for _, kind := range append(kinds, "later") {
			must(third.SetProfile(ctx, kind, "m", Profile{Name: "Bob"}))(t)
			must(other.catalog.readFresh(ctx))(t)
			require.Contains(t, must(other.Profiles(ctx, kind, []string{"m"}))(t), "m", kind)
		}
		require.Equal(t, profiles.MaxKinds+1, marks())
	})
}
