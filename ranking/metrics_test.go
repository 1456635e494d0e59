package ranking

import (
	"bytes"
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/script"
	"rankcast/ranking/redistest"
)

// histogram returns what a histogram has observed.
func histogram(t testing.TB, of prometheus.Observer) *dto.Histogram {
	t.Helper()
	var m dto.Metric
	require.NoError(t, of.(prometheus.Metric).Write(&m))
	return m.Histogram
}

func TestUpdatesAreCountedByResult(t *testing.T) {
	onNode(t, nil, func(t *testing.T, s *Store) {
		most := int64(100)
		require.NoError(t, s.Define(t.Context(), definition.Set{
			Boards: []definition.Board{{Name: "b", Max: &most}, {Name: "fans:{star}"}},
			Events: []definition.Event{{Name: "gift", Updates: []definition.Target{
				{Board: "b", Member: "{star}", Score: "{n}"}, {Board: "fans:{star}", Member: "u", Score: "{n}"}}}},
		}))
		counted := func(want map[string]float64) {
			t.Helper()
			require.Equal(t, want, updatesBy(s))
		}
		apply := func(board string, updates ...definition.Update) error {
			return errorOf(s.Apply(t.Context(), board, updates))
		}
		counted(map[string]float64{})
		require.NoError(t, apply("b", definition.Update{Member: "a", Score: 1, ID: "1"}, definition.Update{Member: "b", Score: 1}))
		require.NoError(t, apply("b", definition.Update{Member: "a", Score: 1, ID: "1"}, definition.Update{Member: "a", Score: 101},
			definition.Update{Score: 1}))
		require.ErrorIs(t, apply("none", definition.Update{Member: "a", Score: 1}, definition.Update{Member: "b", Score: 1}),
			definition.ErrUnknownBoard)
		counted(map[string]float64{updateApplied: 2, updateDuplicate: 1, updateRefused: 4})
		require.EqualValues(t, 3, histogram(t, s.metrics.updateSeconds).GetSampleCount(), "each request once")
		batches := histogram(t, s.metrics.batchUpdates)
		require.EqualValues(t, 2, batches.GetSampleCount())
		require.EqualValues(t, 4, batches.GetSampleSum(), "only what has reached Redis")
		require.Positive(t, histogram(t, s.metrics.scriptSeconds.WithLabelValues("apply")).GetSampleCount())

		events := []EventCall{giftTo("g1", "s1", 3), giftTo("g2", "s1", 200), occurs("", "star", "s1")}
		require.Error(t, must(s.ApplyEvents(t.Context(), "gift", events))(t)[2].Err)
		counted(map[string]float64{updateApplied: 2 + 3, updateDuplicate: 1, updateRefused: 4 + 2})
		must(s.ApplyEvents(t.Context(), "gift", events[:1]))(t)
		counted(map[string]float64{updateApplied: 5, updateDuplicate: 1 + 2, updateRefused: 6})

		var what atomic.Int32
		cut(s, script.ApplyPlain, func() fate { return fate(what.Load()) })
		what.Store(int32(isDone))
		require.ErrorIs(t, apply("b", definition.Update{Member: "a", Score: 1}), definition.ErrOutcomeUnknown)
		counted(map[string]float64{updateApplied: 5, updateDuplicate: 3, updateRefused: 6, updateUnknown: 1})
		what.Store(int32(passes))
		s.rdb.AddHook(redistest.Hook(func(_ context.Context, cmds []redis.Cmder, send redis.ProcessPipelineHook) error {
			cmds[0].SetErr(&definition.MissingRightsError{Reason: "no right"}) // as the gate of the rights does while it is closed
			return cmds[0].Err()
		}))
		require.ErrorIs(t, apply("b", definition.Update{Member: "a", Score: 1}), definition.ErrUnavailable)
		counted(map[string]float64{updateApplied: 5, updateDuplicate: 3, updateRefused: 6, updateUnknown: 1, updateUnavailable: 1})

		require.Error(t, errorOf(s.Remove(t.Context(), "b", "nobody")))
		counted(map[string]float64{updateApplied: 5, updateDuplicate: 3, updateRefused: 6, updateUnknown: 1, updateUnavailable: 1})
	})
}

