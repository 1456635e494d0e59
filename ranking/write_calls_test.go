package ranking

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/script"
	"rankcast/ranking/redistest"
)

// A node that knows what there is makes one call for each thing that it is asked, and
// where Redis's clock turns out to be elsewhere one more, once.
func TestCallsThatAreMade(t *testing.T) {
	t.Parallel()
	url, set := redistest.Clocked(t)
	now := time.Now().UTC().Truncate(24 * time.Hour).Add(12 * time.Hour)
	set(now)
	s := newNode(t, url)
	define(t, s, definition.Board{Name: "b", Period: "day"})
	var calls []string
	s.rdb.AddHook(&cutter{answered: func(sc string) { calls = append(calls, sc) }})
	made := func(want ...string) {
		t.Helper()
		require.Equal(t, want, calls)
		calls = nil
	}
	write := func() { apply(t, s, "b", definition.Update{Member: "m", Score: 1, ID: "1"}) }
	read := func() {
		must(s.Page(t.Context(), "b", 1, 1))(t)
	}
	write() // the first: scripts are not known yet
	stall(s)
	calls = nil
	write()
	made("apply")
	read()
	calls = nil
	read()
	made("page")
	must(s.Page(t.Context(), "b@-3", 1, 1))(t)
	made("page")

	at := now
	move := func(to time.Time) {
		at = to
		set(at)
		d := *s.catalog.latest.Load() // so that it is the clock alone
		d.readAt = at.UnixMicro()
		s.catalog.latest.Store(&d)
	}
	move(now.Add(-24 * time.Hour)) // as when Redis's clock is set right
	apply(t, s, "b", definition.Update{Member: "m", Score: 1})
	made("apply", "apply", "list", "apply")
	apply(t, s, "b", definition.Update{Member: "m", Score: 1})
	made("apply")
	move(now)
	read()
	made("page", "page")
	read()
	write()
	made("page", "apply")
	move(now.Add(72 * time.Hour))
	read()
	made("page", "page")
	read()
	made("page")

	// The first thing that a node does.
	s = New(s.rdb, patient)
	must(s.Page(t.Context(), "b@-1", 1, 1))(t)
	made("catalog", "page")
}

// To the microsecond, the script itself counts nothing outside the period and the
// activity that it was given. A batch for another period than the present one does nothing.
func TestScriptHoldsTheBounds(t *testing.T) {
	t.Parallel()
	simulatedWorlds(t, 1, patient, nil, scriptHoldsTheBounds)
}

func scriptHoldsTheBounds(t *testing.T, w *world) {
	s := w.stores[0]
	start := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	micro := func(after int64) int64 { return start.UnixMicro() + after }
	for i, c := range []struct {
		opens, closes, starts, ends int64
		now                         int64
		why                         string
		counts                      bool
	}{
		{10, 20, 0, 0, 9, "turn", false}, {10, 20, 0, 0, 10, "ok", true}, {10, 20, 0, 0, 19, "ok", true}, {10, 20, 0, 0, 20, "turn", false},
		{10, 20, 12, 18, 9, "ok", false}, {10, 20, 12, 18, 11, "ok", false}, {10, 20, 12, 18, 12, "ok", true}, {10, 20, 12, 18, 17, "ok", true},
		{10, 20, 12, 18, 18, "ok", false}, {10, 20, 12, 18, 20, "ok", false}, {10, 20, 5, 30, 9, "turn", false},
		{10, 20, 5, 30, 20, "turn", false},
		{0, 0, 12, 18, 12, "ok", true}, {0, 0, 12, 18, 18, "ok", false}, {0, 0, 0, 0, 1, "ok", true},
	} {
		w.pass(start.Add(time.Duration(c.now) * time.Microsecond).Sub(w.now))
		sp := definition.Span{Name: "p", From: micro(0), Length: 1000}
		for _, f := range []struct {
			to   *int64
			from int64
		}{{&sp.Opens, c.opens}, {&sp.Closes, c.closes}, {&sp.Starts, c.starts}, {&sp.Ends, c.ends}} {
			if f.from != 0 {
				*f.to = micro(f.from)
			}
		}
		board := fmt.Sprint("b", i)
		why, now, outcomes := applyTo(t, s, definition.Board{Name: board}, sp, definition.Update{Member: "m", Score: 1, ID: "i"})
		require.Equal(t, c.why, why, "%+v", c)
		if why == "ok" {
			require.Equal(t, c.counts, outcomes[0].Err == nil, "%+v", c)
		} else {
			require.Equal(t, micro(c.now), now)
			k := s.keys.Board(board, "p")
			require.Zero(t, s.rdb.Exists(t.Context(), append(k.All(), k.Ids[:]...)...).Val(), "%+v", c)
		}
	}
}

