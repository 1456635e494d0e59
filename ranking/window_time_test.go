package ranking

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/keyspace"
	"rankcast/ranking/internal/script"
	"rankcast/ranking/redistest"
)

// hear tells all nodes the time.
func (w *world) hear() {
	for _, s := range w.stores {
		// An earlier read that is still under way may set the clock to the time before. readFresh returns
		// after the end of that read.
		must(s.catalog.readFresh(context.Background()))(w.t)
		s.catalog.clock.set(w.now.UnixMicro())
	}
}

// seen tells a node the time, and reads all of a board. No build is under way when seen returns.
func (w *world) seen(s *Store, board string) Page {
	w.t.Helper()
	must(s.housekeepDue(w.t.Context()))(w.t)
	defer redistest.Wait(w.t, "the builds of the node", s.builds.running.Wait)
	return whole(w.t, s, board)
}

// boardKeys are the keys that belong to a board.
func (w *world) boardKeys() []string {
	return slices.DeleteFunc(w.allKeys(), func(key string) bool { return strings.HasPrefix(key, "rc:{/") })
}

// later moves the clock on, and tells all nodes the time.
func (w *world) later(d time.Duration) {
	w.pass(d)
	w.hear()
}

// What counted when a build began is in its result, although it is over before it is
// read, and others write and sweep meanwhile.
func TestWindowThatPassesWhileItIsBuilt(t *testing.T) {
	t.Parallel()
	boards := []definition.Board{{Name: "b", Window: time.Hour}}
	simulatedWorlds(t, 2, patient, boards, func(t *testing.T, w *world) {
		s, other := w.stores[0], w.stores[1]
		applyScores(t, s, "b", 20, func(int) int64 { return 10 })
		w.later(time.Hour - 100*time.Millisecond)
		b := holds(t, s, "b", 0)
		w.later(200 * time.Millisecond)
		send(t, other, "b", definition.Update{Member: "m0", Score: 1})
		must(other.Remove(t.Context(), "b", "m5"))(t)
		sweep(t, other, "b")
		d, _, err := s.leasedDefinitions(t.Context())
		require.NoError(t, err)
		require.NoError(t, b.replace(t.Context(), d, new(build)))
		want := make(map[string]int64)
		for i := range 20 {
			if i != 5 { // who was removed
				want[fmt.Sprint("m", i)] = 10
			}
		}
		require.Equal(t, want, scoresOf(whole(t, s, "b")))
		sweep(t, s, "b")
		require.EqualValues(t, 1, w.rdb.ZCard(t.Context(), b.keys.Window[0]).Val(), "what is over goes after that")
	})
}

// An update of a live board that was left alone for long is answered, told and refused by
// what is left, however much was to go.
func TestUpdateAfterALongTime(t *testing.T) {
	t.Parallel()
	boards := []definition.Board{{Name: "b", Window: time.Hour, Refresh: definition.Live, Max: new(int64(200))}}
	simulatedWorlds(t, 1, patient, boards, func(t *testing.T, w *world) {
		s := w.stores[0]
		for range 200 {
			send(t, s, "b", definition.Update{Member: "a", Score: 1})
		}
		w.later(time.Hour / 2)
		send(t, s, "b", definition.Update{Member: "x", Score: 1})
		w.later(time.Hour/2 + 5*time.Minute)
		o := apply(t, s, "b", definition.Update{Member: "a", Score: 150, If: definition.Absent})
		require.NoError(t, o.Err)
		require.Equal(t, Result{Current: &Standing{150, 1}}, o.Result)
		require.Equal(t, map[string]int64{"a": 150, "x": 1}, scoresOf(whole(t, s, "b")))
	})
}

// A score beyond the bounds, as points have left, is not led farther, but back.
func TestBackWithinTheBounds(t *testing.T) {
	t.Parallel()
	w, s := simulatedNode(t, definition.Board{Name: "b", Window: time.Hour, Refresh: definition.Live, Min: new(int64(0))})
	send(t, s, "b", definition.Update{Member: "a", Score: 100})
	w.later(30 * time.Minute)
	send(t, s, "b", definition.Update{Member: "a", Score: -90})
	w.later(31 * time.Minute)
	require.Equal(t, map[string]int64{"a": -90}, scoresOf(whole(t, s, "b")))
	require.ErrorIs(t, apply(t, s, "b", definition.Update{Member: "a", Score: -1}).Err, definition.ErrOutOfRange)
	require.EqualValues(t, -40, send(t, s, "b", definition.Update{Member: "a", Score: 50}).Current.Score)
}

// After Redis's clock was set back a result is not gone by for as long as that.
func TestResultFromATimeToCome(t *testing.T) {
	t.Parallel()
	boards := []definition.Board{{Name: "b", Window: 3 * time.Hour}}
	simulatedWorlds(t, 1, patient, boards, func(t *testing.T, w *world) {
		s := w.stores[0]
		send(t, s, "b", definition.Update{Member: "m", Score: 1})
		require.Equal(t, map[string]int64{"m": 1}, scoresOf(whole(t, s, "b")))
		w.later(-time.Hour)
		send(t, s, "b", definition.Update{Member: "m", Score: 1})
		require.Equal(t, map[string]int64{"m": 2}, scoresOf(whole(t, s, "b")))
		// Nor is the lock of one who died then.
		w.later(time.Hour)
		holds(t, s, "b", s.builds.known("b"))
		w.later(-time.Hour)
		send(t, s, "b", definition.Update{Member: "m", Score: 1})
		old(t, time.Hour, "b", s)
		require.Equal(t, map[string]int64{"m": 3}, scoresOf(whole(t, s, "b")))
	})
}

