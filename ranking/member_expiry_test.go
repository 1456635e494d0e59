package ranking

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/feed"
	"rankcast/ranking/internal/keyspace"
	"rankcast/ranking/redistest"
)

// shows says whether a board has so many members, as its changes have it too.
func (w *world) shows(board string, total int64) error {
	if n := w.total(board); n != total {
		return fmt.Errorf("board %q has %d members; want %d", board, n, total)
	}
	return nil
}

// News rank by when they were published and by their votes, and leave on time; a late
// vote revives nothing.
func TestHotNews(t *testing.T) {
	t.Parallel()
	ttl := map[bool]time.Duration{true: 7 * 24 * time.Hour, false: 4 * time.Second}
	boards := func(now time.Time) []definition.Board {
		return []definition.Board{{Name: "hot", MemberTTL: ttl[now.Equal(friday)]}}
	}
	worlds(t, 2, Config{}, boards, func(t *testing.T, w *world) {
		s, published := w.stores[0], int64(1_795_000_000)
		vote := definition.Update{Member: "n1", Score: 432, If: definition.Exists}
		apply(t, s, "hot", definition.Update{Member: "n1", Score: published, If: definition.Absent})
		require.Equal(t, Result{Current: &Standing{published + 432, 1}, Previous: &Standing{published, 1}}, apply(t, s, "hot", vote).Result)
		if w.set != nil {
			w.tendAfter(ttl[true] - time.Second)
			require.NoError(t, w.shows("hot", 1))
			apply(t, s, "hot", definition.Update{Member: "n2", Score: published + 500, If: definition.Absent})
			// Gone to whoever votes, before it was swept away.
			w.pass(time.Second)
			require.Equal(t, Result{}, apply(t, s, "hot", vote).Result)
			require.NoError(t, w.shows("hot", 1))
		}
		w.until("all to leave", func() error { return w.shows("hot", 0) })
		require.Equal(t, Result{}, apply(t, w.stores[1], "hot", vote).Result)
		require.NoError(t, w.shows("hot", 0))
		// And nothing is left of who left; what comes again begins anew.
		for _, key := range w.allKeys() {
			require.NotContains(t, []string{"rc:{hot}::z", "rc:{hot}::t", "rc:{hot}::x"}, key)
		}
		require.Equal(t, Result{Current: &Standing{5, 1}}, apply(t, s, "hot", definition.Update{Member: "n1", Score: 5}).Result)
	})
}

// Many who leave at one time are let go in small calls, in which each is told of.
func TestManyLeave(t *testing.T) {
	t.Parallel()
	const members = 2*expireAtOnce + 70
	redistest.Engines(t, func(t *testing.T, url string) {
		w := &world{t: t, url: url}
		w.open(1, patient, []definition.Board{{Name: "b", Ties: definition.Dense, MemberTTL: time.Hour, Mode: definition.Last}})
		s := w.stores[0]
		var updates []definition.Update
		for i := range members {
			updates = append(updates, definition.Update{Member: fmt.Sprint("m", i), Score: int64(i / 2), Data: `1`})
		}
		must(s.Apply(t.Context(), "b", updates))(t)
		sub := w.rdb.Subscribe(t.Context(), keyspace.New("rc").Channel("b"))
		defer sub.Close()
		must(sub.Receive(t.Context()))(t)
		age := func(member string) {
			require.NoError(t, w.rdb.ZIncrBy(t.Context(), keyspace.New("rc").Board("b", "").Entered, -float64(time.Hour.Microseconds()),
				member).Err())
		}
		for i := range members - 1 {
			age(fmt.Sprint("m", i))
		}
		holdDefinitions(s)
		require.NoError(t, s.scheduleNow(t.Context(), "b"))
		w.tend()
		require.NoError(t, w.shows("b", 1))
		left, seq := make(map[string]bool), int64(members)
		for len(left) < members-1 {
			m := must(sub.ReceiveMessage(t.Context()))(t)
			c := must(feed.ParseChanges(m.Payload))(t)
			require.LessOrEqual(t, len(c.List), expireAtOnce)
			require.Equal(t, seq+1, c.Seq)
			seq = c.Last()
			for _, change := range c.List {
				require.Nil(t, change.New)
				left[change.Member] = true
			}
		}
		distinct := must(w.rdb.ZRange(t.Context(), keyspace.New("rc").Board("b", "").Distinct, 0, -1).Result())(t)
		require.Equal(t, []string{fmt.Sprint(-(members - 1) / 2)}, distinct)
		age(fmt.Sprint("m", members-1))
		// One who writes has others leave, and himself first.
		require.Equal(t, Result{Current: &Standing{1, 1}}, apply(t, s, "b", definition.Update{Member: "n", Score: 1}).Result)
		require.NoError(t, w.shows("b", 1))
	})
}

