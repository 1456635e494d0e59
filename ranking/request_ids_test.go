package ranking

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
)

// Request ids of boards, of events and of the audit leave Redis by themselves, once they are too old to answer a
// retry: nothing need be written to the board again.
func TestRequestIDsExpireByThemselves(t *testing.T) {
	onNode(t, nil, func(t *testing.T, s *Store) {
		gift := definition.Event{Name: "gift", Updates: []definition.Target{{Board: "fans:{star}", Member: "{user}", Score: "1"}}}
		require.NoError(t, s.Define(t.Context(), definition.Set{Boards: []definition.Board{{Name: "b"}, {Name: "fans:{star}"}},
			Events: []definition.Event{gift}}))
		apply(t, s, "b", definition.Update{Member: "m", Score: 1, ID: "1"})
		apply(t, s, "b", definition.Update{Member: "m", Score: 1, ID: "2"})
		happen(t, s, "gift", "1", "star", "s", "user", "u")
		must(s.TakeBack(t.Context(), "gift", "1", nil, Moderator{}))(t)
		found := 0
		for _, key := range s.rdb.Keys(t.Context(), "rc:*").Val() {
			if !strings.HasSuffix(key, ":i:0") && !strings.HasSuffix(key, ":i:1") {
				require.Negative(t, s.rdb.PTTL(t.Context(), key).Val(), "%s never expires", key)
				continue
			}
			found++
			left := s.rdb.PTTL(t.Context(), key).Val()
			var start, ends int64
			must(fmt.Sscan(s.rdb.HGet(t.Context(), key, "").Val(), &start, &ends))(t)
			free := time.UnixMicro(ends).Sub(s.rdb.Time(t.Context()).Val())
			require.Greater(t, free, 10*time.Minute, key)
			require.InDelta(t, time.Minute, left-free, float64(10*time.Second), "the minute in which the next id frees %s", key)
			require.LessOrEqual(t, left, 2*610*time.Second+time.Minute, key)
		}
		require.GreaterOrEqual(t, found, 4, "of b, fans:s, the event and the audit")
	})
}

// A clock that was set far ahead and back leaves no ids that stay for the time of that jump.
func TestRequestIDsExpireAfterAClockThatWentBack(t *testing.T) {
	onSimulatedNode(t, []definition.Board{{Name: "b"}}, func(t *testing.T, w *world, s *Store) {
		w.pass(30 * 24 * time.Hour)
		require.True(t, countsAs(t, s, "b", "ahead"))
		w.pass(-30 * 24 * time.Hour)
		for _, id := range []string{"back", "ahead", "later"} {
			require.Equal(t, id != "ahead", countsAs(t, s, "b", id), id)
		}
		for _, key := range w.rdb.Keys(t.Context(), "rc:{b}*:i:*").Val() {
			var start, ends int64
			must(fmt.Sscan(w.rdb.HGet(t.Context(), key, "").Val(), &start, &ends))(t)
			require.LessOrEqual(t, time.UnixMicro(ends).Sub(w.now), 2*610*time.Second, key)
		}
	})
}

// After a clock that went back, an id is still known for two spans at most, although others come all the time.
func TestRequestIDsRotateAfterAClockThatWentBack(t *testing.T) {
	t.Parallel()
	for _, ahead := range []time.Duration{time.Minute, 11 * time.Minute, 3 * time.Hour} {
		t.Run(ahead.String(), func(t *testing.T) {
			t.Parallel()
			simulatedWorlds(t, 1, Config{}, []definition.Board{{Name: "b"}}, func(t *testing.T, w *world) {
				const span = definition.LeastIDSpan
				s := w.stores[0]
				w.pass(span - time.Duration(w.now.UnixMicro()%span.Microseconds())*time.Microsecond - 20*time.Second)
				w.pass(ahead)
				require.True(t, countsAs(t, s, "b", "ahead"))
				w.pass(-ahead)
				for i := range 3 {
					id := fmt.Sprint("id", i)
					require.True(t, countsAs(t, s, "b", id))
					for sent, n := w.now, 0; w.now.Sub(sent) < 2*span; n++ {
						require.True(t, countsAs(t, s, "b", fmt.Sprint(id, "other", n)))
						if w.pass(30 * time.Second); w.now.Sub(sent) < span {
							require.False(t, countsAs(t, s, "b", id))
						}
					}
					require.True(t, countsAs(t, s, "b", id))
				}
			})
		})
	}
}

