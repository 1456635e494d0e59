package ranking

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/batch"
	"rankcast/ranking/redistest"
)

// A board that Redis cannot write to fails the events that count on it, and not those behind them.
func TestBrokenBoardFailsNoOtherEvents(t *testing.T) {
	onNode(t, nil, func(t *testing.T, s *Store) {
		require.NoError(t, s.Define(t.Context(), definition.Set{Boards: []definition.Board{{Name: "fans:{star}"}}, Events: []definition.Event{
			{Name: "gift", Updates: []definition.Target{{Board: "fans:{star}", Member: "m", Score: "1"}}},
		}}))
		give := func(star string) error {
			return errorOf(outcomesOf(s.ApplyEvents(context.Background(), "gift", []EventCall{occurs(star, "star", star)})))
		}
		require.NoError(t, s.rdb.Set(t.Context(), keysOf(s, "fans:broken", "", "m").Members, "x", 0).Err())
		call, began, release := s.events.Call, make(chan struct{}, 2), make(chan struct{})
		s.events.Call = func(ctx context.Context, event string, batch []*occurrence, sent func()) error {
			began <- struct{}{}
			<-release
			return call(ctx, event, batch, sent)
		}
		broken, whole := make(chan error, 1), make(chan error, 1)
		go func() { broken <- give("broken") }()
		redistest.Receive(t, "a value from began", began)
		go func() { whole <- give("whole") }()
		redistest.UntilEqual(t, "the events that wait", 1, func() int { return s.events.Waiting("gift") })
		close(release)
		require.ErrorIs(t, redistest.Receive(t, "a value from broken", broken), definition.ErrOutcomeUnknown)
		require.NoError(t, redistest.Receive(t, "a value from whole", whole))
		require.EqualValues(t, 1, score(t, s, "fans:whole", "m"))
	})
}

// An occurrence of which an update has counted, or may have, never ends as if nothing had.
func TestFailureOfAnOccurrence(t *testing.T) {
	t.Parallel()
	refused := Outcome{Err: definition.ErrOutOfRange}
	lost := Outcome{Err: fmt.Errorf("%w: %w", definition.ErrUnavailable, definition.ErrOutcomeUnknown)}
	notSent, counted := Outcome{Err: definition.ErrUnavailable}, Outcome{}
	for _, c := range []struct {
		outcomes []Outcome
		fails    bool
		unknown  bool
	}{
		{[]Outcome{counted, refused}, false, false},
		{[]Outcome{notSent, refused}, true, false},
		{[]Outcome{counted, notSent}, true, true},
		{[]Outcome{lost, notSent}, true, true},
		{[]Outcome{notSent, lost}, true, true},
	} {
		o := occurrence{result: EventResult{Outcomes: c.outcomes}}
		err := o.failure()
		if !c.fails {
			require.NoError(t, err)
			continue
		}
		require.ErrorIs(t, err, definition.ErrUnavailable)
		if c.unknown {
			require.ErrorIs(t, err, definition.ErrOutcomeUnknown)
		} else {
			require.NotErrorIs(t, err, definition.ErrOutcomeUnknown)
		}
	}
}

// The updates that a call for many occurrences makes on one board go in calls that hold Redis for a
// short time only.
func TestEventsOfOneBoardGoInSmallCalls(t *testing.T) {
	t.Parallel()
	inOneAndThreeTrips(t, func(t *testing.T, url string, prepare func(*Store)) {
		s := newNode(t, url)
		prepare(s)
		define(t, s, definition.Board{Name: "a"})
		defineEvent(t, s, 1, "a")
		all := make([]EventCall, maxEventBatch)
		send := func(round string) {
			for i := range all {
				all[i] = occurrenceOf(round + fmt.Sprint(i))
			}
			must(s.ApplyEvents(t.Context(), "gift", all))(t)
		}
		send("first ") // Redis knows the scripts from here on
		holdDefinitions(s)
		calls := countCalls(s)
		send("second ")
		require.Equal(t, map[string]int{"begin": 1, "apply": maxEventBatch / batch.MaxWeight, "publish": 1}, calls())
		require.EqualValues(t, 2*3*len(all), score(t, s, "a", "u0"))
	})
}

