package ranking

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/script"
)

// An event is forgotten no later than its boards forget it: a taking back that is
// acknowledged has taken it back, once.
func TestTakeBackOfWhatIsForgotten(t *testing.T) {
	t.Parallel()
	for parity := range 2 {
		t.Run(fmt.Sprint(parity), func(t *testing.T) {
			w := simulated(t, 1, Config{})
			const bucket = 610 * time.Second
			s := w.stores[0]
			pointEvent(t, s, definition.Board{Name: "one"}, definition.Board{Name: "two"})
			w.pass(bucket - time.Duration(w.now.UnixMicro()%bucket.Microseconds())*time.Microsecond + time.Duration(parity)*bucket)
			apply(t, s, "one", definition.Update{Member: "m", Score: 10})
			apply(t, s, "two", definition.Update{Member: "m", Score: 10})
			for _, id := range []string{"half", "late", "gone"} {
				point(t, s, id, 1)
			}
			var left atomic.Int64
			loseCall(s, script.ApplyPlain, &left)
			w.pass(bucket + time.Second)
			for _, id := range []string{"half", "gone"} {
				left.Store(1) // one board takes it back, the other does not hear of it
				require.ErrorIs(t, errorOf(s.TakeBack(t.Context(), "e", id, nil, Moderator{})), definition.ErrUnavailable)
			}
			takeBack(t, s, "half")
			total := func() (sum int64) {
				for _, board := range []string{"one", "two"} {
					p := must(s.Page(t.Context(), board, 1, 1))(t)
					sum += p.Entries[0].Score
				}
				return sum
			}
			require.EqualValues(t, 2*(10+3)-2-1, total(), "one and a half of three are taken back, each once")
			for _, later := range []time.Duration{bucket - 6*time.Second, 10 * time.Second} {
				w.pass(later)
				for _, id := range []string{"late", "gone"} {
					_, err := s.TakeBack(t.Context(), "e", id, nil, Moderator{})
					require.ErrorIs(t, err, definition.ErrUnknownEvent, id)
				}
			}
			require.EqualValues(t, 2*(10+3)-2-1, total())
		})
	}
}

// Redis's clock may go back, also into the span of ids before: what was taken back stays so, and is taken back once. So
// do notes of take-backs, which tell what to return to.
func TestTakeBackAfterTheClockWentBack(t *testing.T) {
	t.Parallel()
	const span = definition.LeastIDSpan
	for parity := range 2 {
		t.Run(fmt.Sprint(parity), func(t *testing.T) {
			simulatedWorlds(t, 1, Config{}, nil, func(t *testing.T, w *world) {
				s := w.stores[0]
				pointEvent(t, s, definition.Board{Name: "sum"}, definition.Board{Name: "last", Mode: definition.Last})
				shows := func(sum, last int) {
					t.Helper()
					require.Equal(t, []string{fmt.Sprintf("m %d #1", sum)}, entriesOf(t, s, "sum"))
					require.Equal(t, []string{fmt.Sprintf("m %d #1", last)}, entriesOf(t, s, "last"))
				}
				w.pass(span - time.Duration(w.now.UnixMicro()%span.Microseconds())*time.Microsecond - 5*time.Second)
				for range parity { // the hashes of ids change places
					point(t, s, "first", 0)
					w.pass(span)
				}
				point(t, s, "1", 100)
				for i, score := range []int{3, 9, 3, 7, 3, 20} {
					point(t, s, string(rune('a'+i)), score)
				}
				shows(145, 20)
				takeBack(t, s, "a")
				shows(142, 20)
				w.pass(7 * time.Second)
				takeBack(t, s, "c") // its note stands beside that of a
				point(t, s, "later", 20)
				shows(159, 20)
				w.pass(-4 * time.Second)
				for again := range 3 {
					require.Equal(t, again > 0, takeBack(t, s, "e").Before)
					shows(156, 20)
					require.True(t, takeBack(t, s, "c").Before)
				}
				takeBack(t, s, "later")
				takeBack(t, s, "f") // of the three scores of 3, none counts any more
				shows(116, 7)
				takeBack(t, s, "d")
				shows(109, 9)
				for range 3 {
					w.pass(time.Second)
					for _, id := range []string{"a", "c", "d", "e", "f"} {
						score := map[string]int{"d": 7, "f": 20}[id]
						for _, o := range point(t, s, id, max(score, 3)).Outcomes {
							require.True(t, o.Result.Duplicate)
						}
						require.True(t, takeBack(t, s, id).Before)
					}
					shows(109, 9)
				}
				for _, ids := range [][2]string{s.keys.Ids("sum"), s.keys.Ids("last"), s.keys.EventIDs("e")} {
					for id := range w.rdb.HGetAll(t.Context(), ids[0]).Val() {
						require.False(t, id != "" && w.rdb.HExists(t.Context(), ids[1], id).Val(), "%q is in both hashes", id)
					}
				}
			})
		})
	}
}

