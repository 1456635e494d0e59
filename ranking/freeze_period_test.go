package ranking

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
)

// A board with periods freezes before the end of each, shows all at the end, and only then has a final result, which is announced once.
func TestPeriodFreezesAndSettles(t *testing.T) {
	t.Parallel()
	w := simulated(t, 2, Config{Announce: 3}, definition.Board{Name: "fans:{star}", Period: "hour", Freeze: 10 * time.Minute})
	s := w.stores[0]
	w.write(s, "fans:s1", "a", 5)
	w.pass(49 * time.Minute)
	head := must(s.Page(t.Context(), "fans:s1", 1, 10))(t).Head
	require.Nil(t, head.Frozen)
	require.Equal(t, time.Minute, head.Left)
	w.pass(time.Minute)
	before := must(s.Page(t.Context(), "fans:s1", 1, 10))(t)
	require.Equal(t, &Frozen{friday.Add(50 * time.Minute), definition.RevealAuto}, before.Frozen)
	require.Equal(t, Result{Frozen: true, Period: before.Period}, w.write(s, "fans:s1", "b", 7))
	require.Equal(t, Result{Frozen: true, Period: before.Period}, w.write(w.stores[1], "fans:s2", "b", 7))
	require.Equal(t, before, must(s.Page(t.Context(), "fans:s1", 1, 10))(t))
	require.Equal(t, []string{"fans:s1"}, must(s.Instances(t.Context(), "fans:{star}", "", 10))(t).Names)
	all := must(s.FindInstances(t.Context(), "fans:{star}", InstancesQuery{Limit: 10, Pending: true}))(t)
	require.Equal(t, []string{"fans:s1", "fans:s2"}, all.Names)
	require.Equal(t, "", must(s.Page(t.Context(), "fans:s2", 1, 10))(t).Epoch)
	w.tend()
	w.pass(10 * time.Minute)
	name := definition.Qualify("fans:s1", before.Period)
	held := must(s.Page(t.Context(), name, 1, 10))(t)
	require.False(t, held.Final)
	require.NotNil(t, held.Frozen)
	require.Empty(t, w.announced())
	w.until("the results", func() error {
		return missing([]string{name, definition.Qualify("fans:s2", before.Period)}, w.announced())
	})
	after := must(s.Page(t.Context(), name, 1, 10))(t)
	require.True(t, after.Final)
	require.Nil(t, after.Frozen)
	require.Equal(t, []string{"b 7 #1", "a 5 #2"}, entriesOf(t, s, name))
	for _, word := range w.words() {
		if word.name() == name {
			require.JSONEq(t, `[{"rank":1,"member":"b","score":7},{"rank":2,"member":"a","score":5}]`, string(word.Data.Top))
		}
	}
	require.Equal(t, []string{"fans:s1", "fans:s2"}, must(s.Instances(t.Context(), "fans:{star}", "", 10))(t).Names)
	o := w.write(s, "fans:s1", "a", 1) // the next period is not frozen
	require.EqualValues(t, 1, o.Current.Rank)
	w.cared(false)
}

// A final waits for its host, as long as the definition says, and is final only then. The store reveals what the host has left.
func TestFinalWaitsForItsHost(t *testing.T) {
	t.Parallel()
	for _, host := range []string{"reveals all", "reveals one", "is away", "is away, and nobody wrote"} {
		t.Run(host, func(t *testing.T) {
			t.Parallel()
			ends := friday.Add(time.Hour)
			w := simulated(t, 2, Config{Announce: 3}, definition.Board{Name: "final", Ends: ends, Freeze: 10 * time.Minute,
				Reveal: definition.RevealHost, RevealWithin: 2 * time.Hour, Retain: 3 * time.Hour})
			s := w.stores[0]
			w.write(s, "final", "a", 5)
			w.pass(55 * time.Minute)
			if host != "is away, and nobody wrote" {
				w.write(s, "final", "b", 7)
				w.write(s, "final", "c", 1)
			}
			w.pass(10 * time.Minute)
			for range 3 {
				w.tend()
				require.False(t, must(s.Page(t.Context(), "final", 1, 10))(t).Final)
				w.pass(10 * time.Minute)
			}
			require.ErrorIs(t, errorOf(s.Freeze(t.Context(), "final", Moderator{Reason: "late"})), definition.ErrNotOpen)
			switch host {
			case "reveals all":
				r := must(s.RevealAll(t.Context(), "final", Moderator{}))(t)
				require.Nil(t, r.Frozen)
				require.True(t, r.Final)
			case "reveals one":
				r := must(s.Reveal(t.Context(), "final", []string{"c"}, Moderator{}))(t)
				require.EqualValues(t, 1, r.Left)
				require.Equal(t, []Revealed{{"c", &Standing{1, 2}, nil}}, r.List)
				require.False(t, r.Final)
			}
			if host != "reveals all" {
				w.tend()
				require.Empty(t, w.announced())
				w.pass(ends.Add(2 * time.Hour).Sub(w.now))
			}
			w.until("the result", func() error { return missing([]string{"final"}, w.announced()) })
			p := must(s.Page(t.Context(), "final", 1, 10))(t)
			require.True(t, p.Final)
			if host != "is away, and nobody wrote" {
				require.Equal(t, []string{"b 7 #1", "a 5 #2", "c 1 #3"}, entriesOf(t, s, "final"))
			}
			w.until("the end of its time", w.nothingLeft)
		})
	}
}

