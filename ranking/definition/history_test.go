package definition

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rankcast/ranking/proptest"
	"rankcast/ranking/redistest"
)

// The step is the smallest multiple of history by which no period has more than 10,000 steps.
func TestHistoryStepOfAPeriod(t *testing.T) {
	t.Parallel()
	base := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		d    Board
		want time.Duration
	}{
		"none":               {Board{Period: "day"}, 0},
		"no periods":         {Board{History: 10 * time.Second}, 10 * time.Second},
		"a day":              {Board{Period: "day", History: 10 * time.Second}, 10 * time.Second},
		"a week of 60,480":   {Board{Period: "week", History: 10 * time.Second}, 70 * time.Second},
		"a week at a minute": {Board{Period: "week", History: time.Minute}, 2 * time.Minute},
		"exactly 10,000":     {Board{Period: "100000s", Base: base, History: 10 * time.Second}, 10 * time.Second},
		"one second more":    {Board{Period: "100001s", Base: base, History: 10 * time.Second}, 20 * time.Second},
		"from the start to end": {Board{Period: "year", Starts: base, Ends: base.Add(100_000 * time.Second),
			History: 10 * time.Second}, 10 * time.Second},
		"ten years": {Board{Period: "3660d", Base: base, History: day}, day},
	} {
		c.d.Name = "b"
		r := redistest.Must(Compile(c.d))(t, name)
		require.Equal(t, c.want, r.HistoryStep(r.CurrentPeriod(base.UnixMicro())), name)
	}
	proptest.Check(t, 200, func(t *rapid.T) {
		seconds := rapid.Int64Range(1, 3660*86400).Draw(t, "period")
		r, err := Compile(Board{Name: "b", Base: base, Period: FormatDuration(time.Duration(seconds) * time.Second),
			History: time.Duration(rapid.Int64Range(10, 86400).Draw(t, "history")) * time.Second})
		require.NoError(t, err)
		p := r.CurrentPeriod(base.UnixMicro())
		step, length := r.HistoryStep(p), p.Closes.Sub(p.Opens)
		require.Zero(t, step%r.History)
		require.LessOrEqual(t, length, MaxHistory*step)
		if step > r.History {
			require.Greater(t, length, MaxHistory*(step-r.History))
		}
	})
}

// Instances are rescheduled when the step changes, so that they are recorded at the new one.
func TestHistoryIsPartOfTheLifetime(t *testing.T) {
	t.Parallel()
	require.False(t, Board{History: time.Minute}.SameLifetime(Board{}))
	require.True(t, Board{History: time.Minute}.SameLifetime(Board{History: time.Minute}))
}
