package ranking_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
)

func TestActivityWithoutAPeriod(t *testing.T) {
	t.Parallel()
	base := moment(t, "2026-11-20T12:00:00Z")
	for _, ends := range []time.Time{base, base.Add(-time.Hour)} {
		_, err := definition.Board{Name: "b", Period: "1d", Base: base, Ends: ends}.Normalize()
		ranking.Refuses(t, "ends", ranking.ErrInvalid, err)
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
				require.ErrorIs(t, o.Err, ranking.ErrNotOpen)
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
			require.ErrorIs(t, errorOf(s.Remove(t.Context(), "b", "m")), ranking.ErrNotOpen)
			o2 := must(s.Apply(t.Context(), "b", []definition.Update{
				{Member: "x", Score: 1}, {Member: "m", Score: 1, ID: "1"}, {Member: "m", Score: 2, ID: "1"}, {Member: ""}}))(t)
			require.ErrorIs(t, o2[0].Err, ranking.ErrNotOpen)
			first.Result.Duplicate = true
			require.Equal(t, first, o2[1], "its retry is answered")
			require.ErrorIs(t, o2[2].Err, ranking.ErrIDMismatch)
			require.ErrorIs(t, o2[3].Err, ranking.ErrInvalid)

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