// A period of which all that was pending has left again is final and goes like any other.
func TestEmptiedPeriodGoes(t *testing.T) {
	t.Parallel()
	w := simulated(t, 1, Config{}, definition.Board{Name: "fans:{star}", Period: "hour", Freeze: 10 * time.Minute, Keep: new(0)})
	s := w.stores[0]
	w.pass(55 * time.Minute)
	w.write(s, "fans:s1", "a", 7)
	must(s.Remove(t.Context(), "fans:s1", "a"))(t)
	for range 2 {
		w.pass(time.Hour)
		w.tend()
	}
	w.until("the end of its time", w.nothingLeft)
}

// A member that is shown again while its board is frozen has its public place in the list of what is pending, also where an update came
// before the public board has got it back.
func TestShownMemberIsNotNew(t *testing.T) {
	t.Parallel()
	w := simulated(t, 1, patient, definition.Board{Name: "b", Reveal: definition.RevealHost})
	s := w.stores[0]
	w.write(s, "b", "a", 1)
	require.NoError(t, s.Hide(t.Context(), "b", "a", Moderator{}))
	w.tend()
	must(s.Freeze(t.Context(), "b", Moderator{Reason: "the finish"}))(t)
	w.write(s, "b", "a", 1)
	require.NoError(t, s.setHidden(t.Context(), Action{Action: actionShow, Board: "b", Member: "a"}))
	w.write(s, "b", "a", 1)
	require.NoError(t, s.scheduleNow(t.Context(), "b"))
	w.tend()
	require.Equal(t, []string{"a 1 #1"}, entriesOf(t, s, "b"))
	all := must(s.Pending(t.Context(), "b", PendingQuery{Limit: 10}))(t).Entries
	require.Len(t, all, 1)
	require.Equal(t, []*Standing{{1, 1}, {3, 1}}, []*Standing{all[0].Public, all[0].Pending})
}

// The time to retain a board begins when all of it is public: what is pending does not go with it.
func TestRetainWaitsForTheReveal(t *testing.T) {
	t.Parallel()
	w := simulated(t, 1, Config{}, definition.Board{Name: "b", Reveal: definition.RevealHost, Retain: time.Hour})
	s := w.stores[0]
	w.write(s, "b", "a", 1)
	must(s.Freeze(t.Context(), "b", Moderator{Reason: "the finish"}))(t)
	w.write(s, "b", "b", 5)
	for range 6 {
		w.pass(30 * time.Minute)
		w.tend()
	}
	require.Nil(t, must(s.RevealAll(t.Context(), "b", Moderator{}))(t).Frozen)
	require.Equal(t, []string{"b 5 #1", "a 1 #2"}, entriesOf(t, s, "b"))
	w.pass(time.Hour)
	w.until("the end of its time", w.nothingLeft)
}

// To take an update back once more, after the period in which it counted unseen, tells of no freeze.
func TestTakeBackAfterTheFreeze(t *testing.T) {
	t.Parallel()
	w := simulated(t, 1, Config{}, definition.Board{Name: "b", Period: "hour", Freeze: 10 * time.Minute})
	s := w.stores[0]
	require.NoError(t, s.Define(t.Context(), definition.Set{Events: []definition.Event{{Name: "e",
		Updates: []definition.Target{{Board: "b", Member: "{m}", Score: "{n}"}}}}}))
	w.pass(54 * time.Minute)
	must(s.ApplyEvents(t.Context(), "e", []EventCall{occurs("1", "m", "a", "n", 2)}))(t)
	require.True(t, must(s.TakeBack(t.Context(), "e", "1", nil, Moderator{}))(t).Outcomes[0].Result.Frozen)
	w.pass(6 * time.Minute)
	w.tend()
	again := must(s.TakeBack(t.Context(), "e", "1", nil, Moderator{}))(t).Outcomes[0]
	require.Equal(t, Outcome{Result: Result{Period: "2026-11-20T10Z", Duplicate: true, TakenBack: true}}, again)
}

