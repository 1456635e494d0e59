package ranking_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/feed"
	"rankcast/ranking/redistest"
)

// The names of keys and scripts suit a cluster: writes, reads, changes, definitions,
// instances, periods and events all pass, on boards of all three masters.
func TestStoreOnACluster(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t)
	url, masters := cluster.URL, cluster.Masters
	boards := []string{"a", "b", "fans:s1", "fans:s2", "fans:星", "hot:x:y", "weekly", "h"}
	s := open(t, url, definition.Board{Name: "a"}, definition.Board{Name: "b"}, definition.Board{Name: "h", Ties: definition.ByMember},
		definition.Board{Name: "fans:{star}", Period: "day"}, definition.Board{Name: "hot:{x}:{y}", Order: definition.Asc},
		definition.Board{Name: "weekly", Period: "week", Timezone: "Asia/Shanghai"})
	f, heard := follow(t, url, 0)
	for _, b := range boards {
		f.Watch(b)
		next[subscribed](t, heard)
		first := applyOne(t, s, b, definition.Update{Member: "m", Score: 3, ID: "1", Data: `1`})
		require.NoError(t, first.Err)
		want := applied(3, 1, nil)
		want.Result.Period = first.Result.Period
		require.Equal(t, want, first)
		require.True(t, applyOne(t, s, b, definition.Update{Member: "m", Score: 3, ID: "1", Data: `1`}).Result.Duplicate)
		c := next[*feed.Changes](t, heard)
		require.Equal(t, b, c.Board)
		page := must(s.Page(t.Context(), b, 1, 10))(t)
		require.Equal(t, ranking.State{Epoch: c.Epoch, Seq: 1}, page.State)
		require.Len(t, page.Entries, 1)
		require.Equal(t, `1`, page.Entries[0].Data)
		require.Equal(t, page.Entries[0], must(s.Around(t.Context(), b, "m", 2))(t).Entry)
		require.Equal(t, page.State, must(s.Info(t.Context(), b))(t).State)
		if page.Period != "" {
			require.True(t, must(s.Page(t.Context(), b+"@-1", 1, 10))(t).Final)
		}
	}
	for _, st := range s.States(t.Context(), boards) {
		require.NoError(t, st.Err)
		require.EqualValues(t, 1, st.Seq)
	}
	require.NoError(t, s.Ping(t.Context()))
	require.NoError(t, s.CheckRights(t.Context()))

	got := must(s.Instances(t.Context(), "fans:{star}", "", 10))(t)
	require.Equal(t, ranking.Instances{Total: 3, Names: []string{"fans:s1", "fans:s2", "fans:星"}}, got)
	conflicts(t, "order", defineOne(t, s, definition.Board{Name: "h", Ties: definition.ByMember, Order: definition.Asc}))

	// An event over boards of different slots, from two nodes.
	var targets []definition.Target
	for _, b := range boards {
		targets = append(targets, definition.Target{Board: b, Member: "{m}", Score: "{n}"})
	}
	require.NoError(t, s.Define(t.Context(), definition.Set{Events: []definition.Event{{Name: "e", Updates: targets}}}))
	for i, node := range []*ranking.Store{s, open(t, url)} {
		h := happen(t, node, "e", ranking.Occurs("1", "m", "x", "n", 2))
		require.NoError(t, h[0].Err)
		for _, o := range h[0].Outcomes {
			require.NoError(t, o.Err)
			require.Equal(t, i == 1, o.Result.Duplicate)
		}
	}
	require.ErrorIs(t, happen(t, s, "e", ranking.Occurs("1", "m", "x", "n", 3))[0].Err, definition.ErrIDMismatch)

	spread := 0
	for _, m := range masters {
		keys := must(m.Admin().Keys(t.Context(), "*}:*z").Result())(t)
		spread += min(len(keys), 1)
	}
	require.Equal(t, len(masters), spread, "the boards are on all masters")
	require.NoError(t, s.DeleteEvent(t.Context(), "e", ranking.Moderator{}))
	require.NoError(t, s.Delete(t.Context(), "fans:s1", ranking.Moderator{}))
	require.NoError(t, s.Delete(t.Context(), "h", ranking.Moderator{}))
	require.ErrorIs(t, errorOf(s.Page(t.Context(), "h", 1, 1)), definition.ErrUnknownBoard)
}
