package status

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking"
	"rankcast/ranking/definition"
)

var now = time.Date(2026, 11, 20, 6, 30, 0, 0, time.UTC)

// healthy is a node that is well.
func healthy() Node {
	return Node{ID: "web1:80/a", Role: Serve, Version: "v1", At: now.Add(-2 * time.Second), Figures: Figures{
		P99: new(130.0), Limits: map[string]int64{"caller_rate": 500}, Resyncs: map[string]int64{"replaced": 9000, "gap": 3},
		Webhooks: map[string]int64{"failed": 2, "delivered": 1}, SlowBuilds: 1,
	}, Files: Files{Access: &File{}, TLS: &File{Expires: definition.FormatTime(now.Add(15 * 24 * time.Hour))}}}
}

// healthyRedis is a Redis that is well.
func healthyRedis() ranking.Master {
	return ranking.Master{Address: new("r1:6379"), Version: new("Redis 7.2.4"), Ping: new(0.4), Operations: new(int64(900)),
		Memory: new(int64(84 << 20)), MaxMemory: new(int64(100 << 20)), Eviction: new("noeviction"), Clients: new(int64(30)),
		MaxClients: new(int64(10000)), AOF: new(true), AOFOK: new(true), RDBOK: new(true),
		Replicas: []ranking.Replica{{Address: "r2:6379", Online: true, Behind: 100, Silent: new(int64(1))}}}
}

// Where all is well there is no problem, also where nothing is known of Redis.
func TestNoProblem(t *testing.T) {
	t.Parallel()
	require.Empty(t, Judge(now, []Node{healthy(), healthy()}, []ranking.Master{healthyRedis(), {}}))
	require.Empty(t, Judge(now, nil, nil))
}

// Each fault of a node is a problem of its own, which names the node and says what to do.
func TestProblemsOfNodes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		breaks  func(n *Node)
		code    string
		message string
	}{
		"silent": {func(n *Node) { n.At, n.Reason = now.Add(-11*time.Second), new("x") }, "node_silent", "has reported nothing for 11s"},
		"not ready": {func(n *Node) { n.Reason = new("the node is stopping") }, "node_not_ready",
			"is not ready: the node is stopping"},
		"access file": {func(n *Node) { n.Access.Fault = new("line 3") }, "access_file", "does not accept its access file: line 3"},
		"key set":     {func(n *Node) { n.Keys = &File{Fault: new("404")} }, "key_set", "cannot fetch the key set of tokens: 404"},
		"certificate": {func(n *Node) { n.TLS.Fault = new("no key") }, "certificate", "does not accept its certificate: no key"},
		"certificate ends": {func(n *Node) { n.TLS.Expires = definition.FormatTime(now.Add(13 * 24 * time.Hour)) }, "certificate_ends",
			"has a certificate that expires on 2026-12-03"},
		"certificate has ended": {func(n *Node) { n.TLS.Expires = definition.FormatTime(now.Add(-time.Hour)) }, "certificate_ends",
			"has a certificate that expired on 2026-11-20: clients refuse it"},
		"limit": {func(n *Node) { n.Limits["sockets"] = 1 }, "limit_met", "has refused clients once in ten minutes, by the limit sockets"},
		"resyncs": {func(n *Node) { n.Resyncs["gap"], n.Resyncs["unreadable"] = 60, 60 }, "resyncs",
			"has read boards again 120 times in ten minutes"},
		"verification": {func(n *Node) { n.Resyncs["verification"] = 1 }, "view_differed", "has shown a board that differed from Redis"},
		"builds": {func(n *Node) { n.SlowBuilds = 3 }, "slow_builds",
			"has built unions or windows for over 5 seconds, 3 times in ten minutes"},
		"webhooks": {func(n *Node) { n.Webhooks = map[string]int64{"failed": 2} }, "webhooks_fail",
			"delivers no webhook: it failed 2 times in ten minutes"},
		"lost webhooks": {func(n *Node) { n.Webhooks["given_up"] = 1 }, "webhooks_lost",
			"has given up webhook messages, once in ten minutes"},
		"queue": {func(n *Node) { n.Queue = &Queue{Entries: 700, Lag: 61} }, "queue_lags", "applies entries 61 seconds late: 700 wait"},
		"dead":  {func(n *Node) { n.Queue = &Queue{Lag: 60, DeadLetters: 2} }, "dead_letters", "has 2 dead letters"},
		"late":  {func(n *Node) { n.P99 = new(1001.0) }, "frames_late", "shows one score in a hundred over 1.0 seconds late"},
	} {
		n := healthy()
		c.breaks(&n)
		all := Judge(now, []Node{healthy(), n}, []ranking.Master{healthyRedis()})
		require.Len(t, all, 1, "%s: %v", name, all)
		require.NotEmpty(t, all[0].Advice, name)
		all[0].Advice = ""
		require.Equal(t, Problem{Code: c.code, Node: n.ID, Message: c.message}, all[0], name)
	}
}

