package demo

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking"
	"rankcast/ranking/embedded"
	"rankcast/ranking/redistest"
)

// monday is when a week begins by the zone of the demo, and a day and a month too.
func monday(t *testing.T) time.Time {
	zone, err := time.LoadLocation(zoneName)
	require.NoError(t, err)
	return time.Date(2026, 6, 1, 0, 0, 0, 0, zone)
}

func TestDemoPastGoesOneWay(t *testing.T) {
	t.Parallel()
	for hours := range 24 * 8 {
		now := monday(t).Add(time.Duration(hours) * time.Hour).Add(time.Duration(hours%60) * time.Minute)
		moments, err := historySteps(now)
		require.NoError(t, err)
		_, first := moments[0].at.ISOWeek()
		_, this := now.ISOWeek()
		require.Equal(t, this-1, first, "it begins last week")
		recent, before := 0, time.Time{}
		for _, m := range moments {
			require.True(t, m.at.After(before), "%v comes after %v", m.at, before)
			before = m.at
			if now.Sub(m.at) < window {
				recent++
			}
		}
		require.Equal(t, recentSteps, recent)
		require.True(t, before.Equal(now))
	}
}

// openPatiently opens a store that waits long for each answer: a machine with much else to
// do takes seconds for a large batch.
func openPatiently(url string) (*ranking.Store, func(), error) {
	rdb, err := ranking.Open(url)
	if err != nil {
		return nil, nil, err
	}
	redistest.Patient(rdb)
	store := ranking.New(rdb, ranking.Config{CallTimeout: redistest.CallTimeout})
	return store, func() {
		store.Close()
		rdb.Close()
	}, nil
}

// However young the week is, nothing is empty.
func TestDemoPast(t *testing.T) {
	t.Parallel()
	for name, now := range map[string]time.Time{
		"a week that begins":  monday(t),
		"in the middle of it": monday(t).Add(90 * time.Hour),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			redis, err := embedded.Start()
			require.NoError(t, err)
			t.Cleanup(redis.Close)
			require.NoError(t, PlayHistory(t.Context(), redis, openPatiently, now, Define))
			rdb, err := ranking.Open(redis.URL())
			require.NoError(t, err)
			t.Cleanup(func() { rdb.Close() })
			store := ranking.New(rdb, ranking.Config{})
			t.Cleanup(store.Close)

			total := func(board string) int64 {
				page, err := store.Page(t.Context(), board, 1, 10)
				require.NoError(t, err, board)
				return page.Total
			}
			require.Greater(t, total("stars@-1"), int64(10))
			require.EqualValues(t, len(starNames), total("stars"))
			for n := range starNames {
				require.Positive(t, total("fans:"+starID(n)))
				require.Positive(t, total("fans3h:"+starID(n)))
			}
			periods, err := store.Periods(t.Context(), "stars")
			require.NoError(t, err)
			require.Len(t, periods, 2)
			require.True(t, periods[1].Final)

			for board, opens := range map[string]time.Time{"stars@-1": monday(t).AddDate(0, 0, -7), "stars": monday(t)} {
				h, err := store.History(t.Context(), board, ranking.HistoryQuery{Limit: ranking.MaxHistoryPage})
				require.NoError(t, err)
				require.Equal(t, opens.UTC(), h.Steps[0].At, "the history of %s begins with the week", board)
				for _, step := range h.Steps {
					require.Zero(t, step.Gap, "%s at %s", board, step.At)
				}
			}
			defined, err := store.Definition(t.Context(), "stars")
			require.NoError(t, err)
			require.Equal(t, history, defined.History, "from now on by its own step")
		})
	}
}

// The lists fit one another.
func TestDemoCast(t *testing.T) {
	t.Parallel()
	require.Contains(t, viewerIDs, "mochi")
	for user := range viewerNames {
		require.Contains(t, viewerIDs, user)
	}
	require.InDelta(t, len(viewerIDs)/2, len(viewerNames), 3)
	ids, names := make(map[string]bool), make(map[string]bool)
	for _, p := range players {
		ids[p.id], names[p.name] = true, true
	}
	require.Len(t, ids, len(players))
	require.Len(t, names, len(players))
	for _, reader := range []string{"ana", "eli", "mia"} {
		require.NotContains(t, ids, reader, "a reader sends scores for it")
	}
}
