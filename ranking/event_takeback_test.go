package ranking

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/script"
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
		require.Equal(t, Result{Current: &Standing{3, 1}, Previous: &Standing{7, 1}, TakenBack: true}, took.Outcomes[0].Result)
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

		_, err := a.TakeBack(t.Context(), "gift", "nope", nil, why)
		require.ErrorIs(t, err, ErrUnknownEvent)
		refusedAs(t, err, "id")
		refusedAs(t, errorOf(a.TakeBack(t.Context(), "none", "2", nil, why)), "event")
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
	onEngines(t, func(t *testing.T, url string) {
		for n := range 4 {
			s, other := newNode(t, url), newNode(t, url)
			s.useThreeTrips()
			giftEvent(t, s)
			give(t, s, "warm", "warm", "warm", 1)
			star := fmt.Sprint("s", n)
			var left atomic.Int64
			loseCall(s, script.ApplyPlain, &left)
			left.Store(int64(n))
			h, err := s.ApplyEvents(t.Context(), "gift", []EventCall{{ID: star, Fields: map[string]jsontext.Value{
				"star": jsontext.Value(`"` + star + `"`), "user": jsontext.Value(`"u"`), "n": jsontext.Value(`2`),
			}}})
			require.True(t, err != nil || h[0].Err != nil)
			left.Store(int64(3 - n))
			require.ErrorIs(t, errorOf(s.TakeBack(t.Context(), "gift", star, nil, Moderator{})), ErrUnavailable)
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
	require.ErrorIs(t, took.Outcomes[0].Err, ErrNotOpen)
	require.Equal(t, Result{Current: &Standing{1, 1}, Previous: &Standing{2, 1}, TakenBack: true}, took.Outcomes[1].Result)
	require.Equal(t, []string{"m 2 #1"}, entriesOf(t, s, "hours@-1"))
	require.Equal(t, []string{"m 1 #1"}, entriesOf(t, s, "ever"))
	w.pass(30 * time.Minute)
	refusedAs(t, errorOf(s.TakeBack(t.Context(), "visit", "2", nil, Moderator{})), "id")
}

// A score set by hand minds the bounds of the board, not how much it changes, and leaves
// a line.
func TestSetScore(t *testing.T) {
	onNode(t, []definition.Board{{Name: "b", MaxChange: 5, Max: new(int64(100))}}, func(t *testing.T, s *Store) {
		apply(t, s, "b", definition.Update{Member: "m", Score: 3})
		why := Moderator{Reason: "lost in the outage"}
		r := must(s.SetScore(t.Context(), "b", "m", 90, why))(t)
		require.Equal(t, Result{Current: &Standing{90, 1}, Previous: &Standing{3, 1}}, r)
		require.ErrorIs(t, errorOf(s.SetScore(t.Context(), "b", "m", 101, why)), ErrOutOfRange)
		refusedAs(t, errorOf(s.SetScore(t.Context(), "b", "m", 1, Moderator{})), "reason")
		lines := must(s.Audit(t.Context(), "", 10))(t)
		require.Equal(t, []Action{{Line: lines[0].Line, At: lines[0].At, Action: "set", Board: "b", Member: "m",
			Score: new(int64(90)), Was: new(int64(3)), Moderator: why}}, lines)
	})
}
