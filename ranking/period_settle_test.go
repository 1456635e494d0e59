package ranking

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
)

func TestAClosedPeriodIsAnnouncedOnce(t *testing.T) {
	t.Parallel()
	worlds(t, 2, Config{Announce: 2}, seconds, func(t *testing.T, w *world) {
		var want []string
		for i, board := range []string{"stars", "fans:s1", "fans:s2"} {
			for _, member := range []string{"a", "b", "c"} {
				w.write(w.stores[i%2], board, member, 5)
			}
			o, err := w.stores[0].Apply(t.Context(), board, []definition.Update{{Member: "top", Score: 9, Data: `{"n":1}`}})
			require.NoError(t, err)
			want = append(want, definition.Qualify(board, o[0].Result.Period))
		}
		w.until("all to be announced", func() error { return missing(want, w.announced()) })
		for range 5 { // nobody announces anything again
			w.tend()
		}
		for _, name := range want {
			words := w.words()
			same := slices.DeleteFunc(slices.Clone(words), func(word feedWord) bool { return word.name() != name })
			require.Len(t, same, 1, "%s is told once", name)
		}
		word := w.words()[slices.Index(names(w.words()), want[0])]
		page := must(w.stores[1].Page(t.Context(), want[0], 1, 10))(t)
		require.True(t, page.Final)
		require.Equal(t, word.Data.Total, page.Total)
		require.Equal(t, page.Ends.Format(definition.TimeForm), word.Data.Ended)
		require.Equal(t, word.Data.Ended, word.At)
		require.Equal(t, page.Ends.Add(-time.Second).Format(definition.TimeForm), *word.Data.Opened)
		if page.Total == 4 { // the period did not turn while it was written to
			require.JSONEq(t, `[{"rank":1,"member":"top","score":9,"data":{"n":1}},{"rank":2,"member":"a","score":5}]`, string(word.Data.Top))
		}
		w.cared(true)
	})
}

// A busy board has each of its periods announced as it closes, not when the board has
// grown quiet.
func TestEachPeriodOfABusyBoardIsAnnouncedInTime(t *testing.T) {
	t.Parallel()
	worlds(t, 2, Config{}, seconds, func(t *testing.T, w *world) {
		var want []string
		for i := range 4 {
			name := definition.Qualify("stars", w.write(w.stores[i%2], "stars", "a", 1).Period)
			if !slices.Contains(want, name) {
				want = append(want, name)
			}
			if w.set != nil {
				w.pass(time.Second)
				next := definition.Qualify("stars", w.write(w.stores[i%2], "stars", "a", 1).Period)
				w.tend()
				require.Equal(t, want, w.announced(), "as soon as somebody looks, although the next has begun")
				want = append(want, next)
			} else {
				w.until(name, func() error {
					w.write(w.stores[i%2], "stars", "a", 1)
					return missing(want, w.announced())
				})
			}
		}
	})
}

// The period turns before any of the commands of a write, and a node looks after the
// board before the next: the period that the write counts in is announced as it closes.
func TestAPeriodThatATurnBeganIsAnnouncedInTime(t *testing.T) {
	t.Parallel()
	for step, reached := 0, true; reached; step++ {
		w := simulated(t, 1, Config{}, seconds(friday)...)
		rdb := w.client()
		writes := New(rdb, patient)
		reached = false
		at(rdb, step, func() error {
			reached = true
			w.pass(time.Second)
			return nil
		})
		at(rdb, step+1, func() error { w.tend(); return nil })
		w.write(writes, "stars", "a", 1)
		w.tendAfter(time.Second)
		require.Len(t, w.announced(), 1, "step %d", step)
	}
}

