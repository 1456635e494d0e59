package faults

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
)

func TestFaultCrowdReconnects(t *testing.T) {
	t.Parallel()
	crowdReconnects(t, 600, 0) // all at once
}

// crowdReconnects kills the node of a crowd. Meanwhile each member gets another rank. The node starts
// again, and all clients come back within a time, each with a member that it follows. All are right soon
// after, and the node looks up many members in one call to Redis.
func crowdReconnects(t *testing.T, size int, within time.Duration) *figures {
	tr := &trial{t: t, form: shortForm, redis: redistest.Start(t)}
	n, store, figures := tr.addNode(nil, tr.redis.URL()), tr.direct(tr.redis.URL()), new(figures)
	c := newCrowd(t, n.Addr, size)
	c.place(store, 0)
	c.connect(within)
	c.allRight()

	n.Kill()
	redistest.Wait(t, "the end of c.reading", c.reading.Wait)
	c.place(store, 1)
	n.start()
	before := tr.scriptCalls()
	began := time.Now()
	c.connect(within)
	figures.add(fmt.Sprintf("%d clients have begun to reconnect within", size), time.Since(began))
	c.allRight()
	figures.add("all are right after", time.Since(began))
	calls := tr.scriptCalls() - before
	figures.add("calls to Redis meanwhile", calls)
	require.Less(t, calls, size/4, "the node looks up members one by one")

	c.place(store, 2) // the crowd is alive
	c.allRight()
	n.Kill()
	return figures
}

// scriptCalls is the number of scripts that Redis has run so far.
func (tr *trial) scriptCalls() (calls int) {
	stats, err := tr.redis.Admin().Info(tr.t.Context(), "commandstats").Result()
	require.NoError(tr.t, err)
	for line := range strings.Lines(stats) {
		var n int
		if _, err := fmt.Sscanf(line, "cmdstat_evalsha:calls=%d,", &n); err == nil {
			calls += n
		}
	}
	return calls
}
