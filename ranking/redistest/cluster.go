package redistest

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// clusterSlots is the number of slots of a cluster.
const clusterSlots = 16384

// Cluster is a cluster of Redis nodes, which the end of the test kills.
type Cluster struct {
	URL      string // for ranking.Open
	Masters  []*Redis
	Replicas []*Redis // of the master with the same index
	t        testing.TB
}

// StartCluster starts a cluster of three masters without replicas, each with a third of the slots, in order.
func StartCluster(t testing.TB) *Cluster {
	c := &Cluster{t: t}
	const count = 3
	for i := range count {
		node, port := StartNode(t)
		low, high := i*clusterSlots/count, (i+1)*clusterSlots/count-1
		require.NoError(t, node.Admin().Do(t.Context(), "CLUSTER", "ADDSLOTSRANGE", low, high).Err())
		if i > 0 {
			require.NoError(t, c.Masters[0].Admin().ClusterMeet(t.Context(), "127.0.0.1", fmt.Sprint(port)).Err())
		}
		c.Masters = append(c.Masters, node)
	}
	awaitMeeting(t, c.Masters)
	c.URL = "redis-cluster" + strings.TrimPrefix(c.Masters[0].URL(), "redis")
	return c
}

// AddReplicas adds a replica of each master.
func (c *Cluster) AddReplicas() {
	for range c.Masters {
		c.Replicas = append(c.Replicas, c.meet())
	}
	awaitMeeting(c.t, c.nodes())
	for i, replica := range c.Replicas {
		require.NoError(c.t, replica.Admin().ClusterReplicate(c.t.Context(), c.id(c.Masters[i])).Err())
	}
	for i := range c.Masters {
		c.AwaitReplica(i)
	}
}

// awaitMeeting waits until all nodes of a cluster know each other, and the cluster works.
func awaitMeeting(t testing.TB, nodes []*Redis) {
	t.Helper()
	for _, node := range nodes {
		Eventually(t, "the cluster to form", func() error {
			info, err := node.Admin().ClusterInfo(t.Context()).Result()
			if err != nil {
				return err
			}
			known, err := node.Admin().ClusterNodes(t.Context()).Result()
			if err != nil {
				return err
			}
			// A node passes on no message to one whose link is not connected.
			if !strings.Contains(info, "cluster_state:ok") || strings.Count(known, " connected") != len(nodes) {
				return errors.New(info + known)
			}
			return nil
		})
	}
}

// StartNode starts a node of a cluster, which has no slots yet, on a port of its own.
func StartNode(t testing.TB) (node *Redis, port int) {
	// A failover begins after the timeout. A replica takes any master over, also after a long pause of the
	// machine, and stays with its master.
	return startOnPort(t, "--cluster-enabled", "yes", "--cluster-node-timeout", "5000", "--cluster-replica-validity-factor", "0",
		"--cluster-allow-replica-migration", "no", "--repl-diskless-sync-delay", "0")
}

// AddMaster adds a master without slots and without a replica, the last one of Masters.
func (c *Cluster) AddMaster() *Redis {
	c.t.Helper()
	node := c.meet()
	c.Masters = append(c.Masters, node)
	awaitMeeting(c.t, c.nodes())
	return node
}

// meet starts a node and introduces it to the cluster.
func (c *Cluster) meet() *Redis {
	c.t.Helper()
	node, port := StartNode(c.t)
	require.NoError(c.t, c.Masters[0].Admin().ClusterMeet(c.t.Context(), "127.0.0.1", fmt.Sprint(port)).Err())
	return node
}

func (c *Cluster) nodes() []*Redis { return append(append([]*Redis{}, c.Masters...), c.Replicas...) }

// id is the name of a node within the cluster.
func (c *Cluster) id(node *Redis) string {
	c.t.Helper()
	id, err := node.Admin().ClusterMyID(c.t.Context()).Result()
	require.NoError(c.t, err)
	return id
}

// AwaitReplica waits until the replica of a master holds its data.
func (c *Cluster) AwaitReplica(i int) {
	c.t.Helper()
	Eventually(c.t, "the replica to hold all data", func() error {
		info, err := c.Replicas[i].Admin().Info(context.Background(), "replication").Result()
		if err == nil && !(strings.Contains(info, "role:slave") && strings.Contains(info, "master_link_status:up")) {
			err = errors.New(info)
		}
		return err
	})
}

// AwaitFailover waits until the cluster has promoted the replica of a master that is away, and all other masters know.
// It swaps both in Masters and Replicas. It returns the time of the promotion.
func (c *Cluster) AwaitFailover(i int) (promoted time.Time) {
	c.t.Helper()
	c.Masters[i], c.Replicas[i] = c.Replicas[i], c.Masters[i]
	Eventually(c.t, "the promotion", func() error {
		role, err := c.Masters[i].Admin().Do(context.Background(), "ROLE").Slice()
		if err == nil && role[0] != "master" {
			err = fmt.Errorf("role %v", role)
		}
		return err
	})
	promoted = time.Now()
	Eventually(c.t, "the other masters to know", func() error { return c.knows(c.id(c.Masters[i])) })
	return promoted
}

// Failover makes the replica of a master take over, as an operator does: no write is lost. It swaps both in Masters and
// Replicas.
func (c *Cluster) Failover(i int) {
	c.t.Helper()
	c.promote(i, (*redis.Client).ClusterFailover)
}