// Two nodes look after the same at one time: before any of the commands of the one,
// the other does all.
func TestTwoNodesThatLookAtOnceAnnounceOnce(t *testing.T) {
	t.Parallel()
	for step, reached := 0, true; reached; step++ {
		w := simulated(t, 1, Config{}, definition.Board{Name: "fans:{star}", Period: "hour"})
		w.write(w.stores[0], "fans:s1", "a", 1)
		w.pass(time.Hour)
		rdb := w.client()
		one := New(rdb, patient)
		reached = false
		at(rdb, step, func() error {
			reached = true
			require.NoError(t, w.stores[0].scheduleNow(t.Context(), "fans:s1"))
			w.tendAfter(time.Second)
			return nil
		})
		must(one.housekeepDue(t.Context()))(t)
		require.Len(t, w.announced(), 1, "step %d", step)
	}
}

// What is put on the agenda while a node looks after it is looked after again.
func TestWhatIsDueMeanwhileIsNotMissed(t *testing.T) {
	t.Parallel()
	w, s := simulatedNode(t, definition.Board{Name: "fans:{star}", Period: "hour"})
	w.write(s, "fans:s1", "a", 1)
	w.pass(relistAfter)
	due, _, err := s.claimTurns(t.Context(), 10)
	require.NoError(t, err)
	require.Len(t, due, 1)
	require.NoError(t, s.scheduleNow(t.Context(), "fans:s1"))
	require.NoError(t, s.housekeep(t.Context(), due[0]))
	w.pass(time.Second)
	require.LessOrEqual(t, w.next(), w.now.UnixMicro())
}

// An update reaches the period that is open by Redis's clock, whatever a node takes
// that to be.
func TestAClosedPeriodIsFrozen(t *testing.T) {
	t.Parallel()
	worlds(t, 2, Config{}, seconds, func(t *testing.T, w *world) {
		first := w.write(w.stores[0], "stars", "a", 5).Period
		w.until("the end", func() error { return missing([]string{definition.Qualify("stars", first)}, w.announced()) })
		before := must(w.stores[0].Page(t.Context(), definition.Qualify("stars", first), 1, 10))(t)
		for _, late := range []time.Duration{time.Second, time.Minute} {
			w.stores[1].catalog.clock.set(before.Ends.Add(-late).UnixMicro())
			require.NotEqual(t, first, w.write(w.stores[1], "stars", "a", 7).Period)
		}
		after := must(w.stores[0].Page(t.Context(), definition.Qualify("stars", first), 1, 10))(t)
		after.Left = before.Left
		require.Equal(t, before, after)
		_, err := w.stores[0].Apply(t.Context(), definition.Qualify("stars", first), []definition.Update{{Member: "a", Score: 1}})
		require.ErrorIs(t, err, definition.ErrNotOpen)
	})
}

// Redis's clock is set back over the end of a period that was announced: nothing
// reaches it, and it is not announced again.
func TestAnAnnouncedPeriodStaysFrozenWhenTheClockGoesBack(t *testing.T) {
	t.Parallel()
	w := simulated(t, 2, Config{}, append(seconds(friday), definition.Board{Name: "cup", Ends: friday.Add(2 * time.Second)},
		definition.Board{Name: "short", Ends: friday.Add(2 * time.Second), Retain: time.Second},
		definition.Board{Name: "unkept", Period: "1s", Base: friday, Keep: new(0)})...)
	boards := []string{"cup", "short", "stars", "unkept"}
	for _, board := range boards {
		apply(t, w.stores[0], board, definition.Update{Member: "a", Score: 5, ID: "1"})
	}
	w.tendAfter(3 * time.Second)
	w.tendAfter(time.Second)
	k := w.stores[0].keys
	require.Zero(t, w.rdb.Exists(t.Context(), k.Board("unkept", "0").Meta, k.Board("short", "").Meta).Val(), "gone already")
	require.Equal(t, []string{"cup", "short", "stars@0", "unkept@0"}, w.announced())

	w.now = friday.Add(time.Second / 2)
	w.set(w.now)
	for _, s := range append(w.stores, w.store(Config{})) {
		for _, board := range boards {
			o, err := s.Apply(t.Context(), board, []definition.Update{{Member: "a", Score: 1}, {Member: "a", Score: 5, ID: "1"}})
			require.NoError(t, err)
			require.ErrorIs(t, o[0].Err, definition.ErrUnavailable, board)
			require.ErrorContains(t, o[0].Err, "clock was set back")
			require.NoError(t, o[1].Err)
			require.True(t, o[1].Result.Duplicate)
		}
	}
	w.tendAfter(3 * time.Second)
	require.EqualValues(t, 5, must(w.stores[0].Page(t.Context(), "stars@0", 1, 1))(t).Entries[0].Score)
	require.Equal(t, []string{"cup", "short", "stars@0", "unkept@0"}, w.announced())
	require.Equal(t, "3", w.write(w.stores[0], "stars", "a", 1).Period)
}