// All scripts that are called are timed, also those that share a trip.
func TestScriptsAreTimed(t *testing.T) {
	onNode(t, nil, func(t *testing.T, s *Store) {
		calls := count(s)
		giftEvent(t, s)
		give(t, s, "1", "s1", "u1", 1)
		must(s.Page(t.Context(), "stars", 1, 10))(t)
		redistest.Wait(t, "the end of s.catalog.running", s.catalog.running.Wait)
		calls.mu.Lock()
		defer calls.mu.Unlock()
		require.Greater(t, len(calls.of), 3)
		for name, times := range calls.of {
			timed := histogram(t, s.metrics.scriptSeconds.WithLabelValues(name))
			require.GreaterOrEqual(t, timed.GetSampleCount(), uint64(times), name)
			require.Positive(t, timed.GetSampleSum(), name)
		}
	})
}

func TestBuildsAreCounted(t *testing.T) {
	boards := []definition.Board{{Name: "a"}, {Name: "b"},
		{Name: "sum", Union: &definition.Union{Of: []string{"a", "b"}}}, {Name: "hour", Window: time.Hour}}
	onTwoNodes(t, boards, func(t *testing.T, s, other *Store) {
		built := func(s *Store, kind, result string) float64 {
			return testutil.ToFloat64(s.metrics.builds.WithLabelValues(kind, result))
		}
		whole(t, s, "sum")
		require.EqualValues(t, 1, built(s, "union", buildNothing))
		for _, board := range []string{"a", "hour"} {
			_, err := s.Apply(t.Context(), board, []definition.Update{{Member: "m", Score: 1}})
			require.NoError(t, err)
			whole(t, s, map[string]string{"a": "sum", "hour": "hour"}[board])
		}
		require.EqualValues(t, 1, built(s, "union", buildDone))
		require.EqualValues(t, 1, built(s, "window", buildDone))
		require.EqualValues(t, 1, histogram(t, s.metrics.buildSeconds.WithLabelValues("window")).GetSampleCount())
		require.EqualValues(t, 1, histogram(t, s.metrics.buildSeconds.WithLabelValues("union")).GetSampleCount())

		b := other.builds.start("sum", "sum", 1, false) // it believes that there is an older result
		require.True(t, other.builds.wait(t.Context(), b))
		require.NoError(t, b.err)
		require.EqualValues(t, 1, built(other, "union", buildElsewhere))

		cut(s, script.Hold, func() fate { return isLost })
		old(t, time.Hour, "sum", s)
		require.ErrorIs(t, errorOf(s.Page(t.Context(), "sum", 1, 10)), definition.ErrUnavailable)
		require.EqualValues(t, 1, built(s, "union", buildFailed))
	})
}

// A closed period is counted, and logged, by the node that settles it.
func TestSettledPeriodsAreCountedAndLogged(t *testing.T) {
	t.Parallel()
	simulatedWorlds(t, 2, Config{}, []definition.Board{{Name: "fans:{star}", Period: "hour"}}, func(t *testing.T, w *world) {
		for _, star := range []string{"s1", "s2", "s3"} {
			w.write(w.stores[0], "fans:"+star, "secret-member", 1)
		}
		w.tendAfter(time.Hour)
		log := new(bytes.Buffer)
		total := 0.0
		for _, s := range w.stores {
			total += testutil.ToFloat64(s.metrics.settled)
			logSettled(slog.New(slog.NewTextHandler(log, nil)), &s.settled, 0)
		}
		require.EqualValues(t, 3, total)
		require.Regexp(t, `^time=\S+ level=INFO msg="settled closed periods" periods=\d board=fans:s\d period=\S+\n`, log.String())
		require.NotContains(t, log.String(), "secret-member")
	})
}

// Many periods that close at once make one line of the log a second.
func TestSettlementsShareALine(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		log := new(bytes.Buffer)
		var s unlogged[settledPeriods]
		settle := func(board string) {
			s.add(func(since *settledPeriods) { *since = settledPeriods{since.count + 1, board, "p"} })
		}
		report := func(want string) {
			t.Helper()
			log.Reset()
			logSettled(slog.New(slog.NewTextHandler(log, nil)), &s, settlementsInterval)
			if want == "" {
				require.Empty(t, log.String())
				return
			}
			require.Contains(t, log.String(), want)
		}
		report("")
		settle("fans:s1")
		report("periods=1 board=fans:s1 period=p")
		settle("fans:s2")
		settle("fans:s3")
		report("")
		time.Sleep(settlementsInterval)
		report("periods=2 board=fans:s3 period=p")
		time.Sleep(settlementsInterval)
		report("")
	})
}
