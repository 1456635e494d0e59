package faults

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

// A Redis without memory (maxmemory, noeviction) refuses all that grows. Updates are answered 503, and
// no board holds half of one. Reads and watchers go on, and updates too once there is memory.
func TestFaultRedisOutOfMemory(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	tr := newTrial(t, shortForm, r, 2)
	for range 3 {
		require.NoError(t, r.Admin().ConfigSet(t.Context(), "maxmemory", "1mb").Err())
		full := time.Now()
		tr.load.untilAnswered(503, full, 3*tr.form.senders)
		tr.load.pause()
		before, err := tr.held()
		require.NoError(t, err)
		tr.load.resume()
		tr.load.untilAnswered(503, time.Now(), 3*tr.form.senders)
		tr.load.pause()
		after, err := tr.held()
		require.NoError(t, err)
		require.Equal(t, before, after, "an update that was answered 503 has changed a board")
		tr.right(tr.nodes...)
		for _, n := range tr.nodes {
			require.Equal(t, 200, servertest.Request(t, "GET", "http://"+n.Addr+"/v1/boards/points/top", "").Status)
			require.Nil(t, n.witness.Stale)
		}
		tr.load.resume()
		require.NoError(t, r.Admin().ConfigSet(t.Context(), "maxmemory", "0").Err())
		tr.load.untilAnswered(200, time.Now(), 20*tr.form.senders)
	}
	tr.end()
	tr.stayed(tr.nodes...)
}