// Redis's clock is set back within a period that is open: updates count as before, the member who came first ranks first,
// and a retry is a duplicate. In a period before that was not announced, they count there.
func TestUpdatesCountWhenTheClockGoesBack(t *testing.T) {
	t.Parallel()
	w := simulated(t, 1, Config{}, definition.Board{Name: "plain"}, definition.Board{Name: "daily", Period: "day"},
		definition.Board{Name: "hourly", Period: "hour"})
	boards := []string{"plain", "daily", "hourly"}
	w.pass(30 * time.Minute)
	for _, board := range boards {
		apply(t, w.stores[0], board, definition.Update{Member: "z", Score: 5, ID: "1"})
	}
	w.now = w.now.Add(-time.Hour)
	w.set(w.now)
	for _, s := range append(w.stores, w.store(Config{})) {
		for _, board := range boards {
			o, err := s.Apply(t.Context(), board, []definition.Update{{Member: "a", Score: 5, ID: "2"}, {Member: "z", Score: 5, ID: "1"}})
			require.NoError(t, err)
			require.NoError(t, o[0].Err, board)
			if board == "hourly" {
				require.Equal(t, "2026-11-20T09Z", o[0].Result.Period)
				continue
			}
			require.True(t, o[1].Result.Duplicate, board)
			page := must(s.Page(t.Context(), board, 1, 10))(t)
			require.Equal(t, []string{"z", "a"}, []string{page.Entries[0].Member, page.Entries[1].Member}, board)
			require.EqualValues(t, []int64{5, 5}, []int64{page.Entries[0].Score, page.Entries[1].Score}, board)
		}
	}
}

// A failover loses that a period was settled: it is announced again, under the same id. If other writes have led to
// the same seq meanwhile, it is another result, with another id.
func TestALostSettlementComesBackUnderTheSameID(t *testing.T) {
	t.Parallel()
	w := simulated(t, 2, Config{Deliver: []string{AllBoards}}, definition.Board{Name: "fans:{star}", Period: "hour"})
	k := keysOf(w.stores[0], "fans:s1", "2026-11-20T10Z", "a")
	w.write(w.stores[0], "fans:s1", "a", 1)
	before := w.rdb.HGet(t.Context(), k.Periods, "2026-11-20T10Z").Val()
	ids := make(map[string]bool)
	for loses := range 3 {
		if loses == 2 {
			require.Len(t, ids, 1)
			require.NoError(t, w.rdb.HIncrBy(t.Context(), k.Meta, "clock", 1).Err()) // as another last write leaves it
		}
		w.tendAfter(time.Hour + time.Second)
		w.pass(time.Second)
		due := must(w.stores[1].Deliveries(t.Context(), 10))(t)
		require.Len(t, due, 1)
		ids[due[0].ID] = true
		require.NoError(t, w.stores[0].Deferred(t.Context(), due[0], 0, nil))
		require.NoError(t, w.rdb.HSet(t.Context(), k.Periods, "2026-11-20T10Z", before).Err())
		require.NoError(t, w.rdb.HDel(t.Context(), k.Meta, "settled").Err())
	}
	require.Len(t, ids, 2)
	require.Len(t, w.announced(), 3)
	w.tendAfter(time.Hour + time.Second)
	require.NoError(t, w.stores[0].Delete(t.Context(), "fans:s1", Moderator{}))
	require.Empty(t, w.rdb.ZRange(t.Context(), w.stores[0].keys.Deliveries("fans/1"), 0, -1).Val(), "nobody is told of what was deleted")
}

