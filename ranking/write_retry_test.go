package ranking

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/script"
	"rankcast/ranking/redistest"
)

// fiveBoards is an event that touches five boards, one of them twice.
var fiveBoards = definition.Set{
	Boards: []definition.Board{{Name: "a"}, {Name: "b:{x}", Period: "year"}, {Name: "c", Mode: definition.Last},
		{Name: "d", Ties: definition.ByMember}, {Name: "e:{x}:{x2}"}},
	Events: []definition.Event{{Name: "gift", Updates: []definition.Target{
		{Board: "a", Member: "m", Score: "{n}"}, {Board: "b:{x}", Member: "m", Score: "{n}"}, {Board: "c", Member: "m", Score: "{n}"},
		{Board: "d", Member: "m", Score: "{n}"}, {Board: "e:{x}:{x}", Member: "m", Score: "{n}"}, {Board: "a", Member: "m", Score: "{n}"}}}},
}

var fiveBoardsWant = map[string]int64{"a": 6, "b:x": 3, "c": 3, "d": 3, "e:x:x": 3}

// However the node that carries out an event is cut off from Redis, at whatever call,
// for that call or for good, and whether Redis carries that one out: whoever sends the
// event again, to another node, is told what the first time has done, each board counts
// once, and the feed tells once.
func TestEventThatIsCutOff(t *testing.T) {
	t.Parallel()
	inOneAndThreeTrips(t, func(t *testing.T, url string, prepare func(*Store)) {
		other := newNode(t, url)
		sub := other.rdb.PSubscribe(t.Context(), "*:f:gift")
		defer sub.Close()
		must(sub.Receive(t.Context()))(t)
		cases := 0
		for _, c := range []struct {
			name         string
			fate, beyond fate
		}{{"lost", isLost, passes}, {"answer lost", isDone, passes}, {"dead", isLost, isLost}, {"dead after", isDone, isLost}} {
			reached := true
			for at := int64(0); reached; at += redistest.Stride {
				cases++
				what := fmt.Sprintf("%s at call %d", c.name, at)
				prefix := fmt.Sprint("p", cases)
				var calls atomic.Int64
				rdb := must(Open(url))(t)
				redistest.Patient(rdb)
				rdb.AddHook(&cutter{fate: fateAt(&calls, at, c.fate, c.beyond)})
				cfg := Config{Prefix: prefix, CallTimeout: redistest.CallTimeout}
				first, second := New(rdb, cfg), New(other.rdb, cfg)
				prepare(first)
				require.NoError(t, second.Define(t.Context(), fiveBoards))
				before, failed := outcomesOf(first.ApplyEvents(t.Context(), "gift", given("1")))
				if failed != nil {
					require.ErrorIs(t, failed, definition.ErrUnavailable, what)
				}
				first.Close()
				rdb.Close()
				reached = calls.Load() > at
				require.True(t, failed == nil || reached, what)

				after := must(outcomesOf(second.ApplyEvents(t.Context(), "gift", given("1"))))(t, what)
				for i, o := range after {
					require.NoError(t, o.Err, what)
					if failed == nil || before != nil && before[i].Err == nil {
						before[i].Result.Duplicate = true
						require.Equal(t, before[i], o, what)
					}
				}
				again := must(outcomesOf(second.ApplyEvents(t.Context(), "gift", given("1"))))(t, what)
				for i := range after {
					after[i].Result.Duplicate = true
				}
				require.Equal(t, after, again, what)
				for board, want := range fiveBoardsWant {
					require.Equal(t, want, score(t, second, board, "m"), "%s: board %s", what, board)
				}
			}
		}
		require.Greater(t, cases*redistest.Stride, 40)
		told := make(map[string]int)
		require.NoError(t, other.rdb.Publish(t.Context(), "end:f:gift", "").Err())
		for {
			m := must(sub.ReceiveMessage(t.Context()))(t)
			prefix, _, _ := strings.Cut(m.Channel, ":")
			if prefix == "end" {
				break
			}
			told[prefix] += strings.Count(m.Payload, `"data"`)
		}
		require.Len(t, told, cases)
		for prefix, n := range told {
			require.Equal(t, 1, n, prefix)
		}
	})
}

// A caller who gives up leaves nothing behind that is written to while he goes on. His
// event is carried out all the same, or not at all, and once if he sends it again.
func TestEventOfACallerWhoGivesUp(t *testing.T) {
	onTwoNodes(t, nil, func(t *testing.T, s, other *Store) {
		require.NoError(t, s.Define(t.Context(), fiveBoards))
		var calls atomic.Int64
		var giveUp atomic.Pointer[func()]
		var becomes atomic.Int64
		s.rdb.AddHook(&cutter{fate: func(string) fate {
			if calls.Add(-1) != 0 {
				return passes
			}
			(*giveUp.Load())()
			return fate(becomes.Load())
		}})
		const most = 40
		for at := range int64(most) {
			ctx, cancel := context.WithCancel(t.Context())
			giveUp.Store((*func())(&cancel))
			becomes.Store(int64([]fate{passes, isDone}[at%2])) // with the answer lost, somebody has that to note
			if calls.Store(at / 2); at/2 == 0 {
				cancel()
			}
			id := fmt.Sprint("id", at)
			h, err := s.ApplyEvents(ctx, "gift", given(id))
			cancel()
			for i := range h { // all of it is the caller's now
				for j := range h[i].Outcomes {
					h[i].Outcomes[j] = Outcome{}
				}
				err = h[i].Err
				h[i] = EventResult{}
			}
			if err != nil {
				require.ErrorIs(t, err, definition.ErrUnavailable)
			}
			calls.Store(0)
			must(outcomesOf(other.ApplyEvents(t.Context(), "gift", given(id))))(t)
		}
		require.Equal(t, 6*int64(most), score(t, other, "a", "m"))
		require.Equal(t, 3*int64(most), score(t, other, "d", "m"))
	})
}

