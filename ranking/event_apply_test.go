package ranking_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
)

// gifts defines the event of a gift, which five boards count.
func gifts(t testing.TB, url string) *ranking.Store {
	t.Helper()
	s := open(t, url)
	require.NoError(t, s.Define(t.Context(), definition.Set{
		Boards: []definition.Board{{Name: "stars", Period: "week"}, {Name: "fans:{star}", Period: "day"},
			{Name: "givers", Period: "year"}, {Name: "gifts"}, {Name: "biggest", Mode: definition.Best}},
		Events: []definition.Event{{Name: "gift", Updates: []definition.Target{
			{Board: "stars", Member: "{star}", Score: "{flowers}"},
			{Board: "fans:{star}", Member: "{user}", Score: "{flowers}"},
			{Board: "givers", Member: "{user}", Score: "{flowers}"},
			{Board: "gifts", Member: "{star}", Score: "1"},
			{Board: "biggest", Member: "{user}", Score: "{flowers}", Data: jsontext.Value(`{"to":"{star}"}`)},
		}}}}))
	return s
}

// One event counts on all its boards and is told once.
func TestHappen(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		s, feed := gifts(t, url), listen(t, url, "gift")
		h := happen(t, s, "gift", gift("1", "s17", "u4", 3), gift("", "s18", "u4", 5), gift("2", "s17", "u5", 3))
		var boards []string
		for i, h := range h {
			require.NoError(t, h.Err)
			for j, o := range h.Outcomes {
				require.NoError(t, o.Err)
				require.False(t, o.Result.Duplicate)
				require.Equal(t, h.Updates[j].Board != "gifts" && h.Updates[j].Board != "biggest", o.Result.Period != "")
				if i == 0 {
					boards = append(boards, h.Updates[j].Board)
				}
			}
		}
		require.Equal(t, []string{"stars", "fans:s17", "givers", "gifts", "biggest"}, boards)
		require.Equal(t, ranking.Answered(ranking.Result{Current: &ranking.Standing{Score: 6, Rank: 1}}).Current, h[2].Outcomes[0].Result.Current)
		require.Equal(t, map[string]int64{"s17": 6, "s18": 5}, scores(t, s, "stars"))
		require.Equal(t, map[string]int64{"u4": 3, "u5": 3}, scores(t, s, "fans:s17"))
		require.Equal(t, map[string]int64{"u4": 5}, scores(t, s, "fans:s18"))
		require.Equal(t, map[string]int64{"u4": 8, "u5": 3}, scores(t, s, "givers"))
		require.Equal(t, map[string]int64{"s17": 2, "s18": 1}, scores(t, s, "gifts"))
		require.Equal(t, map[string]int64{"u4": 5, "u5": 3}, scores(t, s, "biggest"))
		require.Equal(t, map[string]string{"u4": `{"to":"s18"}`, "u5": `{"to":"s17"}`}, data(t, s, "biggest"))
		items := []string{`{"flowers":3,"star":"s17","user":"u4"}`, `{"flowers":5,"star":"s18","user":"u4"}`,
			`{"flowers":3,"star":"s17","user":"u5"}`}
		require.Equal(t, items, feed.items(t))

		again := happen(t, open(t, url), "gift", gift("1", "s17", "u4", 3), gift("2", "s17", "u5", 3))
		for i, h2 := range again {
			first := h[2*i]
			for j := range first.Outcomes {
				first.Outcomes[j].Result.Duplicate = true
			}
			require.Equal(t, first, h2)
		}
		require.Equal(t, map[string]int64{"s17": 6, "s18": 5}, scores(t, s, "stars"))
		require.Empty(t, feed.items(t), "it was told before")
		happen(t, s, "gift", gift("", "s18", "u4", 5))
		require.Equal(t, items[1:2], feed.items(t), "without an id it is another each time")
		require.Empty(t, must(s.ApplyEvents(t.Context(), "gift", nil))(t))
	})
}

