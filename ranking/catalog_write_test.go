package ranking_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
)

// Of several definitions all are made or none, and the fault is told.
func TestDefineIsAllOrNothing(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		s := open(t, url, definition.Board{Name: "a"}, definition.Board{Name: "fans:{star}"}, definition.Board{Name: "busy"})
		applyOne(t, s, "busy", definition.Update{Member: "m", Score: 1})
		event := func(name, board string) definition.Event {
			return definition.Event{Name: name, Updates: []definition.Target{{Board: board, Member: "m", Score: "1"}}}
		}
		type defs = definition.Set
		good := definition.Board{Name: "good"}
		sum := func(name string) definition.Board {
			return definition.Board{Name: name, Union: &definition.Union{Of: []string{"nope"}}}
		}
		for what, c := range map[string]struct {
			defs  defs
			kind  error
			field string
		}{
			"a wrong field": {defs{Boards: []definition.Board{good, {Name: "b", Mode: "most"}}}, definition.ErrInvalid, "boards.b.mode"},
			"no name":       {defs{Boards: []definition.Board{good, {}}}, definition.ErrInvalid, `boards[""]`},
			"a clash":       {defs{Boards: []definition.Board{good, {Name: "fans:{user}"}}}, definition.ErrConflict, `boards["fans:{user}"]`},
			"a clash with one": {defs{Boards: []definition.Board{good, {Name: "x:{a}"}, {Name: "x:{b}"}}}, definition.ErrConflict,
				`boards["x:{b}"]`},
			"one that is new": {defs{Boards: []definition.Board{good, {Name: "busy", Order: definition.Asc}}}, definition.ErrConflict,
				"boards.busy.order"},
			"one alone":     {defs{Boards: []definition.Board{{Name: "busy", Order: definition.Asc}}}, definition.ErrConflict, "boards.busy.order"},
			"two unions":    {defs{Boards: []definition.Board{sum("z"), sum("b")}}, definition.ErrInvalid, "boards.z.union.of[0]"},
			"a wrong event": {defs{Boards: []definition.Board{good}, Events: []definition.Event{{Name: "e"}}}, definition.ErrInvalid, "events.e"},
			"a feed's name": {defs{Boards: []definition.Board{good}, Events: []definition.Event{event("periods", "a")}},
				definition.ErrInvalid, "events.periods"},
			"no such board": {defs{Boards: []definition.Board{good}, Events: []definition.Event{event("e", "a"), event("f", "nope")}},
				definition.ErrInvalid, "events.f[0].board"},
			"too few parts": {defs{Boards: []definition.Board{good}, Events: []definition.Event{event("e.f", "fans")}},
				definition.ErrInvalid, `events["e.f"][0].board`},
		} {
			ranking.Refuses(t, c.field, c.kind, s.Define(t.Context(), c.defs), what)
			require.Len(t, must(s.Boards(t.Context()))(t), 3, what)
		}
		// One by itself is no file.
		conflicts(t, "order", s.DefineBoard(t.Context(), definition.Board{Name: "busy", Order: definition.Asc}, ranking.Moderator{}))
		ranking.Refuses(t, "updates[0].board", definition.ErrInvalid, s.DefineEvent(t.Context(), event("e", "nope"), ranking.Moderator{}))
		// What is defined together may need each other; beside each other stand those
		// with as many parts as no other has.
		require.NoError(t, s.Define(t.Context(), defs{Boards: []definition.Board{{Name: "fans"}, {Name: "fans:{a}:{b}"}},
			Events: []definition.Event{event("e", "fans:x:y"), event("f", "fans:x"), event("fans", "fans")}}))
		events := must(s.Events(t.Context()))(t)
		require.Len(t, events, 3)
		require.Equal(t, []string{"e", "f", "fans"}, []string{events[0].Name, events[1].Name, events[2].Name})
	})
}

