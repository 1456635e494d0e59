package diagnosis

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// settings is a Server with a value for a parameter.
func settings(parameter, value string) *Server {
	return &Server{User: "app", Config: map[string]string{parameter: value}}
}

// A limit below the default disconnects a slow node sooner than Redis's authors chose. One below a burst
// disconnects every node.
func TestOutputBuffers(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]Finding{
		"normal 0 0 0 slave 268435456 67108864 60 pubsub 33554432 8388608 60":   {Level: OK, Found: "pubsub 32 MiB, or 8 MiB for 60 s"},
		"normal 0 0 0 replica 268435456 67108864 60 pubsub 33554432 8388608 60": {Level: OK, Found: "pubsub 32 MiB, or 8 MiB for 60 s"},
		"pubsub 0 0 0":                {Level: OK, Found: "pubsub no limit"},
		"pubsub 268435456 67108864 0": {Level: OK, Found: "pubsub 256 MiB"},
		"pubsub 33554432 1024 0":      {Level: OK, Found: "pubsub 32 MiB"},
		"pubsub 16777216 8388608 60":  {Level: Warning, Found: "pubsub 16 MiB, or 8 MiB for 60 s, less than the default: Redis disconnects a slow node sooner, and the node reads its boards again"},
		"pubsub 33554432 4194304 60":  {Level: Warning, Found: "pubsub 32 MiB, or 4 MiB for 60 s, less than the default: Redis disconnects a slow node sooner, and the node reads its boards again"},
		"pubsub 33554432 8388608 5":   {Level: Warning, Found: "pubsub 32 MiB, or 8 MiB for 5 s, less than the default: Redis disconnects a slow node sooner, and the node reads its boards again"},
		"pubsub 1000 1000 60":         {Level: Problem, Found: "pubsub 1000 bytes, or 1000 bytes for 60 s: a burst of changes disconnects each node, and its clients see their boards late"},
		"pubsub 32mb 8mb 60":          {Level: Unknown, Found: "Redis answers an unknown form"},
		"normal 0 0 0":                {Level: Unknown, Found: "Redis answers an unknown form"},
	} {
		f := outputBuffers(settings(bufferLimits, value))
		require.Equal(t, want.Level, f.Level, value)
		require.Equal(t, want.Found, f.Found, value)
		require.Equal(t, want.Level != OK, f.Fix != "", value)
		if want.Level == Warning || want.Level == Problem {
			require.Equal(t, "redis-cli CONFIG SET client-output-buffer-limit 'pubsub 32mb 8mb 60', and in redis.conf: client-output-buffer-limit pubsub 32mb 8mb 60", f.Fix)
		}
	}
}

// A Redis that frees expired keys in the foreground answers no command meanwhile. doctor warns of it.
func TestExpiry(t *testing.T) {
	t.Parallel()
	require.Equal(t, Finding{Check: Expiry, Found: "lazyfree-lazy-expire yes"}, expiry(settings(lazyExpire, "yes")))
	require.Equal(t, Finding{Check: Expiry, Level: Warning,
		Found: "lazyfree-lazy-expire no: Redis stands still while it frees request ids that expire, 0.4 s for a million",
		Fix:   "redis-cli CONFIG SET lazyfree-lazy-expire yes, and in redis.conf: lazyfree-lazy-expire yes"}, expiry(settings(lazyExpire, "no")))
	unknown := expiry(&Server{User: "app"})
	require.Equal(t, Unknown, unknown.Level)
	require.Contains(t, unknown.Fix, "CONFIG GET lazyfree-lazy-expire")
}

// The finding says how much a crash loses.
func TestPersistence(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		aof    string
		config map[string]string
		level  Level
		found  string
	}{
		{"1", map[string]string{fsyncPolicy: "everysec"}, OK, "append-only file, appendfsync everysec: a power cut loses the last second or two of scores"},
		{"1", map[string]string{fsyncPolicy: "always"}, OK, "append-only file, appendfsync always: a power cut loses no acknowledged update"},
		{"1", map[string]string{fsyncPolicy: "no"}, OK, "append-only file, appendfsync no: a power cut loses about 30 seconds of scores"},
		{"0", map[string]string{savePoints: "3600 1 300 100 60 10000"}, Warning, "snapshots only: a crash of Redis loses up to 1h0m0s of scores (save 3600 1 300 100 60 10000)"},
		{"0", map[string]string{savePoints: ""}, Warning, "Redis writes nothing to disk: its end loses all scores"},
	} {
		f := persistence(&Server{Info: Info{"aof_enabled": c.aof}, Config: c.config})
		require.Equal(t, c.level, f.Level, c)
		require.Equal(t, c.found, f.Found)
	}
	f := persistence(&Server{Info: Info{"aof_enabled": "1", "aof_last_write_status": "err"}})
	require.Equal(t, Problem, f.Level)
	require.Equal(t, OK, persistence(&Server{Info: Info{"aof_enabled": "1", "aof_last_write_status": "ok"}}).Level)
}