// An event that is wrong in itself is refused before anything is written, and no other
// of the call with it.
func TestWrongEventsLeaveNothing(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		s, feed := gifts(t, url), listen(t, url, "gift")
		before := allKeys(t, url)
		wrong := []struct {
			o     ranking.EventCall
			field string
		}{
			{ranking.Occurs("1", "star", "s17", "user", "u4"), "flowers"},
			{ranking.Occurs("1", "star", "s17", "user", "u4", "flowers", 3, "more", 1), "more"},
			{ranking.Occurs("1", "star", "", "user", "u4", "flowers", 3), "star"},
			{ranking.Occurs("1", "star", "s17", "user", 4, "flowers", 3), "user"},
			{ranking.Occurs("1", "star", "s17", "user", "u4", "flowers", "3"), "flowers"},
			{ranking.Occurs("1", "star", "s17", "user", "u4", "flowers", 3.5), "flowers"},
			{ranking.Occurs("1", "star", "a:b", "user", "u4", "flowers", 3), "star"},
			{gift("a\x1fb", "s17", "u4", 3), "id"},
			{gift(strings.Repeat("x", 129), "s17", "u4", 3), "id"},
			{gift("1", "s17", strings.Repeat("u", 129), 3), "user"},
			{ranking.EventCall{ID: "1"}, "flowers"},
			{ranking.EventCall{ID: "1", Fields: map[string]jsontext.Value{"flowers": jsontext.Value("{")}}, "event"},
			{ranking.Occurs("1", "star", "s17", "user", "u4", "flowers", 3, "more", strings.Repeat("x", 5000)), "event"},
		}
		var all []ranking.EventCall
		for _, w := range wrong {
			all = append(all, w.o)
		}
		for i, h := range happen(t, s, "gift", all...) {
			ranking.Refuses(t, wrong[i].field, definition.ErrInvalid, h.Err, "%d: %v", i, h.Err)
		}
		require.Equal(t, before, allKeys(t, url))
		require.Empty(t, feed.items(t))
		require.ErrorIs(t, errorOf(s.ApplyEvents(t.Context(), "nope", all)), definition.ErrUnknownEvent)

		h := happen(t, s, "gift", all[0], gift("1", "s17", "u4", 3))
		require.Error(t, h[0].Err)
		require.NoError(t, h[1].Err, "what was refused kept no id")
		require.Equal(t, map[string]int64{"s17": 3}, scores(t, s, "stars"))
	})
}

// An id stands for one event of one name: for another nothing is done at all.
func TestIDsOfEvents(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		s, feed := gifts(t, url), listen(t, url, "gift")
		require.NoError(t, s.Define(t.Context(), definition.Set{Events: []definition.Event{
			{Name: "visit", Updates: []definition.Target{{Board: "stars", Member: "{star}", Score: "1"}}},
		}}))
		happen(t, s, "gift", gift("1", "s17", "u4", 3))
		other := happen(t, s, "gift", gift("1", "s17", "u4", 4), gift("1", "s99", "u4", 3), gift("1", "s17", "u4", 3))
		for _, h := range other[:2] {
			require.ErrorIs(t, h.Err, definition.ErrIDMismatch)
		}
		require.NoError(t, other[2].Err)
		require.True(t, other[2].Outcomes[4].Result.Duplicate)
		require.Equal(t, map[string]int64{"s17": 3}, scores(t, s, "stars"))
		require.Empty(t, scores(t, s, "fans:s99"))
		require.Len(t, feed.items(t), 1)

		// As JSON the same; on the wire not.
		same := ranking.EventCall{ID: "1", Fields: map[string]jsontext.Value{
			"star": jsontext.Value(` "s\u00317"`), "user": jsontext.Value("\"u4\"\n"), "flowers": jsontext.Value(" 3")}}
		require.NoError(t, happen(t, s, "gift", same)[0].Err)

		// Another event, and an update, with that id are others.
		require.False(t, happen(t, s, "visit", ranking.Occurs("1", "star", "s17"))[0].Outcomes[0].Result.Duplicate)
		require.False(t, applyOne(t, s, "stars", definition.Update{Member: "s17", Score: 3, ID: "1"}).Result.Duplicate)
		require.Equal(t, map[string]int64{"s17": 7}, scores(t, s, "stars"))
	})
}

