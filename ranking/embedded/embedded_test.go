package embedded_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/embedded"
	"rankcast/ranking/redistest"
)

// What counts while the clock stands in a week is of that week, and has closed once the
// clock is this machine's again.
func TestClock(t *testing.T) {
	redis := redistest.Must(embedded.Start())(t)
	t.Cleanup(redis.Close)
	rdb := redistest.Dial(t, redis.URL())

	before := time.Date(2026, 3, 12, 12, 0, 0, 0, time.UTC)
	redis.SetClock(before)
	past := ranking.New(rdb, ranking.Config{CallTimeout: redistest.CallTimeout})
	require.NoError(t, past.Define(t.Context(), definition.Set{Boards: []definition.Board{{Name: "b", Period: "week", Keep: new(1000)}}}))
	done := redistest.Must(past.Apply(t.Context(), "b", []definition.Update{{Member: "m", Score: 1}}))(t)
	require.Equal(t, "2026-W11", done[0].Result.Period)
	past.Close()

	started := time.Now()
	redis.ResetClock()
	store := ranking.New(rdb, ranking.Config{CallTimeout: redistest.CallTimeout})
	t.Cleanup(store.Close)
	periods := redistest.Must(store.Periods(t.Context(), "b"))(t)
	require.Len(t, periods, 2)
	require.False(t, periods[0].Final)
	require.Equal(t, "2026-W11", periods[1].Period)
	require.True(t, periods[1].Final)
	require.WithinRange(t, store.Now(), started.Add(-time.Millisecond), time.Now().Add(time.Millisecond))
}
