package client_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server/client"
	"rankcast/server/servertest"
)

func TestHistory(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, url string) {
		n := servertest.Start(t, url, servertest.Config{}, definition.Board{Name: "b", Kind: "user"})
		c, ctx := newClient(t, n.Addr), t.Context()
		require.NoError(t, c.SetProfile(ctx, "user", "ann", client.Profile{Name: "Ann"}))
		_, err := c.Updates(ctx, "b", []client.Update{{Member: "ann", Score: 30}, {Member: "bob", Score: 20}})
		require.NoError(t, err)
		_, err = c.History(ctx, "b", client.HistoryQuery{})
		require.Equal(t, "unknown_history", refusal(t, err).Code)

		require.NoError(t, n.Store.Define(ctx, definition.Set{Boards: []definition.Board{{Name: "b", Kind: "user", History: time.Minute}}}))
		var h client.History
		redistest.Eventually(t, "the first step", func() error {
			if h, err = c.History(ctx, "b", client.HistoryQuery{}); err == nil && len(h.Steps) == 0 {
				err = errors.New("nothing is recorded yet")
			}
			return err
		})
		require.Equal(t, "1m", h.Step)
		require.Equal(t, []client.HistoryEntry{{1, "ann", 30}, {2, "bob", 20}}, h.Steps[0].Entries)
		require.True(t, h.Steps[0].GapFrom.IsZero())
		require.False(t, h.Until.Before(h.Steps[0].At))
		require.Equal(t, map[string]client.Profile{"ann": {Name: "Ann"}}, h.Profiles)
		require.Empty(t, h.Cursor)

		at := h.Steps[0].At
		after, err := c.History(ctx, "b", client.HistoryQuery{From: at, To: at.Add(time.Hour), Step: 2 * time.Minute, Limit: 1})
		require.NoError(t, err)
		require.Equal(t, h.Steps, after.Steps)
		before, err := c.History(ctx, "b", client.HistoryQuery{To: at.Add(-time.Millisecond)})
		require.NoError(t, err)
		require.Empty(t, before.Steps)

		bob, err := c.MemberHistory(ctx, "b", "bob", client.HistoryQuery{})
		require.NoError(t, err)
		require.Equal(t, "bob", bob.Member)
		require.Equal(t, &client.BestRank{Rank: 2, At: at}, bob.Best)
		require.Equal(t, []client.MemberStep{{At: at, Rank: new(int64(2)), Score: new(int64(20))}}, bob.Steps)
		for _, step := range []time.Duration{time.Second, time.Minute + 500*time.Millisecond, 61*time.Second + 1, time.Millisecond,
			-time.Minute} {
			_, err = c.History(ctx, "b", client.HistoryQuery{Step: step})
			require.Equal(t, "step", refusal(t, err).Field)
		}
	})
}