// Twins in one call count once; the updates of one board keep their order.
func TestBatchesOfEvents(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		s, feed := gifts(t, url), listen(t, url, "gift")
		require.NoError(t, s.Define(t.Context(), definition.Set{
			Boards: []definition.Board{{Name: "log", Mode: definition.Last}},
			Events: []definition.Event{{Name: "twice", Updates: []definition.Target{
				{Board: "log", Member: "{m}", Score: "{n}"}, {Board: "log", Member: "{m}", Score: "1", Op: definition.Sum},
				{Board: "log", Member: "{m}", Score: "1", Op: definition.Sum}}}}}))
		h := happen(t, s, "gift", gift("1", "s17", "u4", 3), gift("1", "s17", "u4", 3), gift("1", "s17", "u4", 9), gift("2", "s17", "u4", 3))
		require.NoError(t, errors.Join(h[0].Err, h[1].Err, h[3].Err))
		require.ErrorIs(t, h[2].Err, definition.ErrIDMismatch)
		require.False(t, h[0].Outcomes[0].Result.Duplicate)
		require.True(t, h[1].Outcomes[0].Result.Duplicate)
		require.Equal(t, map[string]int64{"s17": 6}, scores(t, s, "stars"))
		require.Len(t, feed.items(t), 2)

		var all []ranking.EventCall
		for i := range 300 { // more than go in one call
			all = append(all, ranking.Occurs(fmt.Sprint("id", i), "m", "m", "n", 10*i))
		}
		for i, h := range happen(t, s, "twice", all...) {
			require.NoError(t, h.Err)
			for j, o := range h.Outcomes {
				require.NoError(t, o.Err)
				require.EqualValues(t, 10*i+j, o.Result.Current.Score, "%d.%d", i, j)
			}
		}
		for _, h := range happen(t, s, "twice", all...) {
			require.NoError(t, h.Err)
			for _, o := range h.Outcomes {
				require.True(t, o.Result.Duplicate)
			}
		}
		require.Equal(t, map[string]int64{"m": 2992}, scores(t, s, "log"))
	})
}

// What one board refuses keeps no other back, and no retry either.
func TestTargetsThatRefuse(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		s, feed := open(t, url), listen(t, url, "e")
		soon := moment(t, "2199-01-01T00:00:00Z")
		require.NoError(t, s.Define(t.Context(), definition.Set{
			Boards: []definition.Board{{Name: "soon", Starts: soon}, {Name: "small", Max: new(int64(5))}, {Name: "slow", MaxChange: 2},
				{Name: "few:{x}", MaxInstances: 1}, {Name: "all"}},
			Events: []definition.Event{{Name: "e", Updates: []definition.Target{
				{Board: "soon", Member: "m", Score: "{n}"}, {Board: "small", Member: "m", Score: "{n}"}, {Board: "slow", Member: "m", Score: "{n}"},
				{Board: "few:{x}", Member: "m", Score: "{n}"}, {Board: "all", Member: "m", Score: "{n}"}}}}}))
		happen(t, s, "e", ranking.Occurs("", "x", "one", "n", 1))
		feed.items(t)
		for _, duplicate := range []bool{false, true} {
			h := happen(t, s, "e", ranking.Occurs("1", "x", "two", "n", 9))[0]
			require.NoError(t, h.Err)
			for i, kind := range []error{definition.ErrNotOpen, definition.ErrOutOfRange, definition.ErrOutOfRange, definition.ErrConflict} {
				require.ErrorIs(t, h.Outcomes[i].Err, kind)
			}
			require.NoError(t, h.Outcomes[4].Err)
			require.Equal(t, duplicate, h.Outcomes[4].Result.Duplicate)
		}
		require.Equal(t, map[string]int64{"m": 10}, scores(t, s, "all"))
		require.Equal(t, map[string]int64{"m": 1}, scores(t, s, "small"))
		require.Len(t, feed.items(t), 1)

		// Of what every board refuses nobody is told.
		require.NoError(t, s.Define(t.Context(), definition.Set{Events: []definition.Event{{Name: "e", Updates: []definition.Target{
			{Board: "soon", Member: "m", Score: "{n}"}, {Board: "small", Member: "m", Score: "{n}"}}}}}))
		h := happen(t, s, "e", ranking.Occurs("2", "n", 9))[0]
		require.NoError(t, h.Err)
		require.ErrorIs(t, h.Outcomes[0].Err, definition.ErrNotOpen)
		require.Empty(t, feed.items(t))
	})
}
