package ranking

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
)

// recordResults records the step that is due, and moves the clock on to the next one. A board whose result is being
// built is due again a second later.
func (w *world) recordResults(s *Store) {
	w.t.Helper()
	for range 3 {
		s.builds.last.Clear() // by the clock of this machine, the last build was a moment ago
		recordAll(w.t, w, s)
		s.builds.running.Wait()
		w.pass(time.Second)
	}
	w.toNextStep(shortStep, 1)
}

// lastStep is the last line of a history without its time of day.
func lastStep(t testing.TB, s *Store, board string) string {
	t.Helper()
	lines := historyOf(t, s, board)
	require.NotEmpty(t, lines, board)
	return lines[len(lines)-1][len(time.TimeOnly):]
}

// resultBoards are boards with a result or a window, and their sources.
func resultBoards(retain time.Duration) []definition.Board {
	return []definition.Board{
		{Name: "plain"}, {Name: "quiet", Window: time.Minute, Refresh: 2 * time.Second}, // it has no reader but a union
		{Name: "live", Window: time.Minute, Refresh: definition.Live, History: shortStep, Retain: retain},
		{Name: "built", Window: time.Minute, Refresh: 2 * time.Second, History: shortStep, Retain: retain},
		{Name: "both", Union: &definition.Union{Of: []string{"plain", "live"}, Refresh: 2 * time.Second}, History: shortStep, Retain: retain},
		{Name: "windows", Union: &definition.Union{Of: []string{"quiet"}, Refresh: 2 * time.Second}, History: shortStep, Retain: retain},
		{Name: "copy", Union: &definition.Union{Of: []string{"plain"}, Refresh: 2 * time.Second}, History: shortStep, Retain: retain},
	}
}

// recordedResults writes to the boards of resultBoards, and records their first steps.
func (w *world) recordedResults(s *Store) {
	w.t.Helper()
	for _, board := range []string{"plain", "quiet", "live", "built"} {
		w.write(s, board, "a", 2)
	}
	require.Equal(w.t, []string{"a 4 #1"}, entriesOf(w.t, s, "both"))
	require.Equal(w.t, []string{"a 2 #1"}, entriesOf(w.t, s, "windows"))
	require.Equal(w.t, []string{"a 2 #1"}, entriesOf(w.t, s, "copy"))
	w.tendAfter(shortStep)
	w.recordResults(s)
	for board, want := range map[string]string{"live": " a 2", "built": " a 2", "both": " a 4", "windows": " a 2", "copy": " a 2"} {
		require.Equal(w.t, want, lastStep(w.t, s, board), board)
	}
}

// Boards that nodes build, such as unions, have a history of what a reader would see, also without a reader. While
// such a board is empty, the nodes go on looking: its next members are in the next step, and there is no gap.
func TestHistoryOfWindowsAndUnions(t *testing.T) {
	onSimulatedNode(t, resultBoards(0), func(t *testing.T, w *world, s *Store) {
		shows := func(want map[string]string) {
			t.Helper()
			for board, want := range want {
				require.Equal(t, want, lastStep(t, s, board), board)
			}
		}
		w.recordedResults(s)
		w.write(s, "live", "b", 7)
		w.write(s, "built", "b", 7)
		w.write(s, "quiet", "b", 7)
		w.recordResults(s)
		w.recordResults(s) // a union may show a source as it was a step ago
		shows(map[string]string{"live": " b 7 a 2", "built": " b 7 a 2", "both": " b 7 a 4", "windows": " b 7 a 2"})
		must(s.Remove(t.Context(), "plain", "a"))(t)
		for range 9 { // the windows pass
			w.recordResults(s)
		}
		empty := map[string]string{"live": "", "built": "", "both": "", "windows": "", "copy": ""}
		shows(empty)
		built := must(s.builtAt(t.Context(), s.keys.Board("windows", "").Meta))(t)
		for range 80 { // longer than an unused result without a history stays
			w.recordResults(s)
			w.tend()
		}
		shows(empty)
		again := must(s.builtAt(t.Context(), s.keys.Board("windows", "").Meta))(t)
		require.Less(t, again-built, time.Minute.Microseconds(), "an empty result is not built at each step")
		for _, board := range []string{"plain", "quiet", "live", "built"} {
			w.write(s, board, "c", 5)
		}
		w.recordResults(s)
		w.recordResults(s)
		shows(map[string]string{"live": " c 5", "built": " c 5", "both": " c 10", "windows": " c 5", "copy": " c 5"})
	})
}

