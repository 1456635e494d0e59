package ranking

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
)

// Points leave a live window one by one at their time, and those of a built one with the
// next result.
func TestPointsLeaveAWindow(t *testing.T) {
	t.Parallel()
	for _, refresh := range []time.Duration{time.Minute, definition.Live} {
		board := definition.Board{Name: "b", Window: 3 * time.Hour, Refresh: refresh}
		simulatedWorlds(t, 1, Config{CallTimeout: redistest.CallTimeout}, []definition.Board{board}, func(t *testing.T, w *world) {
			s := w.stores[0]
			w.write(s, "b", "x", 5)
			w.pass(time.Hour)
			w.write(s, "b", "x", 2)
			w.write(s, "b", "y|z", 1)
			want := func(scores map[string]int64) {
				t.Helper()
				_, err := s.housekeepDue(t.Context()) // by which it hears what time it is
				require.NoError(t, err)
				require.Equal(t, scores, scoresOf(whole(t, s, "b")), refresh)
			}
			want(map[string]int64{"x": 7, "y|z": 1})
			w.pass(2*time.Hour - time.Millisecond)
			want(map[string]int64{"x": 7, "y|z": 1})
			w.pass(time.Minute)
			want(map[string]int64{"x": 2, "y|z": 1})
			w.pass(time.Hour)
			want(map[string]int64{})
		})
	}
}

// A time that a store tells in the shortest form, as 1.7955e+12, is what it is.
func TestWindowAtARoundTime(t *testing.T) {
	t.Parallel()
	at := time.UnixMilli(1_795_500_000_000)
	for _, refresh := range []time.Duration{time.Minute, definition.Live} {
		board := definition.Board{Name: "b", Window: 3 * time.Hour, Refresh: refresh}
		simulatedWorlds(t, 1, Config{CallTimeout: redistest.CallTimeout}, []definition.Board{board}, func(t *testing.T, w *world) {
			s := w.stores[0]
			w.pass(at.Sub(w.now))
			w.tend()
			w.write(s, "b", "x", 5)
			require.Equal(t, map[string]int64{"x": 5}, scoresOf(whole(t, s, "b")))
			Must(s.Info(t.Context(), "b"))(t)
			Must(s.Around(t.Context(), "b", "x", 1))(t)
		})
	}
}
