package ranking

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/script"
	"rankcast/ranking/redistest"
)

// allOf lists what all boards of giftEvent hold.
func allOf(t testing.TB, s *Store) map[string][]string {
	t.Helper()
	all := make(map[string][]string)
	for _, board := range []string{"stars", "fans:a", "fans:b", "biggest", "latest"} {
		all[board] = entriesOf(t, s, board)
	}
	return all
}

// What an event has done is taken back on each of its boards, once, and a retry of it
// counts nothing.
func TestTakeBack(t *testing.T) {
	onTwoNodes(t, nil, func(t *testing.T, a, b *Store) {
		giftEvent(t, a)
		give(t, a, "1", "a", "u", 3)
		before := allOf(t, a)
		give(t, a, "2", "a", "u", 4)
		give(t, a, "3", "b", "v", 2)
		why := Moderator{Reason: "charged back", By: "desk"}

		took := must(b.TakeBack(t.Context(), "gift", "3", nil, why))(t)
		require.False(t, took.Before)
		require.Equal(t, "fans:b", took.Updates[1].Board)
		require.Equal(t, Result{Previous: &Standing{2, 1}, TakenBack: true}, took.Outcomes[1].Result)
		took = must(b.TakeBack(t.Context(), "gift", "2", nil, why))(t)
		require.Equal(t, Answered(Result{Current: &Standing{3, 1}, Previous: &Standing{7, 1}, TakenBack: true}), took.Outcomes[0].Result)
		require.Equal(t, before, allOf(t, a))

		again := must(a.TakeBack(t.Context(), "gift", "2", nil, why))(t)
		require.True(t, again.Before)
		late := give(t, a, "2", "a", "u", 4)
		for _, h := range []EventResult{again.EventResult, late} {
			for _, o := range h.Outcomes {
				require.True(t, o.Result.Duplicate)
				require.True(t, o.Result.TakenBack)
			}
		}
		require.Equal(t, before, allOf(t, a))

		lines := must(a.Audit(t.Context(), "", 10))(t)
		require.Len(t, lines, 2)
		require.Equal(t, Action{Line: lines[0].Line, At: lines[0].At, Action: "take_back", Event: "gift", ID: "2", Moderator: why}, lines[0])

		Refuses(t, "id", definition.ErrUnknownEvent, errorOf(a.TakeBack(t.Context(), "gift", "nope", nil, why)))
		Refuses(t, "event", definition.ErrUnknownEvent, errorOf(a.TakeBack(t.Context(), "none", "2", nil, why)))
	})
}

// What has come to a score since stays: a sum keeps what others added, a best or last
// that others have set since is theirs, and who was removed is not revived.
func TestTakeBackAmongOthers(t *testing.T) {
	onNode(t, nil, func(t *testing.T, s *Store) {
		giftEvent(t, s)
		give(t, s, "1", "a", "u", 3)
		give(t, s, "2", "a", "u", 4)
		give(t, s, "3", "b", "w", 1)
		must(s.Remove(t.Context(), "fans:b", "w"))(t)
		require.NoError(t, s.Hide(t.Context(), "stars", "a", Moderator{}))
		for _, id := range []string{"1", "3"} {
			must(s.TakeBack(t.Context(), "gift", id, nil, Moderator{}))(t)
		}
		require.NoError(t, s.Show(t.Context(), "stars", "a", Moderator{}))
		require.Equal(t, map[string][]string{
			"stars": {"a 4 #1"}, "fans:a": {"u 4 #1"}, "fans:b": {}, "biggest": {"u 4 #1"}, "latest": {"a 4 #1"},
		}, allOf(t, s))
	})
}

// An event that got half way, and one whose taking back did, come out as if they never
// were: nothing of them counts when they are sent again.
func TestTakeBackHalfWay(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		for n := range 4 {
			s, other := newNode(t, url), newNode(t, url)
			s.useThreeTrips()
			giftEvent(t, s)
			give(t, s, "warm", "warm", "warm", 1)
			star := fmt.Sprint("s", n)
			var left atomic.Int64
			loseCall(s, script.ApplyPlain, &left)
			left.Store(int64(n))
			half := occurs(star, "star", star, "user", "u", "n", 2)
			require.Error(t, errorOf(outcomesOf(s.ApplyEvents(t.Context(), "gift", []EventCall{half}))))
			left.Store(int64(3 - n))
			require.ErrorIs(t, errorOf(s.TakeBack(t.Context(), "gift", star, nil, Moderator{})), definition.ErrUnavailable)
			require.False(t, must(other.TakeBack(t.Context(), "gift", star, nil, Moderator{}))(t).Before)
			give(t, other, star, star, "u", 2)
			for board, entries := range allOf(t, other) {
				require.NotContains(t, fmt.Sprint(entries), star, board)
				require.NotContains(t, fmt.Sprint(entries), "u ", board)
			}
			require.Empty(t, entriesOf(t, other, "fans:"+star))
		}
	})
}

