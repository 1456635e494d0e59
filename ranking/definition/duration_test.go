package definition

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rankcast/ranking/proptest"
)

func TestDurations(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]time.Duration{
		"1s": time.Second, "90m": 90 * time.Minute, "36h": 36 * time.Hour, "7d": 7 * day, "36600d": 36600 * day, "3162240000s": 36600 * day,
	} {
		got, ok := ParseDuration(s)
		require.True(t, ok, s)
		require.Equal(t, want, got, s)
	}
	for _, s := range []string{
		"", "7", "d", "0s", "-1s", "+1s", "1.5h", "1h30m", "7 d", " 7d", "7D", "1w", "100ms", "07d", "36601d", "3162240001s",
		"9999999999d", "99999999999999999999d", "1e3s", "٣d",
	} {
		_, ok := ParseDuration(s)
		require.False(t, ok, s)
	}
	proptest.Check(t, 100, func(t *rapid.T) {
		want := time.Duration(rapid.Int64Range(1, int64(maxDuration/time.Second)).Draw(t, "seconds")) * time.Second
		got, ok := ParseDuration(FormatDuration(want))
		require.True(t, ok)
		require.Equal(t, want, got)
	})
}

func TestTimes(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]time.Time{
		"2026-01-01T00:00:00Z":           time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		"2026-01-01T08:00:00+08:00":      time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		"2026-01-01T00:00:00.5Z":         time.Date(2026, 1, 1, 0, 0, 0, 5e8, time.UTC),
		"1970-01-01T00:00:00Z":           time.Unix(0, 0).UTC(),
		"2199-12-31T23:59:59.999Z":       time.Date(2199, 12, 31, 23, 59, 59, 999e6, time.UTC),
		"2026-01-01T00:00:00.123000000Z": time.Date(2026, 1, 1, 0, 0, 0, 123e6, time.UTC),
	} {
		got, ok := ParseTime(s)
		require.True(t, ok, s)
		require.Equal(t, want, got, s)
	}
	for _, s := range []string{
		"", "2026-01-01", "2026-01-01 00:00:00Z", "2026-01-01T00:00:00", "2026-01-01T00:00Z", "2026-02-30T00:00:00Z", "2026-01-01T24:00:00Z",
		"2026-01-01T00:00:00.0001Z", "1969-12-31T23:59:59Z", "2200-01-01T00:00:00Z", "9999-12-31T00:00:00Z", "0001-01-01T00:00:00Z",
		"2026-1-1T00:00:00Z",
	} {
		_, ok := ParseTime(s)
		require.False(t, ok, s)
	}
}

func TestTimesOfDay(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]time.Duration{"00:00": 0, "04:00": 4 * time.Hour, "23:59": 24*time.Hour - time.Minute,
		"09:30": 570 * time.Minute} {
		got, ok := parseClock(s)
		require.True(t, ok, s)
		require.Equal(t, want, got, s)
	}
	for _, s := range []string{"", "4:00", "24:00", "04:60", "04", "0400", "04:00:00", "-1:00", "04:0", " 04:00"} {
		_, ok := parseClock(s)
		require.False(t, ok, s)
	}
}
