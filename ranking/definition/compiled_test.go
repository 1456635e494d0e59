package definition

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
)

// Periods that would go when time is up, as calendars have it, stay.
func TestPeriodsKeptBeyondTheCalendar(t *testing.T) {
	base := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	r := redistest.Must(Compile(Board{Name: "b", Period: "3660d", Base: base, Keep: new(maxKeep)}))(t)
	now := base.Add(maxPeriod + time.Hour).UnixMicro()
	before, ok := r.PeriodBefore(r.CurrentPeriod(now), 1)
	require.True(t, ok)
	require.EqualValues(t, Never, r.PeriodDropAt(before))
	require.Zero(t, r.OldestReadable(now))
}