// In a period that has closed what counted stays.
func TestTakeBackAfterThePeriod(t *testing.T) {
	t.Parallel()
	w := simulated(t, 1, Config{}, definition.Board{Name: "hours", Period: "hour"}, definition.Board{Name: "ever"})
	s := w.stores[0]
	require.NoError(t, s.DefineEvent(t.Context(), definition.Event{Name: "visit", Updates: []definition.Target{
		{Board: "hours", Member: "m", Score: "1"}, {Board: "ever", Member: "m", Score: "1"},
	}}, Moderator{}))
	w.pass(59 * time.Minute)
	require.NoError(t, must(s.ApplyEvents(t.Context(), "visit", []EventCall{{ID: "1"}, {ID: "2"}}))(t)[0].Err)
	w.pass(2 * time.Minute)
	took := must(s.TakeBack(t.Context(), "visit", "1", nil, Moderator{}))(t)
	require.ErrorIs(t, took.Outcomes[0].Err, definition.ErrNotOpen)
	require.Equal(t, Answered(Result{Current: &Standing{1, 1}, Previous: &Standing{2, 1}, TakenBack: true}), took.Outcomes[1].Result)
	require.Equal(t, []string{"m 2 #1"}, entriesOf(t, s, "hours@-1"))
	require.Equal(t, []string{"m 1 #1"}, entriesOf(t, s, "ever"))
	w.pass(30 * time.Minute)
	Refuses(t, "id", definition.ErrUnknownEvent, errorOf(s.TakeBack(t.Context(), "visit", "2", nil, Moderator{})))
}

// A score set by hand minds the bounds of the board, not how much it changes, and leaves
// a line.
func TestSetScore(t *testing.T) {
	onNode(t, []definition.Board{{Name: "b", MaxChange: 5, Max: new(int64(100))}}, func(t *testing.T, s *Store) {
		apply(t, s, "b", definition.Update{Member: "m", Score: 3})
		why := Moderator{Reason: "lost in the outage"}
		r := must(s.SetScore(t.Context(), "b", "m", 90, why))(t)
		require.Equal(t, Answered(Result{Current: &Standing{90, 1}, Previous: &Standing{3, 1}}), r)
		require.ErrorIs(t, errorOf(s.SetScore(t.Context(), "b", "m", 101, why)), definition.ErrOutOfRange)
		refused(t, errorOf(s.SetScore(t.Context(), "b", "m", 1, Moderator{})), "reason")
		lines := must(s.Audit(t.Context(), "", 10))(t)
		require.Equal(t, []Action{{Line: lines[0].Line, At: lines[0].At, Action: "set", Board: "b", Member: "m",
			Score: new(int64(90)), Was: new(int64(3)), Moderator: why}}, lines)
	})
}

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
		require.Equal(t, Outcome{Result: Answered(Result{Current: &Standing{2, 1}, Previous: &Standing{3, 1}, TakenBack: true})}, o)
		point(t, s, "more", 6)
		point(t, s, "down", -5)
		apply(t, s, "b", definition.Update{Member: "m", Score: 6})
		o = takeBack(t, s, "down").Outcomes[0]
		require.Equal(t, Outcome{Result: Answered(Result{Current: &Standing{10, 1}, Previous: &Standing{9, 1}, TakenBack: true})}, o)
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
		now := Outcome{Result: Answered(Result{Current: &Standing{5, 2}, Previous: &Standing{5, 2}, Duplicate: true, TakenBack: true})}
		require.Equal(t, now, takeBack(t, s, "1").Outcomes[0])
		require.NoError(t, s.Hide(t.Context(), "b", "m", Moderator{}))
		now.Result.Current, now.Result.Previous = &Standing{5, 0}, &Standing{5, 0}
		require.Equal(t, now, takeBack(t, s, "1").Outcomes[0])
	})
}
