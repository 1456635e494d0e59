package ranking

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
)

// The one Redis tells its state, with its replicas.
func TestMasters(t *testing.T) {
	t.Parallel()
	r, replica := redistest.Start(t, "--maxmemory", "100mb"), redistest.Start(t)
	replica.Replicate(r)
	r.AwaitReplica()
	s := newNode(t, r.URL())
	all := must(s.Masters(t.Context()))(t)
	require.Len(t, all, 1)
	m := all[0]
	require.Nil(t, m.Fault)
	require.Equal(t, strings.TrimPrefix(r.URL(), "unix://"), *m.Address)
	require.Regexp(t, `^(Redis|Valkey) \d+\.`, *m.Version)
	require.Positive(t, *m.Ping)
	require.NotNil(t, m.Operations)
	require.Greater(t, *m.Memory, int64(100_000))
	require.EqualValues(t, 100<<20, *m.MaxMemory)
	require.Equal(t, "noeviction", *m.Eviction)
	require.Positive(t, *m.Clients)
	require.Greater(t, *m.MaxClients, *m.Clients)
	require.Equal(t, []bool{true, true, true}, []bool{*m.AOF, *m.AOFOK, *m.RDBOK})
	require.Len(t, m.Replicas, 1)
	require.NotEmpty(t, m.Replicas[0].Address)
	require.True(t, m.Replicas[0].Online)

	require.NoError(t, r.Admin().ConfigSet(t.Context(), "maxmemory", "0").Err())
	require.NoError(t, r.Admin().ConfigSet(t.Context(), "appendonly", "no").Err())
	m = must(s.Masters(t.Context()))(t)[0]
	require.Nil(t, m.MaxMemory)
	require.False(t, *m.AOF)
	require.Nil(t, m.AOFOK)
}

// The embedded store tells that it answers, and not much more.
func TestMasterOfTheEmbeddedStore(t *testing.T) {
	t.Parallel()
	all := must(newNode(t, redistest.Embedded(t)).Masters(t.Context()))(t)
	require.Len(t, all, 1)
	require.Nil(t, all[0].Fault)
	require.NotNil(t, all[0].Ping)
	require.Nil(t, all[0].Version)
	require.Nil(t, all[0].Memory)
	require.Nil(t, all[0].AOF)
	require.Nil(t, all[0].Replicas)
}

// A Redis that is away has a reason, in words that show no address beside its own. One master of a cluster that is away
// hides no other.
func TestMastersThatAreAway(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	s := newNode(t, r.URL())
	r.Kill()
	all := must(s.Masters(t.Context()))(t)
	require.Len(t, all, 1)
	require.Contains(t, []string{"Redis refuses the connection", "Redis closes the connection: it has stopped, or wants TLS (rediss://)"},
		*all[0].Fault)
	require.Nil(t, all[0].Version)

	cluster := redistest.StartCluster(t)
	s = newNode(t, cluster.URL)
	define(t, s, definition.Board{Name: "b"}) // the client knows the masters
	require.Len(t, must(s.Masters(t.Context()))(t), 3)
	cluster.Masters[1].Kill()
	redistest.Eventually(t, "the fault of one master", func() error {
		all, err := s.Masters(t.Context())
		if err != nil {
			return err
		}
		faults := 0
		for _, m := range all {
			if m.Fault != nil {
				faults++
			}
		}
		if len(all) != 3 || faults != 1 {
			return fmt.Errorf("%d masters, %d faults", len(all), faults)
		}
		return nil
	})
}

// INFO may list a replica that still connects, and may count a replica that it does not list.
func TestReplicasOfInfo(t *testing.T) {
	t.Parallel()
	require.Nil(t, info{}.replicas())
	require.Equal(t, []Replica{
		{Address: "10.0.0.2:6379", Online: true, Behind: 100, Silent: new(int64(1))},
		{Address: "[fd00::3]:6380", Behind: 1500},
	}, info{
		"connected_slaves": "2", "master_repl_offset": "1500",
		"slave0": "ip=10.0.0.2,port=6379,state=online,offset=1400,lag=1",
		"slave1": "ip=fd00::3,port=6380,state=wait_bgsave,offset=0,lag=-1",
	}.replicas())
}
