package ranking

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/script"
	"rankcast/ranking/lua"
	"rankcast/ranking/redistest"
)

// sendGift sends an occurrence of defineEvent, without an id if id is "".
func sendGift(t *testing.T, s *Store, id string) ([]Outcome, error) {
	t.Helper()
	return outcomesOf(s.ApplyEvents(t.Context(), "gift", []EventCall{occurrenceOf(id)}))
}

// whenSent calls hear each time that a batch of occurrences says that the next one may go out. Call it
// while no event is under way.
func whenSent(s *Store, hear func()) {
	call := s.events.Call
	s.events.Call = func(ctx context.Context, event string, batch []*occurrence, sent func()) error {
		return call(ctx, event, batch, func() { sent(); hear() })
	}
}

// What the Redis user may not do for one board or for the feed fails that part of an event, and the
// boards that have changed do so once, also without an id.
func TestRefusedPartOfAnEvent(t *testing.T) {
	t.Parallel()
	keys := []string{"~rc:*", "+@all", "&rc:{/*", "&rc:probe:*"}
	for name, c := range map[string]struct {
		rules  []string
		counts bool // board b counts too, and an event without an id succeeds
	}{
		"a board's keys":    {[]string{"~rc:{/*", "~rc:{a*", "&rc:*", "+@all"}, false},
		"a board's channel": {append(keys, "&rc:{a*}:c"), false},
		"the feed":          {[]string{"~rc:*", "+@all", "&rc:{a*}:c", "&rc:{b*}:c", "&rc:probe:*", "&rc:{/}:profiles"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := redistest.Start(t)
			s := newNode(t, r.AppURL("~rc:*", "&rc:*", "+@all"))
			admin := newNode(t, r.URL())
			published := feedOfGifts(t, admin)
			define(t, s, definition.Board{Name: "a"}, definition.Board{Name: "b"})
			defineEvent(t, s, 1, "a", "b")
			_, err := sendGift(t, s, "first") // the boards exist from here on
			require.NoError(t, err)
			require.Equal(t, 1, strings.Count(published(), `"data"`))
			stall(s)

			r.AppURL(c.rules...)
			_, err = sendGift(t, s, "")
			require.Equal(t, c.counts, err == nil, err)
			require.ErrorIs(t, errorOf(sendGift(t, s, "1")), definition.ErrOutcomeUnknown)
			evals := func() string { // a check sends one EVAL, and the scripts are known by now
				stats := must(r.Admin().Info(t.Context(), "commandstats").Result())(t)
				_, of, _ := strings.Cut(stats, "cmdstat_eval:")
				return of[:strings.Index(of, ",")]
			}
			before := evals()
			checks, stop := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- s.RunRightsChecks(checks, slog.New(slog.DiscardHandler)) }()
			redistest.Until(t, "the check that the refusal asks for", func() bool { return evals() != before })
			stop()
			redistest.Receive(t, "the end of the checks", ended)
			ofB := int64(3)
			if c.counts {
				ofB = 9
			}
			require.EqualValues(t, 9, score(t, admin, "a", "u0"))
			require.Equal(t, ofB, score(t, admin, "b", "u0"))

			r.AppURL("~rc:*", "&rc:*", "+@all")
			require.NoError(t, s.CheckRights(t.Context()))
			outcomes := must(sendGift(t, s, "1"))(t)
			require.True(t, outcomes[0].Result.Duplicate)
			require.Equal(t, c.counts, outcomes[1].Result.Duplicate)
			require.Equal(t, 1, strings.Count(published(), `"n":3`), "once, though it was sent twice")
		})
	}
}

// An event whose answer is lost may have counted, and says so.
func TestEventWhoseAnswerIsLost(t *testing.T) {
	onNode(t, []definition.Board{{Name: "a"}}, func(t *testing.T, s *Store) {
		defineEvent(t, s, 1, "a")
		must(sendGift(t, s, "first"))(t)
		var lost atomic.Bool
		lost.Store(true)
		cut(s, script.Event, func() fate {
			if lost.Load() {
				return isDone
			}
			return passes
		})
		require.ErrorIs(t, errorOf(sendGift(t, s, "1")), definition.ErrOutcomeUnknown)
		require.EqualValues(t, 6, score(t, s, "a", "u0"))
		lost.Store(false)
		require.True(t, must(sendGift(t, s, "1"))(t)[0].Result.Duplicate)
	})
}

// However many trips a batch of occurrences takes, the next one may go out once the first of them has
// its place on the connection, and is told so once.
func TestNextBatchOfAnEvent(t *testing.T) {
	t.Parallel()
	inOneAndThreeTrips(t, func(t *testing.T, url string, prepare func(*Store)) {
		s := newNode(t, url)
		prepare(s)
		require.NoError(t, s.Define(t.Context(), definition.Set{
			Boards: []definition.Board{{Name: "fans:{star}"}, {Name: "recent:{star}", MemberTTL: time.Hour}},
			Events: []definition.Event{{Name: "gift", Updates: []definition.Target{
				{Board: "fans:{star}", Member: "u", Score: "{n}"}, {Board: "recent:{star}", Member: "u", Score: "{n}"},
			}}},
		}))
		var told atomic.Int64
		whenSent(s, func() { told.Add(1) })
		many := make([]EventCall, maxTripUpdates/2)
		for i := range many {
			many[i] = giftTo("", fmt.Sprint("s", i), 1)
		}
		for what, all := range map[string][]EventCall{
			"new boards": {giftTo("1", "a", 1)}, "known boards": {giftTo("2", "a", 1)}, "a taken id": {giftTo("1", "a", 2)},
			"no id": {giftTo("", "a", 1)}, "too much work": many,
		} {
			told.Store(0)
			must(s.ApplyEvents(t.Context(), "gift", all))(t, what)
			redistest.Wait(t, "the events of the store", s.events.Wait)
			require.EqualValues(t, 1, told.Load(), what)
		}
	})
}