// Redis refuses updates when what counts for its limit has reached the limit, unless it evicts.
func TestFullMemory(t *testing.T) {
	t.Parallel()
	at := func(used, uncounted int64, policy string) Finding {
		return memory(&Server{Info: Info{"used_memory": fmt.Sprint(used), "mem_not_counted_for_evict": fmt.Sprint(uncounted), "maxmemory": "1048576", "maxmemory_policy": policy}})
	}
	for _, used := range []int64{1 << 20, 2 << 20} {
		f := at(used, 0, noEviction)
		require.Equal(t, Problem, f.Level, f)
		require.Contains(t, f.Found, "of maxmemory 1 MiB (")
		require.Contains(t, f.Found, "%), so Redis refuses updates")
		require.NotEmpty(t, f.Fix)
	}
	require.Equal(t, Warning, at(1<<20-1, 0, noEviction).Level)
	require.Equal(t, Warning, at(1<<20, 1, noEviction).Level, "buffers of replicas and of the append-only file do not count")
	require.Equal(t, Warning, at(2<<20, 0, "allkeys-lru").Level)
}

// Memory is a warning while an operator has the time to react.
func TestMemory(t *testing.T) {
	t.Parallel()
	const gib = 1 << 30
	for _, c := range []struct {
		used, most, machine int64
		aof                 string
		level               Level
		found               string
	}{
		{gib / 2, 0, 16 * gib, "1", OK, "512 MiB used, no maxmemory, 3% of the machine's 16 GiB"},
		{gib * 79 / 100, gib, 16 * gib, "1", OK, "808.9 MiB used of maxmemory 1 GiB (78%), 4% of the machine's 16 GiB"},
		{gib * 81 / 100, gib, 16 * gib, "1", Warning, "829.4 MiB used of maxmemory 1 GiB (80%), 5% of the machine's 16 GiB; at maxmemory Redis refuses updates"},
		{9 * gib, 0, 16 * gib, "1", Warning, "9 GiB used, no maxmemory, 56% of the machine's 16 GiB; a snapshot or a rewrite of the append-only file may need as much again"},
		{9 * gib, 0, 16 * gib, "0", OK, "9 GiB used, no maxmemory, 56% of the machine's 16 GiB"},
		{13 * gib, 0, 16 * gib, "0", Warning, "13 GiB used, no maxmemory, 81% of the machine's 16 GiB; the system may end Redis when the memory is full"},
		{gib, 0, 0, "1", OK, "1 GiB used, no maxmemory"},
	} {
		info := Info{"used_memory": fmt.Sprint(c.used), "maxmemory": fmt.Sprint(c.most), "aof_enabled": c.aof}
		if c.machine > 0 {
			info["total_system_memory"] = fmt.Sprint(c.machine)
		}
		f := memory(&Server{Info: info})
		require.Equal(t, c.level, f.Level, f)
		require.Equal(t, c.found, f.Found)
	}
}

// An answer that takes long does not make a clock wrong: only its bounds count.
func TestClocks(t *testing.T) {
	t.Parallel()
	now := time.Now()
	at := func(name string, ahead, took time.Duration) *Server {
		return &Server{Name: name, Clock: NewOffset(now.Add(ahead), now, now.Add(took))}
	}
	levels := func(servers ...*Server) (all []Level) {
		for _, f := range clocks(servers) {
			all = append(all, f.Level)
		}
		return all
	}
	require.Equal(t, []Level{OK}, levels(at("", 0, time.Millisecond)))
	require.Equal(t, []Level{OK}, levels(at("", 900*time.Millisecond, time.Millisecond)))
	require.Equal(t, []Level{OK}, levels(at("", 5*time.Second, 5*time.Second)), "the clock may agree at the end of the answer")
	require.Equal(t, []Level{Warning}, levels(at("", 1100*time.Millisecond, time.Millisecond)))
	require.Equal(t, []Level{Warning}, levels(at("", -1100*time.Millisecond, time.Millisecond)))
	require.Contains(t, clock(at("", 5*time.Second, 0)).Found, "5.0 s ahead of this machine's")
	require.Contains(t, clock(at("", -5*time.Second, 0)).Found, "5.0 s behind this machine's")

	// The machine's own clock may be wrong while the masters agree, and the masters may differ while each of
	// them is near.
	require.Equal(t, []Level{Warning, Warning}, levels(at("a", 5*time.Second, 0), at("b", 6*time.Second, 0)))
	require.Equal(t, []Level{OK}, levels(at("a", time.Second, 0), at("b", -time.Second, 0)))
	apart := clocks([]*Server{at("a", -2*time.Second, 0), at("b", 0, 0), at("c", 2*time.Second, 0)})
	last := apart[len(apart)-1]
	require.Equal(t, Problem, last.Level)
	require.Contains(t, last.Found, "c is 4.0 s ahead of a")
	require.Equal(t, []Level{OK}, levels(at("a", 0, time.Minute), at("b", 3*time.Second, time.Minute)))
}