// The history of a window or a union outlives an outage of all nodes, which is a gap, and the definition that recorded it.
// It goes with its members, and with the board.
func TestHistoryOfAnUnusedResultStays(t *testing.T) {
	onSimulatedNode(t, resultBoards(0), func(t *testing.T, w *world, s *Store) {
		w.recordedResults(s)
		began := map[string]string{"live": "a 2", "built": "a 2", "both": "a 4", "windows": "a 2", "copy": "a 2"}
		w.pass(time.Hour) // no node runs
		w.write(s, "plain", "a", 1)
		w.tend()
		w.recordResults(s)
		w.recordResults(s)
		for board := range began {
			require.Contains(t, lastStep(t, s, board), " since 10:0", board)
		}
		boards := resultBoards(0)
		for i := range boards {
			boards[i].History = 0
		}
		define(t, s, boards...)
		w.visit()
		for range 5 {
			w.tendAfter(time.Hour)
			recordAll(t, w, s)
		}
		for board, want := range began {
			require.False(t, w.isPlanned(board), board)
			require.Contains(t, historyOf(t, s, board)[0], want)
		}
		require.Contains(t, w.allKeys(), s.keys.Board("live", "").History().Names)
		w.eraseNow(s, "member", "a")
		for _, key := range w.allKeys() {
			if strings.HasSuffix(key, ":hn") || strings.HasSuffix(key, ":hi") {
				t.Errorf("%s still names the erased member", key)
			}
		}
		for _, b := range slices.Backward(boards) { // a source outlives its unions
			require.NoError(t, s.Delete(t.Context(), b.Name, Moderator{}))
		}
		w.until("the boards to go", func() error {
			for _, key := range w.allKeys() {
				if !strings.Contains(key, "{/}") {
					return errors.New(key + " is still there")
				}
			}
			return nil
		})
	})
}

// retain deletes the history of a window or a union that has no members, although nodes look at it at each step. It
// spares one that has members for three steps.
func TestRetainDeletesTheHistoryOfAnEmptyResult(t *testing.T) {
	t.Parallel()
	boards := append(resultBoards(time.Minute), definition.Board{Name: "daily", Union: &definition.Union{Of: []string{"plain"},
		Refresh: 2 * time.Second}, History: 24 * time.Hour, Retain: time.Minute})
	simulatedWorlds(t, 1, Config{}, boards, func(t *testing.T, w *world) {
		s := w.stores[0]
		w.recordedResults(s)
		require.Equal(t, []string{"a 2 #1"}, entriesOf(t, s, "daily"))
		left := func() string {
			w.tend()
			return strings.Join(w.allKeys(), " ")
		}
		for range 60 {
			w.recordResults(s)
			w.tend()
		}
		keys := left()
		for _, board := range []string{"live", "built", "windows"} {
			require.NotContains(t, keys, "{"+board+"}::")
			require.False(t, w.isPlanned(board), board)
		}
		require.Equal(t, " a 2", lastStep(t, s, "both"))
		require.Equal(t, " a 2", lastStep(t, s, "copy"))
		w.pass(48 * time.Hour)
		require.Contains(t, left(), "{daily}::m")
		w.pass(48 * time.Hour)
		require.NotContains(t, left(), "{daily}::m")
	})
}