// A lower limit removes the last members, without a write. A shorter member_ttl removes the members whose time is over
// by it.
func TestLimitAndMemberTTLThatChange(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		w := &world{t: t, url: url}
		board := definition.Board{Name: "b", Mode: definition.Best, MemberTTL: 2 * time.Hour}
		w.open(2, patient, []definition.Board{board})
		s := w.stores[0]
		for i := range 9 {
			apply(t, s, "b", definition.Update{Member: fmt.Sprint("m", i), Score: int64(i)})
		}
		board.Limit = 5
		define(t, s, board)
		w.until("the last to go", func() error { return w.shows("b", 5) })
		p := must(s.Page(t.Context(), "b", 1, 10))(t)
		require.Equal(t, []string{"m8", "m4"}, []string{p.Entries[0].Member, p.Entries[4].Member})

		// Who gets no place is answered so, and a retry likewise.
		out := definition.Update{Member: "late", Score: 4, ID: "1"}
		require.Equal(t, Outcome{}, apply(t, s, "b", out))
		require.Equal(t, Outcome{Result: Result{Duplicate: true}}, apply(t, w.stores[1], "b", out))
		require.Equal(t, Result{Current: &Standing{5, 5}}, apply(t, s, "b", definition.Update{Member: "new", Score: 5}).Result)
		require.NoError(t, w.shows("b", 5))
		require.ErrorIs(t, apply(t, s, "b", definition.Update{Member: "m8", Score: 1, Op: definition.Sum}).Err, definition.ErrInvalid)

		key := keyspace.New("rc").Board("b", "").Entered
		require.NoError(t, w.rdb.ZIncrBy(t.Context(), key, -float64(time.Hour.Microseconds()), "m8").Err())
		board.MemberTTL = time.Hour
		define(t, s, board)
		w.until("one to leave", func() error { return w.shows("b", 4) })
		p = must(s.Page(t.Context(), "b", 1, 1))(t)
		require.Equal(t, "m7", p.Entries[0].Member)
		board.MemberTTL = 0
		require.ErrorIs(t, s.DefineBoard(t.Context(), board, Moderator{}), definition.ErrConflict)
	})
}

// Those whose time was over before a period closed are not in its last standing, however
// late it is looked after; those whose time is over later stay for good.
func TestWhoIsDueBeforeTheEndLeaves(t *testing.T) {
	t.Parallel()
	boards := func(now time.Time) []definition.Board {
		return []definition.Board{{Name: "b", Mode: definition.Last, Period: "1s", Base: now.Truncate(time.Second), MemberTTL: time.Hour}}
	}
	worlds(t, 2, Config{CallTimeout: redistest.CallTimeout}, boards, func(t *testing.T, w *world) {
		s := w.stores[0]
		var updates []definition.Update
		for i := range expireAtOnce + 3 {
			updates = append(updates, definition.Update{Member: fmt.Sprint("m", i), Score: int64(i)})
		}
		name, whole := "", false
		for !whole { // until all the updates of one call are in one period
			o := must(s.Apply(t.Context(), "b", updates))(t)
			name = o[0].Result.Period
			whole = !slices.ContainsFunc(o, func(o Outcome) bool { return o.Result.Period != name })
		}
		period := definition.Qualify("b", name)
		list := must(s.periodRecords(t.Context(), nil, "b"))(t)
		record := list[slices.IndexFunc(list, func(r periodRecord) bool { return r.Name == name })]
		k := s.keys.Board("b", name)
		leaves := func(i int, at time.Time) {
			entered := redis.Z{Score: float64(at.Add(-time.Hour).UnixMicro()), Member: fmt.Sprint("m", i)}
			require.NoError(t, w.rdb.ZAdd(t.Context(), k.Entered, entered).Err())
		}
		for i := range expireAtOnce + 1 {
			leaves(i, record.Closes.Add(-time.Microsecond))
		}
		leaves(expireAtOnce+1, record.Closes)
		w.skip(2 * time.Second)
		w.until("the end", func() error { return missing([]string{period}, w.announced()) })
		last := []string{fmt.Sprintf("m%d %d #1", expireAtOnce+2, expireAtOnce+2), fmt.Sprintf("m%d %d #2", expireAtOnce+1, expireAtOnce+1)}
		require.Equal(t, last, entriesOf(t, s, period))
		words := w.words()
		told := words[slices.IndexFunc(words, func(word feedWord) bool { return word.name() == period })]
		require.EqualValues(t, 2, told.Data.Total)
		require.EqualValues(t, 2, w.rdb.ZCard(t.Context(), k.Entered).Val())

		// Nothing changes any more, also when the clock goes back.
		leaves(expireAtOnce+1, record.Opens)
		require.NoError(t, s.scheduleNow(t.Context(), "b"))
		w.tend()
		if w.set != nil {
			w.now = record.Opens
			w.pass(time.Millisecond)
			rule := s.catalog.latest.Load().boards["b/0"]
			must(s.expireMembers(t.Context(), "b", rule, record.Period, w.now.UnixMicro(), definition.Never))(t)
		}
		require.EqualValues(t, 2, w.rdb.ZCard(t.Context(), k.Members).Val())
	})
}

// A period waits to be announced until nobody is in it any more who should have left.
func TestAPeriodIsNotSettledBeforeItIsCleared(t *testing.T) {
	t.Parallel()
	w := simulated(t, 1, Config{}, definition.Board{Name: "b", Period: "hour", MemberTTL: 30 * time.Minute})
	s := w.stores[0]
	period := definition.Qualify("b", w.write(s, "b", "a", 1).Period)
	w.pass(45 * time.Minute)
	w.write(s, "b", "b", 1)
	w.pass(45 * time.Minute)
	list := must(s.periodRecords(t.Context(), nil, "b"))(t)
	k, rule := s.keys.Board("b", list[0].Name), s.catalog.latest.Load().boards["b/0"]
	// As who expired when the clock of the board's own master had not come to the end.
	require.NoError(t, w.rdb.ZAdd(t.Context(), k.Entered, redis.Z{Score: 1, Member: "b"}).Err())
	require.Empty(t, must(s.settle(t.Context(), "b", rule, list[0], definition.Never))(t).id)
	w.until("the end", func() error { return missing([]string{period}, w.announced()) })
	require.Empty(t, entriesOf(t, s, period))
}