// promote makes the replica of a master take over by a command. The cluster may give that up, as a failover after five seconds.
func (c *Cluster) promote(i int, command func(*redis.Client, context.Context) *redis.StatusCmd) {
	c.t.Helper()
	c.Masters[i], c.Replicas[i] = c.Replicas[i], c.Masters[i]
	id := c.id(c.Masters[i])
	Eventually(c.t, "the promotion", func() error {
		if err := command(c.Masters[i].Admin(), context.Background()).Err(); err != nil && c.knows(id) != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(context.Background(), 6*time.Second)
		defer cancel()
		return Poll(ctx, func() error { return c.knows(id) })
	})
}

// Takeover makes the replica of a master take over at once, as when the master is cut off: it may lose the last writes. It swaps both in
// Masters and Replicas. Unlike Failover it may be called again within seconds, because no other master votes.
func (c *Cluster) Takeover(i int) {
	c.t.Helper()
	c.AwaitReplica(i)
	c.promote(i, func(admin *redis.Client, ctx context.Context) *redis.StatusCmd {
		takeover := redis.NewStatusCmd(ctx, "CLUSTER", "FAILOVER", "TAKEOVER")
		_ = admin.Process(ctx, takeover)
		return takeover
	})
}

// knows returns an error unless all masters know that a node is the master of slots, and the cluster works.
func (c *Cluster) knows(id string) error {
	master := regexp.MustCompile(`(?m)^` + id + ` \S+ \S*master.* [0-9]+-[0-9]+`)
	for _, node := range c.Masters {
		known, err := node.Admin().ClusterNodes(context.Background()).Result()
		if err != nil {
			return err
		}
		info, err := node.Admin().ClusterInfo(context.Background()).Result()
		if err != nil {
			return err
		}
		if !master.MatchString(known) || !strings.Contains(info, "cluster_state:ok") {
			return errors.New(known + info)
		}
	}
	return nil
}

// StartReplica starts a killed master again, which is a replica since the failover.
func (c *Cluster) StartReplica(i int) {
	c.t.Helper()
	c.Replicas[i].Start()
	c.AwaitReplica(i)
}

// MasterOf is the index of the master of a key in Masters.
func (c *Cluster) MasterOf(key string) int {
	c.t.Helper()
	slot, err := c.Masters[0].Admin().ClusterKeySlot(c.t.Context(), key).Result()
	require.NoError(c.t, err)
	// Not CLUSTER SHARDS: after failovers it may leave out, for a while, the slots of a shard.
	ranges, err := c.Masters[0].Admin().Do(c.t.Context(), "CLUSTER", "SLOTS").Slice()
	require.NoError(c.t, err)
	for _, r := range ranges {
		r := r.([]any) // first slot, last slot, master, replicas
		if slot < r[0].(int64) || slot > r[1].(int64) {
			continue
		}
		for i, m := range c.Masters {
			if strings.HasSuffix(m.URL(), fmt.Sprint(":", r[2].([]any)[1])) {
				return i
			}
		}
	}
	c.t.Fatalf("no master has the slot of %q", key)
	return 0
}

// MoveSlot moves the slot of a key to another master, as redis-cli does it.
func (c *Cluster) MoveSlot(key string, to *Redis) {
	c.t.Helper()
	m := c.BeginMove(key, to)
	m.Keys()
	m.End()
}

// SlotMove is a slot on its way to another master.
type SlotMove struct {
	Slot     int
	from, to *Redis
	cluster  *Cluster
}

// BeginMove begins to move the slot of a key to another master.
func (c *Cluster) BeginMove(key string, to *Redis) *SlotMove {
	c.t.Helper()
	m := &SlotMove{from: c.Masters[c.MasterOf(key)], to: to, cluster: c}
	slot, err := m.from.Admin().ClusterKeySlot(context.Background(), key).Result()
	require.NoError(c.t, err)
	m.Slot = int(slot)
	m.set(to, "IMPORTING", c.id(m.from))
	m.set(m.from, "MIGRATING", c.id(to))
	return m
}

func (m *SlotMove) set(node *Redis, args ...any) {
	m.cluster.t.Helper()
	args = append([]any{"CLUSTER", "SETSLOT", m.Slot}, args...)
	require.NoError(m.cluster.t, node.Admin().Do(context.Background(), args...).Err())
}

// Keys moves the keys of the slot, while both masters take commands.
func (m *SlotMove) Keys() {
	t, ctx := m.cluster.t, context.Background()
	t.Helper()
	host, port, _ := strings.Cut(strings.TrimPrefix(m.to.URL(), "redis://"), ":")
	for {
		keys, err := m.from.Admin().ClusterGetKeysInSlot(ctx, m.Slot, 2).Result()
		require.NoError(t, err)
		if len(keys) == 0 {
			return
		}
		args := []any{"MIGRATE", host, port, "", 0, time.Minute.Milliseconds(), "KEYS"}
		for _, k := range keys {
			args = append(args, k)
		}
		require.NoError(t, m.from.Admin().Do(ctx, args...).Err())
	}
}

// End gives the slot to its new master, and tells all masters.
func (m *SlotMove) End() {
	m.cluster.t.Helper()
	id := m.cluster.id(m.to)
	m.set(m.to, "NODE", id)
	for _, node := range m.cluster.Masters {
		m.set(node, "NODE", id)
	}
}
