package ranking

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rankcast/ranking/definition"
	"rankcast/ranking/proptest"
	"rankcast/ranking/redistest"
)

// A request id counts for the time that the definition gives, and for no more than twice that, wherever in a span of
// ids it begins, also when other ids come all the time.
func TestIDsCountForTheTimeOfTheDefinition(t *testing.T) {
	t.Parallel()
	for _, ids := range []time.Duration{0, time.Hour, 7 * 24 * time.Hour} {
		t.Run(ids.String(), func(t *testing.T) {
			t.Parallel()
			simulatedWorlds(t, 1, Config{}, []definition.Board{{Name: "b", IDs: ids}}, func(t *testing.T, w *world) {
				s, least := w.stores[0], max(ids, 10*time.Minute)
				for i := range 8 {
					id := strconv.Itoa(i)
					require.True(t, countsAs(t, s, "b", id))
					sent := w.now
					for n := range 4 {
						w.pass((least - time.Second) / 4)
						require.True(t, countsAs(t, s, "b", fmt.Sprint("other ", i, n)))
					}
					require.False(t, countsAs(t, s, "b", id), "after %s", w.now.Sub(sent))
					w.pass(least + 22*time.Second)
					require.True(t, countsAs(t, s, "b", id), "after %s", w.now.Sub(sent))
					w.pass(least / 3)
				}
			})
		})
	}
}

// Whatever becomes of the length, an id counts for the least length that was in force since it came, and is known no
// longer than a few times the greatest. The hashes of ids are two, and each of them expires. A board and its event
// forget alike: no retry is known to the event and new to the board while an id counts.
func TestIDsWhileTheirLengthChanges(t *testing.T) {
	t.Parallel()
	lengths := []time.Duration{0, 11 * time.Minute, time.Hour, 30 * time.Hour, 7 * 24 * time.Hour}
	simulatedWorlds(t, 1, Config{}, []definition.Board{{Name: "b:{n}"}}, func(t *testing.T, w *world) {
		s, instances := w.stores[0], 0
		proptest.CheckSeeded(t, redistest.Volume(w.url, 100), func(rt *rapid.T) {
			instances++
			n := strconv.Itoa(instances)
			board := "b:" + n
			ofBoard, ofEvent := time.Duration(0), time.Duration(0)
			type sent struct {
				at          time.Time
				least, most time.Duration
				asEvent     bool
			}
			known := make(map[string]*sent)
			count := func(asEvent bool) time.Duration {
				if asEvent {
					return max(ofEvent, 10*time.Minute)
				}
				return max(ofBoard, ofEvent, 10*time.Minute)
			}
			define := func() {
				require.NoError(rt, s.Define(t.Context(), definition.Set{
					Boards: []definition.Board{{Name: "b:{n}", IDs: ofBoard}},
					Events: []definition.Event{{Name: "e", IDs: ofEvent, Updates: []definition.Target{{Board: "b:{n}", Member: "m", Score: "1"}}}},
				}))
				_, err := s.catalog.readFresh(t.Context())
				require.NoError(rt, err)
				w.pass(grace) // an id of an event that came earlier counts for the least time
				for _, id := range known {
					id.least, id.most = min(id.least, count(id.asEvent)), max(id.most, count(false))
				}
			}
			define()
			for range rapid.IntRange(3, 25).Draw(rt, "steps") {
				switch rapid.IntRange(0, 5).Draw(rt, "step") {
				case 0:
					ofBoard, ofEvent = rapid.SampledFrom(lengths).Draw(rt, "board"), rapid.SampledFrom(lengths).Draw(rt, "event")
					define()
				case 1, 2:
					w.pass(rapid.SampledFrom(lengths).Draw(rt, "pass")*time.Duration(rapid.IntRange(1, 4).Draw(rt, "quarters"))/4 + time.Second)
				default:
					asEvent := rapid.Bool().Draw(rt, "as event")
					id := fmt.Sprint(n, asEvent, rapid.IntRange(0, 5).Draw(rt, "id"))
					isNew := false
					was := known[id]
					promised := time.Duration(0) // how long the id counts, as ingest would ask now
					if was != nil {
						var err error
						if asEvent {
							promised, err = s.EventIDsCount(t.Context(), "e", was.at)
						} else {
							promised, err = s.IDsCount(t.Context(), board, was.at)
						}
						require.NoError(rt, err)
					}
					if asEvent {
						isNew = !happen(rt, s, "e", id, "n", n).Outcomes[0].Result.Duplicate
					} else {
						isNew = countsAs(rt, s, board, id)
					}
					if was != nil && isNew {
						require.GreaterOrEqual(rt, w.now.Sub(was.at), promised, "the store told that the id counts")
						require.GreaterOrEqual(rt, w.now.Sub(was.at), was.least, "an id was dropped early")
					}
					if was == nil {
						require.True(rt, isNew)
					} else if !isNew {
						require.LessOrEqual(rt, w.now.Sub(was.at), 5*(was.most+10*time.Second), "an id was kept for ever")
					}
					if isNew {
						known[id] = &sent{at: w.now, least: count(asEvent), most: count(false), asEvent: asEvent}
					}
				}
			}
			for _, key := range w.rdb.Keys(t.Context(), "rc:{"+board+"}*").Val() {
				if strings.Contains(key, ":i:") {
					require.Positive(rt, w.rdb.PTTL(t.Context(), key).Val(), key)
				}
			}
		})
	})
}