// All nodes were down for far more periods than are kept: each that has data is
// announced, the oldest first, before it goes.
func TestPeriodsThatClosedWhileAllWereAwayAreAnnounced(t *testing.T) {
	t.Parallel()
	w := simulated(t, 2, Config{}, definition.Board{Name: "fans:{star}", Period: "hour", Keep: new(2)})
	var want []string
	for i := range 20 {
		if i%5 != 4 { // nobody sends anything
			want = append(want, definition.Qualify("fans:s1", w.write(w.stores[0], "fans:s1", "a", 1).Period))
		}
		w.pass(time.Hour)
	}
	require.Empty(t, w.announced())
	w.tendAfter(1000 * time.Hour)
	require.Equal(t, want, names(w.words()))
	w.until("all to go", w.nothingLeft)
	require.Equal(t, want, names(w.words()))
}

// With or without a reader of the deliveries, periods go only when they were told.
func TestPeriodsAwaitTheirDelivery(t *testing.T) {
	t.Parallel()
	w := simulated(t, 2, Config{Announce: 10, Deliver: []string{"told"}},
		definition.Board{Name: "told", Period: "hour", Keep: new(0)}, definition.Board{Name: "untold", Period: "hour", Keep: new(0)})
	for range 3 {
		w.write(w.stores[0], "told", "a", 1)
		w.write(w.stores[0], "untold", "a", 1)
		w.pass(time.Hour)
	}
	w.pass(100 * 24 * time.Hour) // however long it takes
	w.tend()
	require.Len(t, w.announced(), 6)
	w.tendAfter(undeliveredInterval)
	w.tendAfter(relistAfter + time.Second)
	wanted := []string{"rc:{/}:agenda", "rc:{/}:deliveries:told/0", "rc:{/}:instances:told/0", "rc:{/}:turns", "rc:{/}:undelivered"}
	for _, period := range []string{"2026-11-20T10Z", "2026-11-20T11Z", "2026-11-20T12Z"} {
		k := keysOf(w.stores[0], "told", period, "a")
		wanted = append(wanted, k.Meta, k.Members)
	}
	for _, name := range ShardNames("told", Shards) {
		wanted = append(wanted, w.stores[0].keys.Board(name, "").Periods)
	}
	require.ElementsMatch(t, wanted, w.allKeys())

	first := must(w.stores[0].Deliveries(t.Context(), 2))(t)
	second := must(w.stores[1].Deliveries(t.Context(), 2))(t)
	require.Len(t, first, 2)
	require.Len(t, second, 1, "what one has claimed the other does not see")
	d := first[0]
	require.JSONEq(t, `{"id":"`+d.ID+`","board":"told","period":"2026-11-20T10Z",
		"opened":"2026-11-20T10:00:00.000Z","ended":"2026-11-20T11:00:00.000Z",
		"total":1,"top":[{"rank":1,"member":"a","score":1}]}`, string(d.Body))
	require.WithinDuration(t, w.now, d.Now, 0)
	require.Equal(t, undeliveredInterval+relistAfter+time.Second, d.Age)

	// Whoever has one and dies is stood in for, under the same id.
	require.NoError(t, w.stores[0].Deferred(t.Context(), first[1], 10*time.Minute, nil))
	w.pass(DeliverWithin + time.Second)
	again := must(w.stores[1].Deliveries(t.Context(), 10))(t)
	require.ElementsMatch(t, []string{first[0].ID, second[0].ID}, []string{again[0].ID, again[1].ID})
	require.Len(t, again, 2)
	// He who comes too late to say so is heard all the same.
	require.NoError(t, w.stores[0].Delivered(t.Context(), first[0]))
	w.tend()
	require.NotContains(t, w.allKeys(), keysOf(w.stores[0], "told", "2026-11-20T10Z", "a").Members, "delivered, so it need not stay")
	require.Contains(t, w.allKeys(), keysOf(w.stores[0], "told", "2026-11-20T11Z", "a").Members)
}

