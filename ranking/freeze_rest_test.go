package ranking_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
)

// writeData writes the data of n members, whose scores stay as they are.
func writeData(t *testing.T, s *ranking.Store, board string, n int, data string) {
	t.Helper()
	updates := make([]definition.Update, n)
	for i := range updates {
		updates[i] = definition.Update{Member: fmt.Sprint("m", i), Score: int64(i), Data: data}
	}
	for _, o := range must(s.Apply(t.Context(), board, updates))(t) {
		require.NoError(t, o.Err)
	}
}

// A reveal ends however many members have changed their data alone: neither a reveal of all nor the last one of a host leaves some.
func TestRevealsManyData(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		s := open(t, url, definition.Board{Name: "final", Mode: definition.Last, Reveal: definition.RevealHost})
		n := redistest.Volume(url, 2500)
		by := ranking.Moderator{Reason: "the finish"}
		writeData(t, s, "final", n, `1`)
		for i, data := range []string{`2`, `3`} {
			must(s.Freeze(t.Context(), "final", by))(t)
			writeData(t, s, "final", n, data)
			applyOne(t, s, "final", definition.Update{Member: "new", Score: int64(n + i)})
			var r ranking.Reveals
			if i == 0 {
				r = must(s.RevealAll(t.Context(), "final", by))(t)
			} else {
				r = must(s.Reveal(t.Context(), "final", []string{"new"}, by))(t)
			}
			require.Zero(t, r.Left)
			require.Nil(t, r.Frozen)
			for _, rank := range []int64{2, int64(n) - 97} {
				for _, e := range must(s.Page(t.Context(), "final", rank, 100))(t).Entries {
					require.Equal(t, data, e.Data)
				}
			}
		}
	})
}

// A board that gets a limit while it is frozen keeps what is pending, and shows it.
func TestLimitWhileFrozen(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		d, by := definition.Board{Name: "final", Mode: definition.Last}, ranking.Moderator{Reason: "the finish"}
		s := open(t, url, d)
		applyOne(t, s, "final", definition.Update{Member: "a", Score: 5})
		must(s.Freeze(t.Context(), "final", by))(t)
		applyOne(t, s, "final", definition.Update{Member: "b", Score: 7})
		d.Limit = 10
		require.NoError(t, s.Define(t.Context(), definition.Set{Boards: []definition.Board{d}}))
		applyOne(t, s, "final", definition.Update{Member: "c", Score: 6})
		require.Equal(t, []string{"1 a 5 "}, publicOf(t, s, "final"))
		require.EqualValues(t, 2, must(s.Pending(t.Context(), "final", ranking.PendingQuery{Limit: 10}))(t).Pending)
		require.Nil(t, must(s.Unfreeze(t.Context(), "final", by))(t).Frozen)
		require.Equal(t, []string{"1 b 7 ", "2 c 6 ", "3 a 5 "}, publicOf(t, s, "final"))
		_, err := s.Freeze(t.Context(), "final", by)
		require.ErrorIs(t, err, definition.ErrConflict)
	})
}

// An instance cannot be frozen alone while an event may update another one of its family by the same score.
func TestFreezeOfOneInstanceOfAnEvent(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		s, by := open(t, url, definition.Board{Name: "fans:{star}"}), ranking.Moderator{Reason: "the finish"}
		fans := func(stars ...string) {
			t.Helper()
			e := definition.Event{Name: "battle"}
			for _, star := range stars {
				e.Updates = append(e.Updates, definition.Target{Board: "fans:" + star, Member: "{fan}", Score: "{n}"})
			}
			require.NoError(t, s.Define(t.Context(), definition.Set{Events: []definition.Event{e}}))
		}
		fans("{a}", "{b}")
		_, err := s.Freeze(t.Context(), "fans:1", by)
		require.ErrorIs(t, err, definition.ErrConflict)
		fans("{a}", "{a}")
		must(s.Freeze(t.Context(), "fans:1", by))(t)
	})
}

// A reveal of what is not frozen lists no instance.
func TestRevealOfNothingListsNothing(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		s := open(t, url, definition.Board{Name: "fans:{star}"})
		_, err := s.Reveal(t.Context(), "fans:1", []string{"a"}, ranking.Moderator{})
		require.ErrorIs(t, err, definition.ErrConflict)
		require.Empty(t, must(s.Instances(t.Context(), "fans:{star}", "", 10))(t).Names)
	})
}