// Whatever becomes of the length, a take-back that succeeds has taken the event back on each of its boards, once: the
// event forgets an id no later than the boards. While the id counts, a retry counts nowhere, and a take-back finds it.
func TestEventsAndBoardsForgetWhileTheLengthChanges(t *testing.T) {
	t.Parallel()
	lengths := []time.Duration{0, 11 * time.Minute, time.Hour, 100 * time.Minute, 30 * time.Hour, 7 * 24 * time.Hour}
	simulatedWorlds(t, 1, Config{}, nil, func(t *testing.T, w *world) {
		s, runs := w.stores[0], 0
		proptest.CheckSeeded(t, redistest.Volume(w.url, 300), func(rt *rapid.T) {
			runs++
			length := func(of string) time.Duration { return rapid.SampledFrom(lengths).Draw(rt, of) }
			define := func() {
				require.NoError(rt, s.Define(t.Context(), definition.Set{
					Boards: []definition.Board{{Name: "of:{n}", IDs: length("of")}, {Name: "all", IDs: length("all")}},
					Events: []definition.Event{{Name: "e", IDs: length("event"), Updates: []definition.Target{
						{Board: "of:{n}", Member: "m", Score: "1"}, {Board: "all", Member: "{n}", Score: "1"}}}},
				}))
				must(s.catalog.readFresh(t.Context()))(rt)
			}
			define()
			instances := []string{fmt.Sprint(runs, "a"), fmt.Sprint(runs, "b")}
			scores := func(n string) [2]int64 { // on the two boards of an event
				of := must(w.rdb.ZScore(t.Context(), keysOf(s, "of:"+n, "", "m").Members, "m").Result())(rt)
				all := must(w.rdb.ZScore(t.Context(), keysOf(s, "all", "", n).Members, n).Result())(rt)
				return [2]int64{-int64(math.Floor(of)), -int64(math.Floor(all))}
			}
			for _, n := range instances { // no member leaves
				apply(rt, s, "of:"+n, definition.Update{Member: "m", Score: 1000})
				apply(rt, s, "all", definition.Update{Member: n, Score: 1000})
			}
			type occurrence struct {
				at     time.Time // when it counted first, since the latest time it was new
				counts [2]bool   // on each board
			}
			sent := make(map[string]*occurrence)
			promised := func(o *occurrence) bool { // whether the id counts now
				return w.now.Sub(o.at) < must(s.EventIDsCount(t.Context(), "e", o.at))(rt)
			}
			for step := range rapid.IntRange(5, 40).Draw(rt, "steps") {
				i := rapid.IntRange(0, 3).Draw(rt, "id")
				n, id := instances[i%2], fmt.Sprint(runs, "-", i)
				was := sent[id]
				switch rapid.IntRange(0, 7).Draw(rt, "step") {
				case 0:
					define()
				case 1, 2:
					w.pass(length("pass")*time.Duration(rapid.IntRange(1, 8).Draw(rt, "quarters"))/4 + time.Second)
				case 3: // the hashes of ids of one board may change their places
					board := rapid.SampledFrom([]string{"of:" + n, "all"}).Draw(rt, "board")
					apply(rt, s, board, definition.Update{Member: "other", Score: 1, ID: fmt.Sprint("plain", runs, "-", step)})
				case 4, 5:
					before := scores(n)
					took, err := s.TakeBack(t.Context(), "e", id, nil, Moderator{})
					if err != nil {
						require.ErrorIs(rt, err, definition.ErrUnknownEvent)
						require.False(rt, was != nil && promised(was), "a take-back of an id that counts")
						require.Equal(rt, before, scores(n))
						continue
					}
					for b, counted := range was.counts {
						if counted {
							before[b]--
						}
						require.NoError(rt, took.Outcomes[b].Err)
						require.True(rt, took.Outcomes[b].Result.TakenBack)
					}
					require.Equal(rt, before, scores(n))
					was.counts = [2]bool{}
				default:
					before := scores(n)
					h := happen(rt, s, "e", id, "n", n)
					isNew := was == nil
					now := new(occurrence)
					for b, o := range h.Outcomes {
						require.NoError(rt, o.Err)
						now.counts[b] = !o.Result.TakenBack
						if !o.Result.Duplicate {
							isNew = true
							before[b]++
						}
					}
					require.Equal(rt, before, scores(n))
					require.False(rt, isNew && was != nil && promised(was), "a retry of an id that counts")
					if now.at = w.now; !isNew {
						now.at = was.at
					}
					sent[id] = now
				}
			}
		})
	})
}