// An id that two batches in flight have is the former one's.
func TestOneIDInTwoBatchesInFlight(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	proxy := redistest.StartProxy(t, r.URL())
	s := newNode(t, proxy.URL())
	define(t, s, definition.Board{Name: "a"})
	defineEvent(t, s, 1, "a")
	must(sendGift(t, s, "first"))(t)
	redistest.Wait(t, "the events of the store", s.events.Wait)
	s.events.Second = 1
	placed := make(chan struct{}, 2)
	whenSent(s, func() { placed <- struct{}{} })
	other := occurrenceOf("1")
	other.Fields["n"] = jsontext.Value("4")
	gate := proxy.Gate("{/gift}")
	var errs [2]error
	var wg sync.WaitGroup
	for i, o := range []EventCall{occurrenceOf("1"), other} {
		wg.Go(func() { _, errs[i] = outcomesOf(s.ApplyEvents(t.Context(), "gift", []EventCall{o})) })
		redistest.Receive(t, "a value from placed", placed)
	}
	redistest.Receive(t, "the call to reach the gate", gate.Reached())
	gate.Open()
	redistest.Wait(t, "the callers of the test", wg.Wait)
	require.NoError(t, errs[0])
	require.ErrorIs(t, errs[1], definition.ErrIDMismatch)
	require.EqualValues(t, 6, score(t, s, "a", "u0"))
}

// Where keys of several boards may not be in one call, the store asks for that once.
func TestEventOnOneNodeOfACluster(t *testing.T) {
	t.Parallel()
	r, _ := redistest.StartNode(t)
	require.NoError(t, r.Admin().ClusterAddSlotsRange(t.Context(), 0, 16383).Err())
	redistest.Eventually(t, "the slots", func() error { return r.Admin().Set(t.Context(), "x", "", 0).Err() })
	s := newNode(t, r.URL())
	define(t, s, definition.Board{Name: "a"}, definition.Board{Name: "b"})
	defineEvent(t, s, 1, "a", "b")
	told := 0
	whenSent(s, func() { told++ })
	must(sendGift(t, s, "first"))(t)
	redistest.Wait(t, "the events of the store", s.events.Wait)
	require.Equal(t, 1, told, "the next batch may go out")
	holdDefinitions(s)
	calls := countCalls(s)
	must(sendGift(t, s, ""))(t)
	require.Equal(t, map[string]int{"apply": 2, "publish": 1}, calls())
	require.EqualValues(t, 6, score(t, s, "a", "u0"))
	require.EqualValues(t, 6, score(t, s, "b", "u0"))
}

// Boards that may have much to remove do not do so in one call.
func TestRemovalsOfTheBoardsOfAnEvent(t *testing.T) {
	onNode(t, nil, func(t *testing.T, s *Store) {
		require.NoError(t, s.Define(t.Context(), definition.Set{
			Boards: []definition.Board{{Name: "recent:{star}", MemberTTL: time.Hour}, {Name: "hour", Window: time.Hour, Refresh: definition.Live}},
			Events: []definition.Event{
				{Name: "gift", Updates: []definition.Target{{Board: "recent:{star}", Member: "u", Score: "1"}}},
				{Name: "visit", Updates: []definition.Target{{Board: "hour", Member: "u", Score: "1"}}},
			},
		}))
		const most = maxTripWork / (1 + ttlSweep)
		all := make([]EventCall, most+1)
		for i := range all {
			all[i] = occurs("", "star", fmt.Sprint("s", i))
		}
		for range 2 { // the boards exist from here on, and Redis knows the script
			must(s.ApplyEvents(t.Context(), "gift", all[:most]))(t)
		}
		must(s.ApplyEvents(t.Context(), "gift", all[most:]))(t)
		holdDefinitions(s)
		calls := countCalls(s)
		must(s.ApplyEvents(t.Context(), "gift", all[:most]))(t)
		require.Equal(t, map[string]int{"event": 1}, calls())
		must(s.ApplyEvents(t.Context(), "gift", all))(t)
		require.Equal(t, map[string]int{"apply": most + 1, "publish": 1}, calls())

		visits := make([]EventCall, windowItems+1)
		must(s.ApplyEvents(t.Context(), "visit", visits))(t)
		holdDefinitions(s)
		calls()
		must(s.ApplyEvents(t.Context(), "visit", visits))(t)
		require.Equal(t, map[string]int{"apply": 2, "publish": 1}, calls())
		must(s.ApplyEvents(t.Context(), "visit", visits[1:]))(t)
		require.LessOrEqual(t, 1, calls()["event"])
	})
}

// The node reckons with as many removals as the scripts make.
func TestSweepsOfTheScripts(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"apply.lua": fmt.Sprintf("local EXPIRE, TRIM = %d,", ttlSweep), "lib/apply_window.lua": fmt.Sprintf("local SWEEP = %d ", windowSweep),
	} {
		require.Contains(t, string(must(lua.Files.ReadFile(file))(t)), want)
	}
}