// One call of Redis carries an event out. What the call can't carry out goes in further calls: a new
// instance, an id that is taken, an update that a board refuses, boards that have too much to do.
func TestCallsOfAnEvent(t *testing.T) {
	onNode(t, nil, func(t *testing.T, s *Store) {
		feed := feedOfGifts(t, s)
		published := func() int { return strings.Count(feed(), `"data"`) }
		most, long := int64(100), time.Hour
		boards := []definition.Board{{Name: "stars"}, {Name: "fans:{star}", Max: &most},
			{Name: "hour:{star}", Window: long, Refresh: definition.Live}}
		require.NoError(t, s.Define(t.Context(), definition.Set{Boards: boards,
			Events: []definition.Event{{Name: "gift", Updates: []definition.Target{
				{Board: "stars", Member: "{star}", Score: "{n}"}, {Board: "fans:{star}", Member: "u", Score: "{n}"},
				{Board: "hour:{star}", Member: "u", Score: "{n}"},
			}}}}))
		send := func(all ...EventCall) []EventResult {
			t.Helper()
			return must(s.ApplyEvents(t.Context(), "gift", all))(t)
		}
		require.NoError(t, send(giftTo("1", "a", 3))[0].Err)
		require.Equal(t, 1, published())
		holdDefinitions(s)
		calls := countCalls(s)

		require.NoError(t, send(giftTo("2", "a", 4))[0].Err)
		require.Equal(t, map[string]int{"event": 1}, calls())
		require.Equal(t, 1, published())
		require.EqualValues(t, 7, score(t, s, "hour:a", "u"))
		calls()

		again := send(giftTo("2", "a", 4))[0]
		require.NoError(t, again.Err)
		require.True(t, again.Outcomes[2].Result.Duplicate)
		require.Zero(t, published(), "it was published the first time")
		require.Equal(t, map[string]int{"event": 1}, calls())

		require.NoError(t, send(giftTo("3", "b", 1))[0].Err)
		require.Equal(t, map[string]int{"event": 1, "list": 2, "apply": 2, "publish": 1}, calls(), "two instances are new")
		require.Equal(t, 1, published())

		two := send(giftTo("2", "a", 5), giftTo("4", "a", 1))
		require.ErrorIs(t, two[0].Err, definition.ErrIDMismatch)
		require.NoError(t, two[1].Err)
		require.Equal(t, map[string]int{"event": 1, "apply": 3, "publish": 1}, calls())
		require.Equal(t, 1, published())

		refused := send(giftTo("5", "a", 100))[0]
		require.NoError(t, refused.Err)
		require.ErrorIs(t, refused.Outcomes[1].Err, definition.ErrOutOfRange)
		require.Equal(t, map[string]int{"event": 1, "publish": 1}, calls())
		require.Equal(t, 1, published())

		many := make([]EventCall, maxTripUpdates/len(boards))
		for i := range many {
			many[i] = giftTo(fmt.Sprint("many", i), fmt.Sprint("c", i), 1)
		}
		send(many...)
		require.Zero(t, calls()["event"], "each window may have events to remove")
		require.Equal(t, len(many), published())
		require.NoError(t, s.rdb.ScriptFlush(t.Context()).Err())
		require.NoError(t, send(giftTo("6", "a", 1))[0].Err)
		require.Equal(t, 1, published())
		require.EqualValues(t, 9, score(t, s, "fans:a", "u"))
		require.EqualValues(t, 109, score(t, s, "hour:a", "u"))
	})
}

// A board that Redis cannot write to fails an event, and the other boards of the event count once.
func TestBrokenBoardOfAnEvent(t *testing.T) {
	t.Parallel()
	inOneAndThreeTrips(t, func(t *testing.T, url string, prepare func(*Store)) {
		s := newNode(t, url)
		prepare(s)
		define(t, s, definition.Board{Name: "a"}, definition.Board{Name: "b"}, definition.Board{Name: "c"})
		defineEvent(t, s, 1, "a", "b", "c")
		broken := keysOf(s, "b", "", "u0").Members
		require.NoError(t, s.rdb.Set(t.Context(), broken, "x", 0).Err())
		for range 2 {
			h, err := s.ApplyEvents(t.Context(), "gift", []EventCall{occurrenceOf("1")})
			if err == nil {
				err = h[0].Err
			}
			require.ErrorIs(t, err, definition.ErrOutcomeUnknown)
			require.EqualValues(t, 3, score(t, s, "a", "u0"))
			require.EqualValues(t, 3, score(t, s, "c", "u0"))
		}
		h, err := s.ApplyEvents(t.Context(), "gift", []EventCall{occurrenceOf("")})
		if err == nil {
			err = h[0].Err
		}
		require.ErrorIs(t, err, definition.ErrOutcomeUnknown)
		require.EqualValues(t, 6, score(t, s, "a", "u0"), "once, though it has no id")
		require.NoError(t, s.rdb.Del(t.Context(), broken).Err())
		h = must(s.ApplyEvents(t.Context(), "gift", []EventCall{occurrenceOf("1")}))(t)
		require.NoError(t, h[0].Err)
		for board, want := range map[string]int64{"a": 6, "b": 3, "c": 6} {
			require.Equal(t, want, score(t, s, board, "u0"), board)
		}
	})
}

// An event that has come to make other updates by the time of a retry adds those, and
// repeats none of what has counted.
func TestRetryOfAnEventThatWasRedefined(t *testing.T) {
	onNode(t, []definition.Board{{Name: "a"}, {Name: "b"}, {Name: "c"}}, func(t *testing.T, s *Store) {
		for _, boards := range [][]string{{"a", "b"}, {"c", "a", "b"}, {"b", "a"}} {
			defineEvent(t, s, 2, boards...)
			h := must(s.ApplyEvents(t.Context(), "gift", []EventCall{occurrenceOf("1")}))(t)
			require.NoError(t, h[0].Err)
			for i, o := range h[0].Outcomes {
				require.NoError(t, o.Err)
				u := h[0].Updates[i]
				require.EqualValues(t, 3, score(t, s, u.Board, u.Update.Member), "%s by %q", u.Board, boards)
			}
		}
	})
}