// Some nodes take deliveries and others do not, as while the flag is rolled out: what
// is wanted by some is not given up by the others.
func TestDeliveriesThatOnlySomeNodesTake(t *testing.T) {
	t.Parallel()
	w := simulated(t, 1, Config{}, definition.Board{Name: "b", Period: "hour"}, definition.Board{Name: "c", Period: "hour"})
	turn := func() (due []string) {
		w.write(w.stores[0], "b", "a", 1)
		w.write(w.stores[0], "c", "a", 1)
		w.tendAfter(time.Hour)
		w.pass(time.Second)
		list := must(w.stores[0].Deliveries(t.Context(), 10))(t)
		for _, d := range list {
			due = append(due, d.Board)
			require.NoError(t, w.stores[0].Delivered(t.Context(), d))
		}
		slices.Sort(due)
		return due
	}
	require.Empty(t, turn())
	taker := w.store(Config{Deliver: []string{"b"}})
	w.tend()
	w.stores = w.stores[:1] // it stops
	require.Equal(t, []string{"b"}, turn())
	w.store(Config{Deliver: []string{AllBoards}})
	w.tend()
	require.Equal(t, []string{"b", "c"}, turn())
	w.stores = w.stores[:1]
	w.pass(wantedFor)
	require.Empty(t, turn(), "for a day after the last")
	w.stores = append(w.stores, taker)
	w.tend()
	w.tend() // now it has heard what time it is
	w.stores = w.stores[:1]
	require.Equal(t, []string{"b"}, turn())
}

// While a delivery is under way its board is deleted and made anew.
func TestADeliveryOfAnEarlierLife(t *testing.T) {
	t.Parallel()
	w := simulated(t, 1, Config{Deliver: []string{AllBoards}}, definition.Board{Name: "fans:{star}", Period: "hour"})
	s := w.stores[0]
	w.write(s, "fans:s1", "a", 1)
	w.tendAfter(time.Hour)
	w.pass(time.Second)
	old := must(s.Deliveries(t.Context(), 10))(t)
	require.Len(t, old, 1)
	require.NoError(t, s.Delete(t.Context(), "fans:s1", Moderator{}))
	w.pass(-time.Minute) // into the period that was
	w.write(s, "fans:s1", "a", 2)
	w.tendAfter(time.Minute)
	require.Len(t, w.announced(), 2)
	require.NoError(t, s.Delivered(t.Context(), old[0]))
	w.pass(time.Second)
	anew := must(s.Deliveries(t.Context(), 10))(t)
	require.Len(t, anew, 1)
	require.NotEqual(t, old[0].ID, anew[0].ID)
}

// What cannot be read is not listed, though it is there until it is delivered.
func TestPeriodsThatAreNotKeptAreNotListed(t *testing.T) {
	t.Parallel()
	w := simulated(t, 1, Config{Deliver: []string{AllBoards}}, definition.Board{Name: "b", Period: "hour", Keep: new(1)})
	for range 3 {
		w.write(w.stores[0], "b", "a", 1)
		w.tendAfter(time.Hour)
	}
	w.tendAfter(definition.ClosedGrace)
	list := must(w.stores[0].Periods(t.Context(), "b"))(t)
	require.Len(t, list, 2)
	for _, p := range list {
		must(w.stores[0].Page(t.Context(), definition.Qualify("b", p.Period), 1, 1))(t)
	}
}

// A node that cannot read for how long a board has a receiver does not take the board for one without a receiver.
func TestUnreadableReceiver(t *testing.T) {
	onNode(t, nil, func(t *testing.T, s *Store) {
		for text, want := range map[string]error{"": nil, "soon": definition.ErrUnavailable} {
			require.NoError(t, s.rdb.HSet(t.Context(), s.keys.Definitions(), wantedField+"b", text).Err())
			has, err := s.hasReceiver(t.Context(), "b")
			require.ErrorIs(t, err, want, text)
			require.False(t, has, text)
		}
	})
}
