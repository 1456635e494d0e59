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

func TestActivityWithoutAPeriod(t *testing.T) {
	t.Parallel()
	base := moment(t, "2026-11-20T12:00:00Z")
	for _, ends := range []time.Time{base, base.Add(-time.Hour)} {
		_, err := definition.Board{Name: "b", Period: "1d", Base: base, Ends: ends}.Normalize()
		ranking.Refuses(t, "ends", definition.ErrInvalid, err)
	}
}

// An activity takes updates from its start until before its end, by Redis's clock. A
// retry is answered all the same after that.
func TestActivity(t *testing.T) {
	t.Parallel()
	starts, ends := moment(t, "2026-11-20T12:00:00Z"), moment(t, "2026-11-22T12:00:00Z")
	for name, c := range map[string]struct {
		def                  definition.Board
		first, last, between string    // periods
		closes               time.Time // the first of them
		hours                string
	}{
		"alone": {definition.Board{Starts: starts, Ends: ends}, "", "", "", ends,
			"from 2026-11-20T12:00:00.000Z until 2026-11-22T12:00:00.000Z"},
		"of a start": {definition.Board{Starts: starts}, "", "", "", time.Time{}, "from 2026-11-20T12:00:00.000Z"},
		"of an end":  {definition.Board{Ends: ends}, "", "", "", ends, "until 2026-11-22T12:00:00.000Z"},
		"of days": {definition.Board{Starts: starts, Ends: ends, Period: "day"}, "2026-11-20", "2026-11-22", "2026-11-21",
			moment(t, "2026-11-21T00:00:00Z"), "from 2026-11-20T12:00:00.000Z until 2026-11-22T12:00:00.000Z"},
		"within a month": {definition.Board{Starts: starts, Ends: ends, Period: "month"}, "2026-11", "2026-11", "2026-11", ends, "until"},
		"of a base": {definition.Board{Base: starts, Ends: ends, Period: "1d"}, "0", "1", "1",
			moment(t, "2026-11-21T12:00:00Z"), "from 2026-11-20T12:00:00.000Z until 2026-11-22T12:00:00.000Z"},
	} {
		t.Run(name, func(t *testing.T) {
			url, set := redistest.Clocked(t)
			before := starts.Add(-time.Microsecond)
			set(before)
			c.def.Name = "b"
			s := open(t, url, c.def)
			refused := func(u definition.Update) {
				t.Helper()
				o := applyOne(t, s, "b", u)
				require.ErrorIs(t, o.Err, definition.ErrNotOpen)
				require.ErrorContains(t, o.Err, c.hours)
			}
			hasStart := !c.def.Starts.IsZero() || !c.def.Base.IsZero()
			if hasStart {
				refused(definition.Update{Member: "m", Score: 1, ID: "early"})
				page := must(s.Page(t.Context(), "b", 1, 1))(t)
				require.Equal(t, c.first, page.Period, "the first is meant before it has begun")
				require.Equal(t, c.closes, page.Ends)
				require.False(t, page.Final)
				require.Equal(t, []string{"rc:{/}:definitions"}, allKeys(t, url))
			}
			set(starts)
			o := applyOne(t, s, "b", definition.Update{Member: "m", Score: 1, ID: "early"})
			require.NoError(t, o.Err, "what was refused kept no id")
			require.Equal(t, c.first, o.Result.Period)
			set(starts.Add(24 * time.Hour))
			require.Equal(t, c.between, countsIn(t, s, "b"))
			if c.def.Ends.IsZero() {
				return
			}

			set(ends.Add(-time.Microsecond))
			first := applyOne(t, s, "b", definition.Update{Member: "m", Score: 1, ID: "1"})
			require.NoError(t, first.Err)
			require.Equal(t, c.last, first.Result.Period)
			page := must(s.Page(t.Context(), "b", 1, 1))(t)
			require.Equal(t, ranking.Bounds{Ends: ends, Left: time.Microsecond}, page.Bounds)

			set(ends)
			refused(definition.Update{Member: "m", Score: 1, ID: "late"})
			require.ErrorIs(t, errorOf(s.Remove(t.Context(), "b", "m")), definition.ErrNotOpen)
			o2 := must(s.Apply(t.Context(), "b", []definition.Update{
				{Member: "x", Score: 1}, {Member: "m", Score: 1, ID: "1"}, {Member: "m", Score: 2, ID: "1"}, {Member: ""}}))(t)
			require.ErrorIs(t, o2[0].Err, definition.ErrNotOpen)
			first.Result = ranking.Answered(first.Result)
			first.Result.Duplicate = true
			require.Equal(t, first, o2[1], "its retry is answered")
			require.ErrorIs(t, o2[2].Err, definition.ErrIDMismatch)
			require.ErrorIs(t, o2[3].Err, definition.ErrInvalid)

			set(ends.Add(time.Hour))
			final := must(s.Page(t.Context(), "b", 1, 1))(t)
			require.Equal(t, c.last, final.Period, "the last is meant from then on")
			require.Equal(t, ranking.Bounds{Ends: ends, Final: true}, final.Bounds)
			require.Equal(t, page.Entries, final.Entries)
			require.Equal(t, page.State, final.State)
			if c.first != c.last {
				old := must(s.Page(t.Context(), "b@-1", 1, 1))(t)
				require.True(t, old.Final)
				require.Zero(t, old.Left, "no other will be the one before")
			}
		})
	}
}