// A note of a take-back counts also after the span of ids in which it was made.
func TestTakeBackFollowsNotesOfTheSpanBefore(t *testing.T) {
	t.Parallel()
	const span = definition.LeastIDSpan
	simulatedWorlds(t, 1, Config{}, nil, func(t *testing.T, w *world) {
		s := w.stores[0]
		pointEvent(t, s, definition.Board{Name: "last", Mode: definition.Last})
		w.pass(span - time.Duration(w.now.UnixMicro()%span.Microseconds())*time.Microsecond - 5*time.Second)
		for i, score := range []int{9, 3, 20} {
			point(t, s, fmt.Sprint(i), score)
		}
		takeBack(t, s, "1")
		w.pass(7 * time.Second)
		point(t, s, "later", 30)
		takeBack(t, s, "later")
		require.Equal(t, []string{"m 20 #1"}, entriesOf(t, s, "last"))
		takeBack(t, s, "2")
		require.Equal(t, []string{"m 9 #1"}, entriesOf(t, s, "last"))
	})
}

// An event that is defined otherwise by now is not taken back by what it has not done;
// and one that was taken back does not count on boards that it has gained since.
func TestTakeBackOfAnEventDefinedOtherwise(t *testing.T) {
	onNode(t, nil, func(t *testing.T, s *Store) {
		one, two := definition.Board{Name: "one"}, definition.Board{Name: "two"}
		pointEvent(t, s, one)
		require.NoError(t, s.Define(t.Context(), definition.Set{Boards: []definition.Board{two}}))
		apply(t, s, "two", definition.Update{Member: "m", Score: 7})
		for _, id := range []string{"1", "2", "3", "4"} {
			point(t, s, id, 1)
		}
		takeBack(t, s, "1")
		was := map[string]string{}
		for _, key := range s.keys.EventIDs("e") {
			for id, record := range s.rdb.HGetAll(t.Context(), key).Val() {
				was[id] = record
			}
		}

		pointEvent(t, s, one, two)
		_, err := s.TakeBack(t.Context(), "e", "2", nil, Moderator{})
		Refuses(t, "event", definition.ErrConflict, err)
		var noted []string
		for _, key := range s.keys.EventIDs("e") {
			noted = slices.AppendSeq(noted, func(yield func(string) bool) {
				if record, err := s.rdb.HGet(t.Context(), key, "2").Result(); err == nil {
					yield(record)
				}
			})
		}
		require.Equal(t, []string{was["2"]}, noted)
		require.Equal(t, []string{"m 3 #1"}, entriesOf(t, s, "one"))
		for _, o := range point(t, s, "1", 1).Outcomes {
			require.NoError(t, o.Err)
			require.True(t, o.Result.Duplicate)
			require.True(t, o.Result.TakenBack)
		}
		require.Equal(t, []string{"m 7 #1"}, entriesOf(t, s, "two"))
		// One that was carried out by both is not known to be of either.
		point(t, s, "4", 1)
		require.Equal(t, []string{"m 8 #1"}, entriesOf(t, s, "two"))
		for _, boards := range [][]definition.Board{{one, two}, {one}} {
			pointEvent(t, s, boards...)
			require.ErrorIs(t, errorOf(s.TakeBack(t.Context(), "e", "4", nil, Moderator{})), definition.ErrConflict)
		}
		takeBack(t, s, "2")
		require.Equal(t, []string{"m 2 #1"}, entriesOf(t, s, "one"))
	})
}

// An event is not noted as taken back where a board has refused to.
func TestTakeBackThatIsRefused(t *testing.T) {
	onNode(t, nil, func(t *testing.T, s *Store) {
		pointEvent(t, s, definition.Board{Name: "one"}, definition.Board{Name: "two"})
		apply(t, s, "one", definition.Update{Member: "m", Score: 4})
		point(t, s, "1", 6)
		var mend func() error
		for _, key := range s.keys.Ids(NameOf("one", "m", Shards)) {
			for id, record := range s.rdb.HGetAll(t.Context(), key).Val() {
				if id != "" {
					require.NoError(t, s.rdb.HSet(t.Context(), key, id, "of another"+record[10:]).Err())
					mend = func() error { return s.rdb.HSet(t.Context(), key, id, record).Err() }
				}
			}
		}
		require.ErrorIs(t, errorOf(s.TakeBack(t.Context(), "e", "1", nil, Moderator{})), definition.ErrIDMismatch)
		require.Empty(t, must(s.Audit(t.Context(), "", 10))(t))
		require.NoError(t, mend())
		took := takeBack(t, s, "1")
		require.False(t, took.Before)
		require.Equal(t, []string{"m 4 #1"}, entriesOf(t, s, "one"))
		require.Empty(t, entriesOf(t, s, "two"))
	})
}