// What would re-order or rename data is refused where there are any, and done at once
// where there are none. All else may change at any time.
func TestChangesThatReorder(t *testing.T) {
	t.Parallel()
	base := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	url, set := redistest.Clocked(t)
	set(base)
	s := open(t, url)
	week := definition.Board{Period: "week", Timezone: "Asia/Shanghai"}
	for i, c := range []struct {
		was, is definition.Board
		field   string // "" for what may change
	}{
		{definition.Board{}, definition.Board{Order: definition.Asc}, "order"},
		{definition.Board{}, definition.Board{Ties: definition.ByMember}, "ties"},
		{definition.Board{}, definition.Board{Period: "day"}, "period"},
		{week, definition.Board{}, "period"},
		{week, definition.Board{Period: "week"}, "timezone"},
		{week, definition.Board{Period: "week", Timezone: "Asia/Shanghai", WeekStarts: "sunday"}, "week_starts"},
		{week, definition.Board{Period: "week", Timezone: "Asia/Shanghai", DayStartsAt: "04:00"}, "day_starts_at"},
		{definition.Board{Period: "36h", Base: base}, definition.Board{Period: "36h", Base: base.Add(time.Hour)}, "base"},
		{definition.Board{Period: "36h", Base: base}, definition.Board{Period: "72h", Base: base}, "period"},
		{definition.Board{}, definition.Board{Mode: definition.Best, Min: new(int64(0)), Max: new(int64(9)), MaxChange: 3, TieSpan: time.Hour,
			Retain: time.Hour, Kind: "star", Display: definition.Display{Unit: definition.Label{"": "k"}}}, ""},
		{week, definition.Board{Period: "week", Timezone: "Asia/Shanghai", Keep: new(3), Starts: base, Ends: base.Add(time.Hour)}, ""},
		{definition.Board{Period: "day"}, definition.Board{Period: "day", Timezone: "UTC", DayStartsAt: "00:00"}, ""},
	} {
		c.was.Name, c.is.Name = fmt.Sprint("b", i), fmt.Sprint("b", i)
		require.NoError(t, defineOne(t, s, c.was))
		require.NoError(t, defineOne(t, s, c.is), "%d: nothing was written", i)
		require.NoError(t, defineOne(t, s, c.was))
		require.NoError(t, applyOne(t, s, c.was.Name, definition.Update{Member: "m", Score: 3}).Err)
		err := defineOne(t, s, c.is)
		want, _ := c.is.Normalize()
		if c.field != "" {
			conflicts(t, c.field, err)
			want, _ = c.was.Normalize()
		} else {
			require.NoError(t, err, "%d", i)
		}
		require.Equal(t, want, must(s.Definition(t.Context(), c.was.Name))(t))
		require.EqualValues(t, 3, must(s.Page(t.Context(), c.was.Name, 1, 1))(t).Entries[0].Score)
	}
}

// An end may be moved as long as every node comes to know of it in time.
func TestEndsMove(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	url, set := redistest.Clocked(t)
	set(now)
	ending := func(in time.Duration) definition.Board {
		return definition.Board{Name: "b", Ends: now.Add(in)}
	}
	s := open(t, url, ending(-time.Hour))
	require.NoError(t, defineOne(t, s, definition.Board{Name: "c", Ends: now.Add(time.Second)}), "a new one")
	conflicts(t, "ends", defineOne(t, s, ending(time.Hour)))
	require.NoError(t, defineOne(t, s, definition.Board{Name: "b", Ends: now.Add(-time.Hour), Kind: "star"}), "all else may change")

	s = open(t, redistest.Embedded(t))
	now = time.Now().Truncate(time.Second)
	require.NoError(t, defineOne(t, s, ending(time.Hour)))
	require.NoError(t, defineOne(t, s, ending(-time.Hour)), "nobody was writing")
	conflicts(t, "ends", defineOne(t, s, ending(time.Hour)))
	require.NoError(t, defineOne(t, s, definition.Board{Name: "d"}))
	applyOne(t, s, "d", definition.Update{Member: "m", Score: 1})
	for _, end := range []time.Duration{time.Hour, 2 * time.Hour, time.Minute} {
		require.NoError(t, defineOne(t, s, definition.Board{Name: "d", Ends: now.Add(end)}))
	}
	require.NoError(t, defineOne(t, s, definition.Board{Name: "d"}))
	for _, end := range []time.Duration{-time.Hour, 0, time.Second} {
		conflicts(t, "ends", defineOne(t, s, definition.Board{Name: "d", Ends: now.Add(end)}))
	}
}

