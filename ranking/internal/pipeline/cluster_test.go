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
	url, masters := redistest.StartCluster(t)
	c := connect(t, url)
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
	slot, err := masters[0].Admin().ClusterKeySlot(t.Context(), "k0").Result()
	require.NoError(t, err)
	owner := int(slot) * len(masters) / 16384
	from, to := masters[owner], masters[(owner+1)%len(masters)]
	id := func(r *redistest.Redis) string {
		id, err := r.Admin().Do(t.Context(), "CLUSTER", "MYID").Text()
		require.NoError(t, err)
		return id
	}
	set := func(r *redistest.Redis, args ...any) {
		require.NoError(t, r.Admin().Do(t.Context(), append([]any{"CLUSTER", "SETSLOT", slot}, args...)...).Err())
	}
	set(to, "IMPORTING", id(from))
	set(from, "MIGRATING", id(to))
	add(3) // k0 is where it was
	o := to.Admin().Options()
	var host, port string
	_, err = fmt.Sscanf(o.Addr, "127.0.0.1:%s", &port)
	require.NoError(t, err)
	host = "127.0.0.1"
	keys, err := from.Admin().ClusterGetKeysInSlot(t.Context(), int(slot), 100).Result()
	require.NoError(t, err)
	args := []any{"MIGRATE", host, port, "", 0, 5000, "KEYS"}
	for _, k := range keys {
		args = append(args, k)
	}
	require.NoError(t, from.Admin().Do(t.Context(), args...).Err())
	add(4) // by ASK
	for _, r := range []*redistest.Redis{to, from} {
		set(r, "NODE", id(to))
	}
	add(5) // by MOVED
	add(6)
}