// The span of the sort keys is twice the period, the activity, the part that they share, or the tie span
// from the moment at which the board-period was created.
func TestSpans(t *testing.T) {
	t.Parallel()
	starts, ends := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC), time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	now := time.Date(2026, 11, 21, 6, 0, 0, 0, time.UTC)
	midnight := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		def    definition.Board
		now    time.Time
		from   time.Time
		length time.Duration
	}{
		"a period":             {definition.Board{Period: "day"}, now, midnight, 48 * time.Hour},
		"an activity":          {definition.Board{Starts: starts, Ends: ends}, now, starts, 96 * time.Hour},
		"a day of an activity": {definition.Board{Period: "day", Starts: starts, Ends: ends}, now, midnight, 48 * time.Hour},
		"its first day":        {definition.Board{Period: "day", Starts: starts, Ends: ends}, starts, starts, 24 * time.Hour},
		"its last day": {definition.Board{Period: "day", Starts: starts, Ends: ends}, ends.Add(-1),
			ends.Add(-12 * time.Hour), 24 * time.Hour},
		"a period with an end": {definition.Board{Period: "month", Ends: ends}, now, time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC),
			2 * ends.Sub(time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC))},
		"a tie span":             {definition.Board{TieSpan: time.Hour}, now, now, 2 * time.Hour},
		"a tie span and a start": {definition.Board{TieSpan: time.Hour, Starts: starts}, now, now, 2 * time.Hour},
		"nothing":                {definition.Board{}, now, time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC), 36525 * 24 * time.Hour},
		"an end alone":           {definition.Board{Ends: ends}, now, time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC), 36525 * 24 * time.Hour},
		"a day of 25 hours": {definition.Board{Period: "day", Timezone: "Europe/Berlin"},
			time.Date(2026, 10, 25, 12, 0, 0, 0, time.UTC), time.Date(2026, 10, 24, 22, 0, 0, 0, time.UTC), 50 * time.Hour},
	} {
		c.def.Name = "b"
		r := must(definition.Compile(c.def))(t, name)
		sp := r.Span(c.now.UnixMicro())
		require.Equal(t, c.from.UTC(), time.UnixMicro(sp.From).UTC(), name)
		require.Equal(t, c.length.Microseconds(), sp.Length, name)

		// Frozen with the board-period, and never after its first update.
		url, set := redistest.Clocked(t)
		set(c.now)
		s := newNode(t, url)
		define(t, s, c.def)
		apply(t, s, "b", definition.Update{Member: "m", Score: 1})
		apply(t, s, "b", definition.Update{Member: "m", Score: 1})
		meta := s.rdb.HMGet(t.Context(), s.keys.Board("b", sp.Name).Meta, "from", "span").Val()
		frozen := &script.Reply{Rest: meta}
		from := frozen.Number()
		require.LessOrEqual(t, from, c.now.UnixMicro(), name)
		if c.def.TieSpan == 0 {
			require.Equal(t, sp.From, from, name)
		}
		require.Equal(t, sp.Length, frozen.Number(), name)
	}
}
