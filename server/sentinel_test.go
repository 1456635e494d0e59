package server_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/hub/hubtest"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

// Sentinel promotes the replica three times: because the master was killed, because an operator asked for it, and because
// the master hangs. The last one comes back, and does not know that it is the master no longer. Clients stay connected,
// updates count again, and the views of two nodes are what the new master holds.
func TestSentinelFailover(t *testing.T) {
	t.Parallel()
	redis := redistest.StartSentinel(t)
	cfg := servertest.Config{}
	cfg.Ranking.CallTimeout = 2 * time.Second
	nodes := []*servertest.Node{
		servertest.Start(t, redis.URL(), cfg, definition.Board{Name: "b"}),
		servertest.Start(t, redis.URL(), cfg),
	}
	var sockets []*servertest.Socket
	for _, n := range nodes {
		redistest.Eventually(t, "the node to be ready", func() error { return statusIs(n.Do("GET", "/readyz", ""), 200) })
		s := servertest.Dial(t, n.Addr)
		s.Subscribe("b", 100)
		sockets = append(sockets, s)
	}

	var acknowledged atomic.Int64
	var stop atomic.Bool
	var sending sync.WaitGroup
	defer sending.Wait()
	defer stop.Store(true)
	sending.Go(func() {
		for i := 0; !stop.Load(); i++ {
			body := fmt.Sprintf(`{"member":"m%d","score":1,"id":"%d"}`, i%50, i)
			if a, err := servertest.Try(t, "POST", "http://"+nodes[i%2].Addr+"/v1/boards/b/scores", body); err == nil && a.Status == 200 {
				acknowledged.Add(1)
			}
		}
	})
	goesOn := func() {
		t.Helper()
		from := acknowledged.Load()
		redistest.Eventually(t, "further updates to count", func() error {
			if now := acknowledged.Load(); now < from+50 {
				return fmt.Errorf("%d updates", now-from)
			}
			return nil
		})
		for _, s := range sockets { // a node ends a connection that nobody reads
			s.Until("b", "further updates", func(b *hubtest.Board) bool { return sum(b.Top) >= from+50 })
		}
	}
	goesOn()
	for round, fail := range []func(master *redistest.Redis){
		func(master *redistest.Redis) { master.Kill() },
		func(*redistest.Redis) { redis.Failover() },
		func(master *redistest.Redis) { master.Suspend() },
	} {
		master, other := redis.Servers[round%2], redis.Servers[1-round%2]
		fail(master)
		redis.AwaitMaster(other)
		promoted := time.Now()
		goesOn()
		t.Logf("round %d: updates count %v after the promotion", round, time.Since(promoted).Round(time.Millisecond))
		switch round {
		case 0:
			master.Start() // the Sentinels make it a replica
			other.AwaitReplica()
		case 2:
			master.Resume()
			other.AwaitReplica()
			goesOn()
		}
	}
	stop.Store(true)
	redistest.Wait(t, "the end of sending", sending.Wait)
	master, err := redis.Master()
	require.NoError(t, err)
	require.Same(t, redis.Servers[1], master)
	held, err := master.Admin().ZCard(t.Context(), "rc:{b}::z").Result()
	require.NoError(t, err)
	require.EqualValues(t, 50, held)
	want, total := nodes[0].Top("b", 100)
	require.EqualValues(t, 50, total)
	for i, s := range sockets {
		s.Until("b", "the board of the new master", func(b *hubtest.Board) bool { return fmt.Sprint(b.Top) == fmt.Sprint(want) })
		require.NotNil(t, s.Boards["b"], "socket %d", i)
	}
}
