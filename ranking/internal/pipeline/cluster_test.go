package pipeline_test

import (
	"fmt"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/internal/pipeline"
	"rankcast/ranking/redistest"
)

// Commands of one Send reach the nodes of their keys, also after a slot has moved.
func TestCluster(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t)
	c := connect(t, cluster.URL)
	const count = 30
	add := func(want int64) {
		var cmds []pipeline.Command
		for i := range count {
			cmds = append(cmds, command("eval", "return redis.call('INCR', KEYS[1])", 1, fmt.Sprint("k", i)), command("incr", fmt.Sprint("l", i)))
		}
		require.NoError(t, c.Send(t.Context(), nil, cmds...))
		for _, cmd := range cmds {
			require.Equal(t, want, cmd.(*redis.Cmd).Val(), "%v", cmd)
		}
	}
	add(1)
	add(2)

	// The slot of k0 moves to another master, together with the key.
	owner := cluster.MasterOf("k0")
	to := cluster.Masters[(owner+1)%len(cluster.Masters)]
	moving := cluster.BeginMove("k0", to)
	add(3) // k0 is where it was
	moving.Keys()
	add(4) // by ASK
	moving.End()
	add(5) // by MOVED
	add(6)

	// No master has the slot.
	for _, r := range cluster.Masters {
		require.NoError(t, r.Admin().ClusterDelSlots(t.Context(), moving.Slot).Err())
	}
	err := c.Send(t.Context(), nil, command("incr", "k0"))
	require.ErrorIs(t, err, pipeline.ErrNotSent)
	require.True(t, redis.HasErrorPrefix(err, "CLUSTERDOWN"), err)
}