// A take-back claims no success on a board that has forgotten the event, while other events keep the hash in which
// the event has its id.
func TestNoTakeBackOfWhatABoardForgot(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for name, test := range map[string]struct {
		first, second, third time.Duration // ids
		between, pass        time.Duration // between the second and the third, and after that
	}{
		"longer":                          {0, day, day, time.Minute, time.Hour},
		"shorter":                         {day, 0, 0, time.Minute, time.Hour},
		"shorter, and longer":             {day, 0, day, time.Minute, time.Hour},
		"spans that begin at other times": {11 * time.Minute, 0, 0, 0, 18 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			onSimulatedNode(t, nil, func(t *testing.T, w *world, s *Store) {
				define := func(ids time.Duration) {
					require.NoError(t, s.Define(t.Context(), definition.Set{
						Boards: []definition.Board{{Name: "of:{n}"}},
						Events: []definition.Event{{Name: "e", IDs: ids, Updates: []definition.Target{{Board: "of:{n}", Member: "m", Score: "1"}}}},
					}))
					must(s.catalog.readFresh(t.Context()))(t)
				}
				define(test.first)
				const span = 11*time.Minute + 10*time.Second
				for { // until a span of eleven minutes is about to end, and one of ten has begun
					us := time.Duration(w.now.UnixMicro()) * time.Microsecond
					if left := span - us%span; left > 12*time.Second && left < 25*time.Second && us%definition.LeastIDSpan < 25*time.Second {
						break
					}
					w.now = w.now.Add(time.Second)
				}
				w.pass(-span)
				happen(t, s, "e", "before", "n", "2") // it has the other hash
				w.pass(span)
				happen(t, s, "e", "x", "n", "1")
				require.Equal(t, []string{"m 1 #1"}, entriesOf(t, s, "of:1"))
				define(test.second)
				w.pass(test.between)
				if test.between > 0 {
					require.True(t, countsAs(t, s, "of:1", "plain"))
				}
				define(test.third)
				w.pass(grace)
				for range 6 { // some of these keep the hash of the event
					happen(t, s, "e", fmt.Sprint("y", w.now), "n", "2")
					w.pass(test.pass / 6)
				}
				happen(t, s, "e", "y", "n", "3")
				before := entriesOf(t, s, "of:1")
				require.ErrorIs(t, errorOf(s.TakeBack(t.Context(), "e", "x", nil, Moderator{})), definition.ErrUnknownEvent)
				require.Equal(t, before, entriesOf(t, s, "of:1"))
				require.False(t, takeBack(t, s, "y").Before)
				require.Empty(t, entriesOf(t, s, "of:3"))
			})
		})
	}
}

// After `ids` becomes shorter, Redis keeps none of the earlier ids for the former time: a board that was full takes ids.
func TestShorterIDsLeaveInTheNewTime(t *testing.T) {
	onSimulatedNode(t, nil, func(t *testing.T, w *world, s *Store) {
		define := func(ids time.Duration) {
			require.NoError(t, s.Define(t.Context(), definition.Set{Boards: []definition.Board{{Name: "b", IDs: ids}}}))
		}
		define(7 * 24 * time.Hour)
		for _, id := range []string{"span before", "present span"} { // one in each hash
			require.True(t, countsAs(t, s, "b", id))
			w.pass(8 * 24 * time.Hour)
		}
		define(0)
		require.True(t, countsAs(t, s, "b", "after"))
		w.pass(10 * time.Minute)
		require.False(t, countsAs(t, s, "b", "present span"))
		w.pass(2*definition.LeastIDSpan - 10*time.Minute)
		for _, id := range []string{"span before", "present span", "after"} {
			require.True(t, countsAs(t, s, "b", id), id)
		}
	})
}