// A call for many events sends so many updates at one time, and no more.
func TestEventsAtOneTime(t *testing.T) {
	t.Parallel()
	s := newNode(t, redistest.Start(t).URL())
	s.useThreeTrips()
	require.NoError(t, s.Define(t.Context(), definition.Set{Boards: []definition.Board{{Name: "b:{x}"}},
		Events: []definition.Event{{Name: "e", Updates: []definition.Target{{Board: "b:{x}", Member: "m", Score: "1"}}}}}))
	var mu sync.Mutex
	now, most := 0, 0
	all := make([]EventCall, 2*maxEventBatch)
	for i := range all {
		all[i] = EventCall{ID: fmt.Sprint(i), Fields: map[string]jsontext.Value{"x": jsontext.Value(fmt.Sprintf(`"x%d"`, i))}}
	}
	count := func(by int) {
		mu.Lock()
		defer mu.Unlock()
		now += by
		most = max(most, now)
	}
	s.rdb.AddHook(&cutter{
		fate: func(sc string) fate {
			if sc == script.ApplyPlain.Name {
				count(1)
			}
			return passes
		},
		answered: func(sc string) {
			if sc == script.ApplyPlain.Name {
				count(-1)
			}
		}})
	h := must(s.ApplyEvents(t.Context(), "e", all))(t)
	for _, h := range h {
		require.NoError(t, errors.Join(h.Err, h.Outcomes[0].Err))
	}
	require.LessOrEqual(t, most, maxEventBatch)
	require.Greater(t, most, 1)
}

var _ redis.Hook = (*cutter)(nil)

// An update without op means the mode that the board had when the id was first used. So a retry is the same update for as
// long as its id counts, whatever the mode is by now, and whether it names the op or not. Another op is another update.
func TestRetryAfterAChangeOfMode(t *testing.T) {
	onNode(t, nil, func(t *testing.T, s *Store) {
		modes := []definition.Mode{definition.Sum, definition.Best, definition.Last}
		ops := append([]definition.Mode{""}, modes...)
		for _, before := range modes {
			for _, after := range modes {
				board := fmt.Sprintf("%s-%s", before, after)
				define(t, s, definition.Board{Name: board, Mode: before})
				var firsts, retries []definition.Update
				for _, first := range ops {
					for _, retry := range ops {
						u := definition.Update{Member: fmt.Sprintf("of %s-%s", first, retry), Score: 5, ID: fmt.Sprintf("of %s-%s", first, retry), Op: first}
						firsts = append(firsts, u)
						u.Op = retry
						retries = append(retries, u)
					}
				}
				outcomes := must(s.Apply(t.Context(), board, firsts))(t)
				for _, o := range outcomes {
					require.NoError(t, o.Err)
					require.False(t, o.Result.Duplicate)
				}
				define(t, s, definition.Board{Name: board, Mode: after})
				again := must(s.Apply(t.Context(), board, retries))(t)
				for i, o := range again {
					what := fmt.Sprintf("mode %s, op %q; then mode %s, op %q", before, firsts[i].Op, after, retries[i].Op)
					if cmp.Or(firsts[i].Op, before) != cmp.Or(retries[i].Op, before) {
						require.ErrorIs(t, o.Err, definition.ErrIDMismatch, what)
						continue
					}
					require.NoError(t, o.Err, what)
					require.True(t, o.Result.Duplicate, what)
					require.Equal(t, outcomes[i].Result.Current, o.Result.Current, what)
				}
				page := must(s.Page(t.Context(), board, 1, 100))(t)
				for _, e := range page.Entries {
					require.EqualValues(t, 5, e.Score, "%s: a retry counts once", board)
				}
			}
		}
	})
}

// What an event without op has done is taken back as the mode of then did it.
func TestTakeBackAfterAChangeOfMode(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		for _, op := range []definition.Mode{"", definition.Sum} {
			s := newNode(t, url)
			board, event := "by"+string(op), "gift"+string(op)
			define(t, s, definition.Board{Name: board})
			require.NoError(t, s.Define(t.Context(), definition.Set{Events: []definition.Event{
				{Name: event, Updates: []definition.Target{{Board: board, Member: "m", Score: "{n}", Op: op}}},
			}}))
			send := func(id string, n int) Outcome {
				happened := must(s.ApplyEvents(t.Context(), event,
					[]EventCall{{ID: id, Fields: map[string]jsontext.Value{"n": jsontext.Value(fmt.Sprint(n))}}}))(t)
				require.NoError(t, happened[0].Err)
				return happened[0].Outcomes[0]
			}
			require.EqualValues(t, 5, send("a", 5).Result.Current.Score)
			require.EqualValues(t, 13, send("b", 8).Result.Current.Score)
			define(t, s, definition.Board{Name: board, Mode: definition.Best})
			require.True(t, send("a", 5).Result.Duplicate)
			taken := must(s.TakeBack(t.Context(), event, "a", nil, Moderator{By: "ops"}))(t)
			require.NoError(t, taken.Outcomes[0].Err)
			require.EqualValues(t, 8, taken.Outcomes[0].Result.Current.Score)
		}
	})
}