// requireTooManyIDs requires the refusal of an id, and returns after what time it may come again.
func requireTooManyIDs(t *testing.T, err error, of string) time.Duration {
	t.Helper()
	refusal := Refuses(t, "id", definition.ErrTooManyIDs, err)
	require.Contains(t, refusal.Reason, of+" holds 3 request ids")
	require.Greater(t, refusal.RetryAfter, 10*time.Second)
	require.LessOrEqual(t, refusal.RetryAfter, 2*610*time.Second)
	return refusal.RetryAfter
}

// A board takes so many ids and no more. What it refuses has counted nowhere; a retry, an update without an id, and the
// rest of the batch count as always. After the time that the refusal names, the board takes ids again.
func TestABoardHoldsSoManyIDs(t *testing.T) {
	t.Parallel()
	simulatedWorlds(t, 1, Config{MaxIDs: 3}, []definition.Board{{Name: "b"}}, func(t *testing.T, w *world) {
		s := w.stores[0]
		var batch []definition.Update
		for _, id := range []string{"1", "2", "3", "4", "", "1", "4"} {
			batch = append(batch, definition.Update{Member: "m" + id, Score: 1, ID: id})
		}
		outcomes := must(s.Apply(t.Context(), "b", batch))(t)
		var wait time.Duration
		for i, o := range outcomes {
			if batch[i].ID == "4" {
				wait = requireTooManyIDs(t, o.Err, `board "b"`)
				continue
			}
			require.NoError(t, o.Err)
			require.Equal(t, i == 5, o.Result.Duplicate)
		}
		require.Error(t, w.rdb.ZScore(t.Context(), s.keys.Board("b", "").Members, "m4").Err())
		require.EqualValues(t, 2, updatesBy(s)[updateTooManyIDs])
		w.pass(wait)
		require.True(t, countsAs(t, s, "b", "4"))
	})
}

// An event that would update a full board is refused as a whole, and so is one that has too many ids itself. A retry of
// an event that has counted, and a take-back, work all the same.
func TestAnEventNeedsRoomOnEachOfItsBoards(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		for _, trips := range []bool{false, true} {
			cfg := patient
			cfg.MaxIDs, cfg.Prefix = 3, fmt.Sprint("p", trips)
			s := New(redistest.Dial(t, url), cfg)
			t.Cleanup(s.Close)
			s.inThreeTrips.Store(trips)
			require.NoError(t, s.Define(t.Context(), definition.Set{
				Boards: []definition.Board{{Name: "all"}, {Name: "of:{star}"}},
				Events: []definition.Event{{Name: "e", Updates: []definition.Target{{Board: "of:{star}", Member: "m", Score: "1"},
					{Board: "all", Member: "m", Score: "1"}}}},
			}))
			send := func(ids ...string) []EventResult {
				var calls []EventCall
				for _, id := range ids {
					calls = append(calls, occurs(id, "star", "s"))
				}
				return must(s.ApplyEvents(t.Context(), "e", calls))(t)
			}
			require.NoError(t, send("1")[0].Err)
			apply(t, s, "all", definition.Update{Member: "x", Score: 1, ID: "a"})
			apply(t, s, "all", definition.Update{Member: "x", Score: 1, ID: "b"})
			h := send("2", "1")
			requireTooManyIDs(t, h[0].Err, `board "all"`)
			require.NoError(t, h[1].Err)
			require.True(t, h[1].Outcomes[1].Result.Duplicate)
			require.Equal(t, int64(1), apply(t, s, "of:s", definition.Update{Member: "m", Score: 0}).Result.Current.Score,
				"the other board has not counted it")
			require.NoError(t, send("")[0].Err)
			must(s.TakeBack(t.Context(), "e", "1", nil, Moderator{}))(t)

			require.NoError(t, s.Define(t.Context(), definition.Set{Events: []definition.Event{
				{Name: "few", Updates: []definition.Target{{Board: "of:{n}", Member: "m", Score: "1"}}}}}))
			for i := range 4 {
				h := must(s.ApplyEvents(t.Context(), "few", []EventCall{occurs(fmt.Sprint(i), "n", fmt.Sprint("few", i))}))(t)
				if i < 3 {
					require.NoError(t, h[0].Err)
					continue
				}
				requireTooManyIDs(t, h[0].Err, `event "few"`)
			}
		}
	})
}
