package ranking

import (
	"fmt"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
)

// requireTooManyIDs requires the refusal of an id, and returns after what time it may come again.
func requireTooManyIDs(t *testing.T, err error, of string) time.Duration {
	t.Helper()
	var field *FieldError
	require.ErrorAs(t, err, &field)
	require.ErrorIs(t, err, ErrTooManyIDs)
	require.Equal(t, "id", field.Field)
	require.Contains(t, field.Reason, of+" holds 3 request ids")
	require.Greater(t, field.RetryAfter, 10*time.Second)
	require.LessOrEqual(t, field.RetryAfter, 2*610*time.Second)
	return field.RetryAfter
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
	onEngines(t, func(t *testing.T, url string) {
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
					calls = append(calls, EventCall{ID: id, Fields: map[string]jsontext.Value{"star": jsontext.Value(`"s"`)}})
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
				h, err := s.ApplyEvents(t.Context(), "few",
					[]EventCall{{ID: fmt.Sprint(i), Fields: map[string]jsontext.Value{"n": jsontext.Value(fmt.Sprintf(`"few%d"`, i))}}})
				require.NoError(t, err)
				if i < 3 {
					require.NoError(t, h[0].Err)
					continue
				}
				requireTooManyIDs(t, h[0].Err, `event "few"`)
			}
		}
	})
}