// What a failover has lost of a result that is being built makes it none.
func TestBuildThatLosesAPart(t *testing.T) {
	t.Parallel()
	for n, lose := range map[string]func(s *Store, its keyspace.BuildKeys) error{
		"on the way": func(s *Store, its keyspace.BuildKeys) error {
			return s.rdb.ZRemRangeByRank(context.Background(), its.Aside, 64, 127).Err()
		},
		"all": func(s *Store, its keyspace.BuildKeys) error { return s.rdb.Del(context.Background(), its.Aside).Err() },
	} {
		for _, after3 := range []int{2, 4} { // the last is the fifth
			_, s := simulatedNode(t, definition.Board{Name: "b", Window: time.Hour})
			applyScores(t, s, "b", 5*gatherItems, func(int) int64 { return 10 })
			after(t, s, script.Gather, after3, func() { require.NoError(t, lose(s, s.keys.Build("b"))) })
			require.EqualValues(t, 5*gatherItems, whole(t, s, "b").Total, n)
		}
	}
}

// Who is set while a result is built is in the next, which is due at once.
func TestSetWhileAWindowIsBuiltIsDue(t *testing.T) {
	t.Parallel()
	w, s := simulatedNode(t, definition.Board{Name: "b", Window: 3 * time.Hour})
	send(t, s, "b", definition.Update{Member: "m", Score: 1})
	require.Equal(t, map[string]int64{"m": 1}, scoresOf(whole(t, s, "b")))
	w.later(time.Minute)
	send(t, s, "b", definition.Update{Member: "n", Score: 7})
	after(t, s, script.Events, 0, func() {
		must(s.SetScore(context.Background(), "b", "n", 8, Moderator{Reason: "set"}))(t)
	})
	require.Equal(t, map[string]int64{"m": 1}, scoresOf(whole(t, s, "b")))
	whole(t, s, "b") // by which the next is built
	redistest.Wait(t, "the builds of the node", s.builds.running.Wait)
	require.Equal(t, map[string]int64{"m": 1, "n": 8}, scoresOf(whole(t, s, "b")))
}

// A board that has emptied without ever being read is built once, not by each reader.
func TestWindowThatIsEmptyIsBuiltOnce(t *testing.T) {
	t.Parallel()
	w := simulated(t, 2, patient, definition.Board{Name: "b", Window: time.Minute})
	s := w.stores[0]
	send(t, s, "b", definition.Update{Member: "m", Score: 1})
	w.later(2 * time.Minute)
	knows(t, s, script.Hold)
	knows(t, s, script.Swap)
	c := count(w.stores...)
	for range 20 {
		for _, s := range w.stores {
			require.Empty(t, whole(t, s, "b").Entries)
		}
	}
	require.Equal(t, 1, c.times(script.Swap))
	require.Equal(t, 1, c.times(script.Hold))
}

// Who was removed is not told of for ever on a board that is kept.
func TestForgottenOnABoardThatIsKept(t *testing.T) {
	t.Parallel()
	w, s := simulatedNode(t, definition.Board{Name: "b", Window: time.Hour, Refresh: definition.Live, Retain: 365 * day24})
	applyScores(t, s, "b", 100, func(int) int64 { return 1 })
	for i := range 100 {
		must(s.Remove(t.Context(), "b", fmt.Sprint("m", i)))(t)
	}
	k := s.keys.Board("b", "")
	w.until("nobody to be told of", func() error { return redistest.Differs(0, w.rdb.Exists(t.Context(), k.Window[:]...).Val()) })
	require.Less(t, w.now.Sub(friday), 2*time.Hour)
}

// An update does not wait for ever where very much is over: it is carried out, and
// answered by what is there.
func TestUpdateThatDoesNotWait(t *testing.T) {
	t.Parallel()
	w, s := simulatedNode(t, definition.Board{Name: "b", Window: time.Hour, Refresh: definition.Live})
	for range 200 {
		send(t, s, "b", definition.Update{Member: "a", Score: 1})
	}
	w.pass(time.Minute)
	send(t, s, "b", definition.Update{Member: "x", Score: 1})
	w.later(time.Hour - time.Minute)
	s.builds.mu.Lock() // a sweep that has been under way for long
	s.builds.swept = map[string]*sweepRun{"b": {began: time.Now().Add(-s.sweepWait()), done: make(chan struct{})}}
	s.builds.mu.Unlock()
	r := send(t, s, "b", definition.Update{Member: "a", Score: 1})
	require.Greater(t, r.Current.Score, int64(1))
	s.builds.mu.Lock()
	delete(s.builds.swept, "b")
	s.builds.mu.Unlock()
	require.Equal(t, map[string]int64{"a": 1, "x": 1}, scoresOf(whole(t, s, "b")))
}

// A time that a store tells in the shortest form, as 1.7955e+12, is what it is.
func TestWindowAtARoundTime(t *testing.T) {
	t.Parallel()
	at := time.UnixMilli(1_795_500_000_000)
	for _, refresh := range []time.Duration{time.Minute, definition.Live} {
		board := definition.Board{Name: "b", Window: 3 * time.Hour, Refresh: refresh}
		simulatedWorlds(t, 1, patient, []definition.Board{board}, func(t *testing.T, w *world) {
			s := w.stores[0]
			w.tendAfter(at.Sub(w.now))
			w.write(s, "b", "x", 5)
			require.Equal(t, map[string]int64{"x": 5}, scoresOf(whole(t, s, "b")))
			must(s.Info(t.Context(), "b"))(t)
			must(s.Around(t.Context(), "b", "x", 1))(t)
		})
	}
}