// Two versions side by side are a problem. That of a silent node does not count.
func TestVersionsSideBySide(t *testing.T) {
	t.Parallel()
	other := healthy()
	other.Version = "v2"
	all := Judge(now, []Node{healthy(), other}, nil)
	require.Len(t, all, 1)
	require.Equal(t, "nodes of several versions run: v1, v2", all[0].Message)
	other.At = now.Add(-time.Minute)
	all = Judge(now, []Node{healthy(), other}, nil)
	require.Len(t, all, 1)
	require.Equal(t, "node_silent", all[0].Code)
}

// Each fault of a Redis is a problem of its own.
func TestProblemsOfRedis(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		breaks  func(m *ranking.Master)
		code    string
		message string
	}{
		"away": {func(m *ranking.Master) {
			*m = ranking.Master{Address: m.Address, Fault: new("Redis does not answer in time")}
		}, "redis_away",
			"Redis is away: Redis does not answer in time"},
		"memory": {func(m *ranking.Master) { *m.Memory = 85 << 20 }, "redis_memory", "Redis uses 85 of 100 MiB of memory"},
		"eviction": {func(m *ranking.Master) { *m.Eviction = "allkeys-lru" }, "redis_evicts",
			"Redis deletes boards when its memory is full: maxmemory-policy is allkeys-lru"},
		"file": {func(m *ranking.Master) { *m.AOFOK = false }, "redis_persistence",
			"the last write to the append-only file of Redis failed"},
		"snapshot": {func(m *ranking.Master) { *m.RDBOK = false }, "redis_persistence", "the last snapshot of Redis failed"},
		"clients":  {func(m *ranking.Master) { *m.Clients = 8500 }, "redis_clients", "Redis has 8500 of 10000 clients"},
		"ping":     {func(m *ranking.Master) { *m.Ping = 251 }, "redis_slow", "Redis takes 251 ms for a ping"},
		"replica":  {func(m *ranking.Master) { m.Replicas[0].Online = false }, "replica_down", "the replica r2:6379 does not follow"},
		"lag": {func(m *ranking.Master) { *m.Replicas[0].Silent = 11 }, "replica_lags",
			"the replica r2:6379 has confirmed nothing for 11 s, and is 100 bytes behind"},
	} {
		m := healthyRedis()
		c.breaks(&m)
		all := Judge(now, []Node{healthy()}, []ranking.Master{healthyRedis(), m})
		require.Len(t, all, 1, "%s: %v", name, all)
		require.NotEmpty(t, all[0].Advice, name)
		all[0].Advice = ""
		require.Equal(t, Problem{Code: c.code, Redis: "r1:6379", Message: c.message}, all[0], name)
	}
}

// A node that has crashed and was started again is no problem any more. One whose place stays empty is.
func TestReplacedNodes(t *testing.T) {
	t.Parallel()
	of := func(id, role string, age time.Duration) Node { return Node{ID: id, Role: role, At: now.Add(-age)} }
	nodes := withoutReplaced([]Node{
		of("web1:80/a", Serve, time.Minute), of("web1:80/b", Serve, time.Second), of("web2:80/a", Serve, time.Minute),
		of("web1/x", Ingest, time.Minute), of("web1:81/a", Serve, time.Minute), of("web3/x", Ingest, time.Minute),
		of("web3/y", Ingest, time.Second),
	}, now)
	var left []string
	for _, n := range nodes {
		left = append(left, n.ID)
	}
	require.Equal(t, []string{"web1:80/b", "web2:80/a", "web1/x", "web1:81/a", "web3/y"}, left)
}
