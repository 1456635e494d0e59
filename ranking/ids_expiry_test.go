package ranking

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
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
		_, err := s.ApplyEvents(t.Context(), "gift",
			[]EventCall{{ID: "1", Fields: map[string]jsontext.Value{"star": jsontext.Value(`"s"`), "user": jsontext.Value(`"u"`)}}})
		require.NoError(t, err)
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
	t.Parallel()
	simulatedWorlds(t, 1, Config{}, []definition.Board{{Name: "b"}}, func(t *testing.T, w *world) {
		s := w.stores[0]
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