// An id counts for the time of a definition if it came after the last change that made that time longer.
func TestIDsCountFromAChangeOn(t *testing.T) {
	t.Parallel()
	simulatedWorlds(t, 2, Config{}, []definition.Board{{Name: "a"}, {Name: "b"}}, func(t *testing.T, w *world) {
		s, other := w.stores[0], w.stores[1]
		event := func(ids time.Duration, boards ...string) {
			e := definition.Event{Name: "e", IDs: ids}
			for _, board := range boards {
				e.Updates = append(e.Updates, definition.Target{Board: board, Member: "m", Score: "1"})
			}
			require.NoError(t, s.DefineEvent(t.Context(), e, Moderator{}))
		}
		// counts requires how long the ids of e count: those of an hour ago, of now, and those that come after the grace.
		counts := func(what string, before, now, after time.Duration) {
			t.Helper()
			began := w.now
			w.pass(grace)
			must(other.catalog.readFresh(t.Context()))(t)
			for _, of := range []struct{ at, want time.Duration }{{-time.Hour, before}, {0, now}, {grace, after}} {
				count := must(other.EventIDsCount(t.Context(), "e", began.Add(of.at)))(t)
				require.Equal(t, of.want, count, "%s: an id of %s", what, of.at)
			}
			w.pass(2 * time.Hour)
		}
		const least, day = definition.LeastIDs, 24 * time.Hour
		event(0, "a")
		counts("the default", least, least, least)
		event(day, "a")
		counts("longer", least, least, day)
		event(day, "a")
		counts("the same", day, day, day)
		event(2*time.Hour, "a")
		counts("shorter", 2*time.Hour, 2*time.Hour, 2*time.Hour)
		event(2*time.Hour, "a", "b")
		counts("on one more board", least, least, 2*time.Hour)
		event(2*time.Hour, "b")
		counts("on one board less", 2*time.Hour, 2*time.Hour, 2*time.Hour)
		require.NoError(t, s.DeleteEvent(t.Context(), "e", Moderator{}))
		event(2*time.Hour, "b")
		counts("defined again", least, least, 2*time.Hour)
		w.quiet()
		require.NoError(t, w.rdb.FlushDB(t.Context()).Err())
		if w.clock != nil {
			w.set(w.now)
		}
		must(s.catalog.readFresh(t.Context()))(t)
		counts("Redis has lost everything", least, least, 2*time.Hour)
		event(0, "b")
		counts("the default again", least, least, least)
		for field := range w.rdb.HGetAll(t.Context(), s.keys.Definitions()).Val() {
			require.NotContains(t, field, idsField)
		}
	})
}

// While an event knows an id, so does each board that it updates, also one whose own ids count for less, and that
// gets plain updates in between: else a retry would count on the board again.
func TestABoardKeepsIDsAsLongAsItsEvents(t *testing.T) {
	t.Parallel()
	boards := []definition.Board{{Name: "own", IDs: 20 * time.Hour}, {Name: "plain"}}
	simulatedWorlds(t, 1, Config{}, boards, func(t *testing.T, w *world) {
		s := w.stores[0]
		require.NoError(t, s.Define(t.Context(), definition.Set{Events: []definition.Event{
			{Name: "e", IDs: 15 * time.Hour, Updates: []definition.Target{{Board: "own", Member: "m", Score: "1"},
				{Board: "plain", Member: "m", Score: "1"}}},
		}}))
		for i := range 6 {
			id := strconv.Itoa(i)
			o := occurs(id)
			must(s.ApplyEvents(t.Context(), "e", []EventCall{o}))(t)
			for hours := 0; ; hours++ {
				require.Less(t, hours, 40, "the event never forgets the id")
				w.pass(time.Hour)
				for _, board := range []string{"own", "plain"} {
					require.True(t, countsAs(t, s, board, fmt.Sprint(i, hours)))
				}
				_, err := s.TakeBack(t.Context(), "e", "other", nil, Moderator{})
				require.ErrorContains(t, err, "of the last 15h")
				knows := false
				for _, hash := range s.keys.EventIDs("e") {
					ends := strings.Fields(w.rdb.HGet(t.Context(), hash, "").Val() + " 0 0")[1]
					until := must(strconv.ParseInt(ends, 10, 64))(t)
					knows = knows || until > w.now.UnixMicro() && w.rdb.HExists(t.Context(), hash, id).Val()
				}
				if !knows {
					require.GreaterOrEqual(t, hours, 14)
					break
				}
				for _, outcome := range must(s.ApplyEvents(t.Context(), "e", []EventCall{o}))(t)[0].Outcomes {
					require.True(t, outcome.Result.Duplicate, "%d hours later", hours)
				}
			}
			w.pass(101 * time.Minute)
		}
	})
}