// The median leaves out a ping that something held up.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	require.Equal(t, OK, roundTrip(&Server{RoundTrips: []time.Duration{900 * ms, ms, 800 * ms, ms, 4 * ms}}).Level)
	require.Equal(t, "4.00 ms", roundTrip(&Server{RoundTrips: []time.Duration{900 * ms, ms, 800 * ms, ms, 4 * ms}}).Found)
	require.Equal(t, Warning, roundTrip(&Server{RoundTrips: []time.Duration{6 * ms, ms, 7 * ms}}).Level)
}

// A board is away when no master holds its slot.
func TestShards(t *testing.T) {
	t.Parallel()
	whole := []Shard{{0, 5460, "a:1", 1}, {5461, 10922, "b:1", 1}, {10923, 16383, "c:1", 1}}
	require.Equal(t, Finding{Check: Cluster, Found: "3 masters hold all 16384 slots"}, Shards(whole, "ok"))
	require.Equal(t, OK, Shards(whole, "").Level)
	require.Equal(t, Problem, Shards(whole, "fail").Level)
	f := Shards([]Shard{{0, 5459, "a:1", 1}, {5461, 10922, "b:1", 1}, {10923, 16383, "c:1", 1}}, "ok")
	require.Equal(t, Problem, f.Level)
	require.Equal(t, "no master holds 1 of the 16384 slots: boards in these slots get 503", f.Found)
	f = Shards([]Shard{{0, 99, "b:1", 0}, {100, 5460, "a:1", 1}, {5461, 16383, "b:1", 0}}, "ok")
	require.Equal(t, Warning, f.Level)
	require.Contains(t, f.Found, "2 masters hold all 16384 slots; without a replica that is ready: b:1:")
	require.Contains(t, f.Fix, "if a replica is still synchronising, wait and check again; otherwise add one to each: redis-cli --cluster add-node")
	require.Equal(t, Problem, Shards(nil, "").Level)
	require.Contains(t, Shards(nil, "").Fix, "redis-cli --cluster create")
}

// The masters of a cluster share a line where they have the same finding.
func TestFindingsOfServers(t *testing.T) {
	t.Parallel()
	good, bad := Info{"maxmemory_policy": noEviction}, Info{"maxmemory_policy": "allkeys-lru"}
	require.Equal(t, []Finding{{Check: Eviction, Found: noEviction}}, perServer([]*Server{{Name: "a", Info: good}, {Name: "b", Info: good}}, eviction))
	all := perServer([]*Server{{Name: "a", Info: good}, {Name: "b", Info: bad}}, eviction)
	require.Len(t, all, 2)
	require.Equal(t, "b", all[1].Server)
	require.Equal(t, Problem, all[1].Level)
	require.Equal(t, "a", perServer([]*Server{{Name: "a", Info: good}}, eviction)[0].Server)

	// The fix names the server, or all of them.
	server := func(name string, info Info) *Server {
		return &Server{Name: name, CLI: "redis-cli -u redis://" + name, Info: info}
	}
	all = perServer([]*Server{server("a:1", bad), server("b:1", good)}, eviction)
	require.Equal(t, "redis-cli -u redis://a:1 CONFIG SET maxmemory-policy noeviction, and in redis.conf: maxmemory-policy noeviction", all[0].Fix)
	all = perServer([]*Server{server("a:1", bad), server("b:1", bad)}, eviction)
	require.Len(t, all, 1)
	require.Empty(t, all[0].Server)
	require.Equal(t, "on each node of the cluster: redis-cli -u redis://HOST:PORT CONFIG SET maxmemory-policy noeviction, and in redis.conf: maxmemory-policy noeviction", all[0].Fix)
}