// A board that a moderator has frozen, and forgotten, goes on after the time that a host has.
func TestForgottenFreezeEnds(t *testing.T) {
	t.Parallel()
	w := simulated(t, 1, Config{}, definition.Board{Name: "b", Reveal: definition.RevealHost})
	s := w.stores[0]
	must(s.Freeze(t.Context(), "b", Moderator{Reason: "a mistake"}))(t)
	w.write(s, "b", "a", 5)
	w.pass(23 * time.Hour)
	w.tend()
	require.NotNil(t, must(s.Page(t.Context(), "b", 1, 10))(t).Frozen)
	w.pass(time.Hour)
	w.until("the end of the freeze", func() error {
		if p := must(s.Page(t.Context(), "b", 1, 10))(t); p.Frozen != nil || p.Total != 1 {
			return fmt.Errorf("the page is %v", p)
		}
		return nil
	})
	require.EqualValues(t, 1, w.write(s, "b", "a", 5).Current.Rank)
}

// A reveal that breaks off anywhere, because its node dies or its answer is lost, goes on from there on another node, and repeats no step.
func TestRevealGoesOnElsewhere(t *testing.T) {
	t.Parallel()
	for _, dies := range []fate{isLost, isDone} {
		for step, broke := 0, true; broke; step++ {
			w := simulated(t, 2, Config{}, definition.Board{Name: "final", Reveal: definition.RevealHost}, definition.Board{Name: "open"})
			a, b := w.stores[0], w.stores[1]
			must(a.Freeze(t.Context(), "final", Moderator{Reason: "the finish"}))(t)
			for i, member := range []string{"a", "b", "c", "d"} {
				w.write(a, "final", member, int64(i))
				w.write(a, "open", member, int64(i))
			}
			var calls atomic.Int64
			a.rdb.AddHook(&cutter{fate: fateAt(&calls, int64(step), dies, isLost)})
			_, err := a.RevealAll(t.Context(), "final", Moderator{})
			if broke = err != nil; broke {
				all := must(b.Pending(t.Context(), "final", PendingQuery{Limit: 10}))(t)
				require.Equal(t, int64(4), all.Total+all.Pending)
				for range 2 { // the retry of a host who has got no answer
					if len(all.Entries) > 0 {
						must(b.Reveal(t.Context(), "final", []string{all.Entries[0].Member}, Moderator{}))(t)
					}
				}
				if page := must(b.Page(t.Context(), "final", 1, 10))(t); page.Frozen != nil {
					require.Nil(t, must(b.RevealAll(t.Context(), "final", Moderator{}))(t).Frozen)
				}
			}
			require.Equal(t, entriesOf(t, b, "open"), entriesOf(t, b, "final"))
			require.EqualValues(t, 4, must(b.Page(t.Context(), "final", 1, 10))(t).Total)
		}
	}
}

// Whoever ends a freeze ends that one: a contest that gets another end freezes before that end again. To reveal nobody ends nothing.
func TestExtendedContestFreezesAgain(t *testing.T) {
	t.Parallel()
	board := definition.Board{Name: "final", Ends: friday.Add(time.Hour), Freeze: 10 * time.Minute, Reveal: definition.RevealHost}
	w := simulated(t, 1, Config{}, board)
	s := w.stores[0]
	w.write(s, "final", "a", 5)
	w.pass(51 * time.Minute)
	frozen := func() bool { return must(s.Page(t.Context(), "final", 1, 10))(t).Frozen != nil }
	require.True(t, frozen())
	r := must(s.Reveal(t.Context(), "final", []string{"a"}, Moderator{}))(t)
	require.NotNil(t, r.Frozen)
	require.Zero(t, r.Count)
	w.write(s, "final", "b", 7)
	require.True(t, frozen())
	must(s.Unfreeze(t.Context(), "final", Moderator{Reason: "half an hour more"}))(t)
	require.False(t, frozen())
	require.EqualValues(t, 1, w.write(s, "final", "c", 9).Current.Rank)
	board.Ends = board.Ends.Add(30 * time.Minute)
	define(t, s, board)
	w.pass(28 * time.Minute)
	require.False(t, frozen())
	w.pass(time.Minute)
	require.True(t, frozen())
	require.True(t, w.write(s, "final", "d", 20).Frozen)
	require.Equal(t, []string{"c 9 #1", "b 7 #2", "a 5 #3"}, entriesOf(t, s, "final"))
	must(s.RevealAll(t.Context(), "final", Moderator{}))(t)
	require.Equal(t, []string{"d 20 #1", "c 9 #2", "b 7 #3", "a 5 #4"}, entriesOf(t, s, "final"))
}
