package ranking

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
)

// In whatever order events are taken back, what is left is what the others came to.
func TestTakeBackInAnyOrder(t *testing.T) {
	onNode(t, nil, func(t *testing.T, s *Store) {
		pointEvent(t, s, definition.Board{Name: "sum"}, definition.Board{Name: "best", Mode: definition.Best},
			definition.Board{Name: "last", Mode: definition.Last})
		for n, order := range []string{"0", "1", "2", "01", "10", "02", "20", "12", "21", "012", "021", "102", "120", "201", "210"} {
			id := func(i int) string { return fmt.Sprint(n, "-", i) }
			sum, last := int64(0), int64(0)
			for i, score := range []int{3, 9, 20} {
				point(t, s, id(i), score)
				if !strings.Contains(order, fmt.Sprint(i)) {
					sum, last = sum+int64(score), int64(score)
				}
			}
			for _, i := range order {
				takeBack(t, s, id(int(i-'0')))
			}
			for board, want := range map[string]int64{"sum": sum, "best": last, "last": last} {
				entries := []string{}
				if want > 0 {
					entries = append(entries, fmt.Sprintf("m %d #1", want))
				}
				require.Equal(t, entries, entriesOf(t, s, board), "%s after %s", board, order)
				if want > 0 {
					must(s.Remove(t.Context(), board, "m"))(t)
				}
			}
		}

		// What is set anew, after the same score was taken back, is not that one.
		point(t, s, "a", 3)
		point(t, s, "b", 9)
		takeBack(t, s, "a")
		for _, board := range []string{"best", "last"} {
			must(s.SetScore(t.Context(), board, "m", 3, Moderator{Reason: "anew"}))(t)
		}
		point(t, s, "c", 10)
		takeBack(t, s, "c")
		require.Equal(t, []string{"m 3 #1"}, entriesOf(t, s, "best"))
		require.Equal(t, []string{"m 3 #1"}, entriesOf(t, s, "last"))
	})
}

// Nothing is taken back of a member that has left since, and come again.
func TestTakeBackOfAnotherLife(t *testing.T) {
	t.Parallel()
	worlds(t, 1, Config{}, func(time.Time) []definition.Board { return nil }, func(t *testing.T, w *world) {
		s := w.stores[0]
		pointEvent(t, s, definition.Board{Name: "sum"}, definition.Board{Name: "full", Mode: definition.Last, Limit: 1},
			definition.Board{Name: "brief", MemberTTL: time.Minute})
		again := func(id string) {
			takeBack(t, s, id)
			require.Equal(t, []string{"m 10 #1"}, entriesOf(t, s, "sum"))
		}
		point(t, s, "1", 3)
		must(s.Remove(t.Context(), "sum", "m"))(t)
		apply(t, s, "sum", definition.Update{Member: "m", Score: 10})
		apply(t, s, "full", definition.Update{Member: "other", Score: 20})
		require.Equal(t, []string{"other 20 #1"}, entriesOf(t, s, "full"))
		apply(t, s, "full", definition.Update{Member: "other", Score: 1})
		apply(t, s, "full", definition.Update{Member: "m", Score: 3})
		if w.set != nil {
			w.pass(2 * time.Minute)
			apply(t, s, "brief", definition.Update{Member: "m", Score: 10})
		}
		again("1")
		require.Equal(t, []string{"m 3 #1"}, entriesOf(t, s, "full"))
		if w.set != nil {
			require.Equal(t, []string{"m 10 #1"}, entriesOf(t, s, "brief"))
		}

		point(t, s, "2", 3)
		must(s.Erase(t.Context(), "member", "m", Moderator{Reason: "asked"}))(t)
		w.until("erased", func() error { return w.erased("member", "m") })
		apply(t, s, "sum", definition.Update{Member: "m", Score: 10})
		again("2")

		// Who is hidden has not left.
		point(t, s, "3", 5)
		require.NoError(t, s.Hide(t.Context(), "sum", "m", Moderator{}))
		require.NoError(t, s.Show(t.Context(), "sum", "m", Moderator{}))
		again("3")
	})
}

// Those who left are known for as long as ids are, and let go as others leave.
func TestThoseWhoLeftAreLetGo(t *testing.T) {
	t.Parallel()
	w := simulated(t, 1, Config{}, definition.Board{Name: "b"})
	s := w.stores[0]
	left := func() int64 { return w.rdb.ZCard(t.Context(), s.keys.Board("b", "").Left).Val() }
	leave := func(member string) {
		w.write(s, "b", member, 1)
		must(s.Remove(t.Context(), "b", member))(t)
	}
	for i := range 5 {
		leave(fmt.Sprint(i))
	}
	require.EqualValues(t, 5, left())
	w.pass(21 * time.Minute)
	for i := range 3 {
		leave(fmt.Sprint("late", i))
	}
	require.EqualValues(t, 3, left())
}

// A taking back does not go beyond the bounds of a board.
func TestTakeBackStopsAtTheBounds(t *testing.T) {
	onNode(t, nil, func(t *testing.T, s *Store) {
		pointEvent(t, s, definition.Board{Name: "b", Min: new(int64(2)), Max: new(int64(10))})
		apply(t, s, "b", definition.Update{Member: "m", Score: 4})
		point(t, s, "up", 6)
		apply(t, s, "b", definition.Update{Member: "m", Score: -7})
		o := takeBack(t, s, "up").Outcomes[0]
		require.Equal(t, Outcome{Result: Result{Current: &Standing{2, 1}, Previous: &Standing{3, 1}, TakenBack: true}}, o)
		point(t, s, "more", 6)
		point(t, s, "down", -5)
		apply(t, s, "b", definition.Update{Member: "m", Score: 6})
		o = takeBack(t, s, "down").Outcomes[0]
		require.Equal(t, Outcome{Result: Result{Current: &Standing{10, 1}, Previous: &Standing{9, 1}, TakenBack: true}}, o)
	})
}

// Taken back again, an event is answered with where its members are now.
func TestTakeBackAgain(t *testing.T) {
	onNode(t, nil, func(t *testing.T, s *Store) {
		pointEvent(t, s, definition.Board{Name: "b"})
		apply(t, s, "b", definition.Update{Member: "m", Score: 4})
		point(t, s, "1", 6)
		takeBack(t, s, "1")
		apply(t, s, "b", definition.Update{Member: "m", Score: 1})
		apply(t, s, "b", definition.Update{Member: "other", Score: 9})
		now := Outcome{Result: Result{Current: &Standing{5, 2}, Previous: &Standing{5, 2}, Duplicate: true, TakenBack: true}}
		require.Equal(t, now, takeBack(t, s, "1").Outcomes[0])
		require.NoError(t, s.Hide(t.Context(), "b", "m", Moderator{}))
		now.Result.Current, now.Result.Previous = &Standing{5, 0}, &Standing{5, 0}
		require.Equal(t, now, takeBack(t, s, "1").Outcomes[0])
	})
}