func TestHowManyMayBeDefined(t *testing.T) {
	t.Parallel()
	s := open(t, redistest.Embedded(t))
	var all definition.Set
	for i := range 10_000 {
		name := fmt.Sprintf("b%04d", i)
		all.Boards = append(all.Boards, definition.Board{Name: name})
		all.Events = append(all.Events, definition.Event{Name: name, Updates: []definition.Target{{Board: name, Member: "m", Score: "1"}}})
	}
	require.NoError(t, s.Define(t.Context(), all))
	conflicts(t, "boards", defineOne(t, s, definition.Board{Name: "more"}))
	conflicts(t, "boards", s.Define(t.Context(), definition.Set{Events: []definition.Event{{Name: "more", Updates: all.Events[0].Updates}}}))
	require.NoError(t, s.Define(t.Context(), all), "those that there are may be defined again")
	require.NoError(t, s.DeleteEvent(t.Context(), "b0000", ranking.Moderator{}))
	require.NoError(t, s.Define(t.Context(), definition.Set{Events: []definition.Event{{Name: "more", Updates: all.Events[1].Updates}}}))
}

// A definition goes by its own name, and by no other with as many parts.
func TestNamesOfDefinitions(t *testing.T) {
	onStore(t, []definition.Board{{Name: "fans:{star}"}}, func(t *testing.T, s *ranking.Store) {
		require.Equal(t, 100_000, must(s.Definition(t.Context(), "fans:{star}"))(t).MaxInstances)
		for _, name := range []string{"fans", "fans:{user}", "fans:{a}:{b}", "stars"} {
			require.ErrorIs(t, errorOf(s.Definition(t.Context(), name)), definition.ErrUnknownBoard, name)
			require.ErrorIs(t, errorOf(s.Instances(t.Context(), name, "", 10)), definition.ErrUnknownBoard, name)
			require.ErrorIs(t, s.Delete(t.Context(), name, ranking.Moderator{}), definition.ErrUnknownBoard, name)
		}
		for _, name := range []string{"fans:s1", "fans:{}", "fans:{A}", "Fans", "", "fans:{star}@-1"} {
			require.ErrorIs(t, errorOf(s.Definition(t.Context(), name)), definition.ErrInvalid, name)
		}
		require.ErrorIs(t, s.Delete(t.Context(), "stars:s1", ranking.Moderator{}), definition.ErrUnknownBoard)
		require.ErrorIs(t, s.Delete(t.Context(), "fans:s1@-1", ranking.Moderator{}), definition.ErrInvalid)
	})
}

// A check of a definition says what Define would, and defines nothing.
func TestCheckDefine(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		s := open(t, url, definition.Board{Name: "used"}, definition.Board{Name: "unused"})
		require.NoError(t, applyOne(t, s, "used", definition.Update{Member: "ana", Score: 1}).Err)
		before := allKeys(t, url)
		check := func(boards ...definition.Board) error {
			return s.CheckDefine(t.Context(), definition.Set{Boards: boards})
		}
		require.NoError(t, check(definition.Board{Name: "new"}, definition.Board{Name: "used"}))
		require.NoError(t, check(definition.Board{Name: "unused", Order: definition.Asc}))
		err := check(definition.Board{Name: "used", Order: definition.Asc})
		require.ErrorIs(t, err, definition.ErrConflict)
		require.Equal(t, err, s.Define(t.Context(), definition.Set{Boards: []definition.Board{{Name: "used", Order: definition.Asc}}}))
		require.ErrorIs(t, check(definition.Board{Name: "x", Mode: "most"}), definition.ErrInvalid)
		require.ErrorIs(t, errorOf(s.Definition(t.Context(), "new")), definition.ErrUnknownBoard)
		require.Equal(t, before, allKeys(t, url))
	})
}
