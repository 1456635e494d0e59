package ingest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
)

// counted is how many entries an Ingest has counted with a result.
func counted(t *testing.T, in *Ingest, result string) int {
	t.Helper()
	return int(testutil.ToFloat64(in.metrics.entries.WithLabelValues(stream, result)))
}

// The gauges show what waits, also in a process that consumes nothing.
func TestLag(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		b := newBench(t, url)
		works, waits := b.ingest(), b.ingest()
		c := works.consumer(stream)
		redistest.Must(c.batch(t.Context()))(t)
		b.addAs("1763900000123-0", "board", "stars", "member", "m", "score", "1")
		b.add("board", "none", "member", "m", "score", "1")
		redistest.Must(waits.consumer(stream).batch(t.Context()))(t)
		require.EqualValues(t, 2, testutil.ToFloat64(waits.metrics.lagEntries.WithLabelValues(stream)))
		require.Greater(t, testutil.ToFloat64(waits.metrics.lagSeconds.WithLabelValues(stream)), hour.Seconds())
		b.drain(c)
		redistest.Must(c.batch(t.Context()))(t)
		require.Zero(t, testutil.ToFloat64(works.metrics.lagEntries.WithLabelValues(stream)))
		require.Zero(t, testutil.ToFloat64(works.metrics.lagSeconds.WithLabelValues(stream)))
		require.EqualValues(t, 1, testutil.ToFloat64(works.metrics.dead.WithLabelValues(stream)))
	})
}

// While looks fail, the lag is the last one and the time since then, because the oldest entry may have that age. A look that
// succeeds ends that.
func TestLagWhileLooksFail(t *testing.T) {
	t.Parallel()
	b := newBench(t, redistest.Embedded(t))
	in := b.ingest()
	c := in.consumer(stream)
	lag := func() float64 { return testutil.ToFloat64(in.metrics.lagSeconds.WithLabelValues(stream)) }
	look := func() error {
		_, err := c.batch(t.Context())
		return err
	}
	fail := func(string) error { return errors.New("lost") }

	b.calls.before = fail
	c.looked = c.looked.Add(-hour) // as if the process had started an hour ago
	require.Error(t, look())
	require.GreaterOrEqual(t, lag(), hour.Seconds(), "a process that has never reached Redis")
	b.calls.before = nil
	require.NoError(t, look())
	require.Zero(t, lag(), "the stream is empty")

	now := redistest.Must(b.rdb.Time(t.Context()).Result())(t)
	b.addAs(fmt.Sprintf("%d-0", now.Add(-3*hour).UnixMilli()), "board", "stars", "member", "m", "score", "1")
	b.fake.before = once()
	require.Error(t, look())
	require.GreaterOrEqual(t, lag(), (3 * hour).Seconds())
	b.calls.before = fail
	for range 2 {
		c.looked = c.looked.Add(-2 * hour)
		was := lag()
		require.Error(t, look())
		require.GreaterOrEqual(t, lag(), was+(2*hour).Seconds())
	}
	require.EqualValues(t, 1, testutil.ToFloat64(in.metrics.lagEntries.WithLabelValues(stream)), "as it was")

	b.calls.before = nil
	b.drain(c)
	require.NoError(t, look())
	require.Zero(t, lag())
}
