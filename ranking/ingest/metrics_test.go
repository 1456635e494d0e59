package ingest

import (
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
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, url string) {
		b := newBench(t, url)
		works, waits := b.ingest(), b.ingest()
		c := works.consumer(stream)
		_, err := c.batch(t.Context())
		require.NoError(t, err)
		b.addAs("1763900000123-0", "board", "stars", "member", "m", "score", "1")
		b.add("board", "none", "member", "m", "score", "1")
		_, err = waits.consumer(stream).batch(t.Context())
		require.NoError(t, err)
		require.EqualValues(t, 2, testutil.ToFloat64(waits.metrics.lagEntries.WithLabelValues(stream)))
		require.Greater(t, testutil.ToFloat64(waits.metrics.lagSeconds.WithLabelValues(stream)), hour.Seconds())
		b.drain(c)
		_, err = c.batch(t.Context())
		require.NoError(t, err)
		require.Zero(t, testutil.ToFloat64(works.metrics.lagEntries.WithLabelValues(stream)))
		require.Zero(t, testutil.ToFloat64(works.metrics.lagSeconds.WithLabelValues(stream)))
		require.EqualValues(t, 1, testutil.ToFloat64(works.metrics.dead.WithLabelValues(stream)))
	})
}
