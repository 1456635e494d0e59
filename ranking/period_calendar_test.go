package ranking_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
)

// To the microsecond, an update counts in the period that the wall clock of the
// board's zone is in, and what was read as open is final from then on.
func TestPeriodsOfTheWallClock(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		def                 definition.Board
		opens, closes       string
		before, this, after string
	}{
		"23 hours in Berlin": {
			definition.Board{Period: "day", Timezone: "Europe/Berlin"},
			"2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z", "2026-03-28", "2026-03-29", "2026-03-30"},
		"25 hours in Berlin": {
			definition.Board{Period: "day", Timezone: "Europe/Berlin"},
			"2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z", "2026-10-24", "2026-10-25", "2026-10-26"},
		"23 hours in New York": {
			definition.Board{Period: "day", Timezone: "America/New_York"},
			"2026-03-08T05:00:00Z", "2026-03-09T04:00:00Z", "2026-03-07", "2026-03-08", "2026-03-09"},
		"25 hours in New York": {
			definition.Board{Period: "day", Timezone: "America/New_York"},
			"2026-11-01T04:00:00Z", "2026-11-02T05:00:00Z", "2026-10-31", "2026-11-01", "2026-11-02"},
		"an hour shown twice": {
			definition.Board{Period: "hour", Timezone: "Europe/Berlin"},
			"2026-10-25T01:00:00Z", "2026-10-25T02:00:00Z", "2026-10-25T00Z", "2026-10-25T01Z", "2026-10-25T02Z"},
		"a day start that is skipped": {
			definition.Board{Period: "day", Timezone: "Europe/Berlin", DayStartsAt: "02:30"},
			"2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z", "2026-03-28", "2026-03-29", "2026-03-30"},
		"the week after the 53rd": {
			definition.Board{Period: "week"},
			"2026-12-28T00:00:00Z", "2027-01-04T00:00:00Z", "2026-W52", "2026-W53", "2027-W01"},
		"a first week that begins in the old year": {
			definition.Board{Period: "week", Timezone: "Asia/Shanghai"},
			"2024-12-29T16:00:00Z", "2025-01-05T16:00:00Z", "2024-W52", "2025-W01", "2025-W02"},
		"weeks from sunday": {
			definition.Board{Period: "week", WeekStarts: "sunday"},
			"2026-11-15T00:00:00Z", "2026-11-22T00:00:00Z", "2026-11-08w", "2026-11-15w", "2026-11-22w"},
		"a zone of 45 minutes": {
			definition.Board{Period: "day", Timezone: "Asia/Kathmandu"},
			"2026-11-19T18:15:00Z", "2026-11-20T18:15:00Z", "2026-11-19", "2026-11-20", "2026-11-21"},
		"hours of a zone of 30 minutes": {
			definition.Board{Period: "hour", Timezone: "Asia/Kolkata"},
			"2026-11-20T06:30:00Z", "2026-11-20T07:30:00Z", "2026-11-20T05:30Z", "2026-11-20T06:30Z", "2026-11-20T07:30Z"},
		"days from four": {
			definition.Board{Period: "day", Timezone: "Asia/Shanghai", DayStartsAt: "04:00"},
			"2026-11-19T20:00:00Z", "2026-11-20T20:00:00Z", "2026-11-19", "2026-11-20", "2026-11-21"},
		"a month from four": {
			definition.Board{Period: "month", DayStartsAt: "04:00"},
			"2028-02-01T04:00:00Z", "2028-03-01T04:00:00Z", "2028-01", "2028-02", "2028-03"},
		"a year": {
			definition.Board{Period: "year", Timezone: "Pacific/Auckland"},
			"2026-12-31T11:00:00Z", "2027-12-31T11:00:00Z", "2026", "2027", "2028"},
		"36 hours from a base": {
			definition.Board{Period: "36h", Base: time.Date(2026, 1, 1, 6, 0, 0, 0, time.UTC)},
			"2026-01-02T18:00:00Z", "2026-01-04T06:00:00Z", "0", "1", "2"},
	} {
		t.Run(name, func(t *testing.T) {
			opens, closes := moment(t, c.opens), moment(t, c.closes)
			url, set := redistest.Clocked(t)
			set(opens.Add(-time.Microsecond))
			c.def.Name = "b"
			s := open(t, url, c.def)
			require.Equal(t, c.before, countsIn(t, s, "b"))
			set(opens)
			require.Equal(t, c.this, countsIn(t, s, "b"))
			set(closes.Add(-time.Microsecond))
			require.Equal(t, c.this, countsIn(t, s, "b"))
			page := must(s.Page(t.Context(), "b", 1, 1))(t)
			require.Equal(t, ranking.Bounds{Ends: closes, Left: time.Microsecond}, page.Bounds)

			set(closes)
			require.Equal(t, c.after, countsIn(t, s, "b"))
			for _, name := range []string{"b@-1", definition.Qualify("b", c.this)} {
				page = must(s.Page(t.Context(), name, 1, 1))(t)
				require.Equal(t, c.this, page.Period)
				require.Equal(t, closes, page.Ends)
				require.True(t, page.Final)
				require.EqualValues(t, 2, page.Entries[0].Score)
			}
			page = must(s.Page(t.Context(), "b@-2", 1, 1))(t)
			require.Equal(t, c.before, page.Period)
			require.Equal(t, opens, page.Ends)
			require.EqualValues(t, 1, page.Entries[0].Score)
		})
	}
}