// A batch of events that comes to more than one call may carry out is refused whole; what
// may be is carried out also where it is all of one board.
func TestLargeBatchOfEvents(t *testing.T) {
	t.Parallel()
	url, _ := redistest.Clocked(t)
	s := newNode(t, url)
	define(t, s, definition.Board{Name: "a"})
	const members = 8
	defineEvent(t, s, members, "a")
	all := make([]EventCall, MaxEventUpdates/members)
	for i := range all {
		all[i] = occurrenceOf(fmt.Sprint(i))
	}
	require.ErrorIs(t, errorOf(s.ApplyEvents(t.Context(), "gift", append(all, occurrenceOf("more")))), definition.ErrTooLarge)
	for _, h := range must(s.ApplyEvents(t.Context(), "gift", all))(t) {
		require.NoError(t, h.Err)
	}
	require.EqualValues(t, 3*len(all), score(t, s, "a", "u7"))
}

// Where no more occurrences of an event may wait, an occurrence changes nothing.
func TestEventThatIsOverloaded(t *testing.T) {
	t.Parallel()
	s := newNode(t, redistest.Embedded(t))
	define(t, s, definition.Board{Name: "a"})
	const members = 8
	defineEvent(t, s, members, "a")
	apply(t, s, "a", definition.Update{Member: "u0", Score: 1})
	call, release := s.events.Call, make(chan struct{})
	s.events.Call = func(ctx context.Context, event string, batch []*occurrence, sent func()) error {
		<-release
		return call(ctx, event, batch, sent)
	}
	var wg sync.WaitGroup
	many := func(of string, n int) []EventCall {
		all := make([]EventCall, n)
		for i := range all {
			all[i] = occurrenceOf(fmt.Sprint(of, i))
		}
		return all
	}
	for n := 1; n <= batch.MaxWaiting/MaxEventUpdates; n++ {
		wg.Go(func() {
			must(s.ApplyEvents(context.Background(), "gift", many(fmt.Sprint(n, " "), MaxEventUpdates/members)))(t)
		})
		redistest.UntilEqual(t, "the updates that wait", n*MaxEventUpdates-maxEventBatch,
			func() int { return s.events.Waiting("gift") })
	}
	_, err := s.ApplyEvents(t.Context(), "gift", many("refused ", maxEventBatch/members+1))
	require.ErrorIs(t, err, definition.ErrOverloaded)
	require.NotErrorIs(t, err, definition.ErrOutcomeUnknown)
	close(release)
	redistest.Wait(t, "the callers of the test", wg.Wait)
	require.EqualValues(t, 1+3*batch.MaxWaiting/members, score(t, s, "a", "u0"))
}

// A node reads the profiles that a batch needs in one round trip. While it cannot read them, the events that
// need them fail, and may be sent again.
func TestProfilesOfABatchOfEvents(t *testing.T) {
	onNode(t, nil, func(t *testing.T, s *Store) {
		require.NoError(t, s.Define(t.Context(), definition.Set{Boards: []definition.Board{{Name: "stars"}},
			Events: []definition.Event{{Name: "e", Rules: definition.FieldRules{"star": {Kind: "star"}},
				Updates: []definition.Target{{Board: "stars", Member: "{star}", Score: "1"}}}}}))
		var batch []EventCall
		for i := range 100 {
			star := fmt.Sprint("s", i)
			batch = append(batch, occurs(star, "star", star))
			if i%2 == 0 {
				must(s.SetProfile(t.Context(), "star", star, Profile{Name: star}))(t)
			}
		}
		hook := new(profileReads)
		s.rdb.AddHook(redistest.Hook(hook.pass))
		send := func() (counted int) {
			for _, h := range must(s.ApplyEvents(t.Context(), "e", batch))(t) {
				if h.Err == nil {
					counted++
				} else {
					require.ErrorIs(t, h.Err, definition.ErrInvalid)
				}
			}
			return counted
		}
		hook.lose.Store(true)
		_, err := s.ApplyEvents(t.Context(), "e", batch)
		require.ErrorIs(t, err, definition.ErrUnavailable)
		require.NotErrorIs(t, err, definition.ErrOutcomeUnknown)
		page := must(s.Page(t.Context(), "stars", 1, 10))(t)
		require.Empty(t, page.Entries)

		hook.lose.Store(false)
		s.ForgetProfiles() // as after an outage
		hook.sent.Store(0)
		require.Equal(t, 50, send())
		require.EqualValues(t, 1, hook.sent.Load())
		page = must(s.Page(t.Context(), "stars", 1, 100))(t)
		require.Len(t, page.Entries, 50)

		// One event whose members the node knows counts without the profiles of others.
		hook.lose.Store(true)
		h := must(s.ApplyEvents(t.Context(), "e", batch[:2]))(t)
		require.NoError(t, h[0].Err)
		require.ErrorIs(t, h[1].Err, definition.ErrUnavailable)
	})
}
