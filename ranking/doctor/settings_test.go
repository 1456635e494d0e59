package doctor

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The doctor names each setting that loses scores, and what to change. It offers no fix for a setting that is right.
func TestChecks(t *testing.T) {
	t.Parallel()
	info := func(fields ...string) *server {
		s := &server{info: make(map[string]string)}
		for i := 0; i < len(fields); i += 2 {
			s.info[fields[i]] = fields[i+1]
		}
		return s
	}
	config := func(s *server, parameter, value string) *server {
		s.config = map[string]string{parameter: value}
		return s
	}
	buffers := func(value string) *server { return config(info(), bufferLimits, value) }
	memoryOf := func(used, most, machine string) *server {
		return info("used_memory", used, "maxmemory", most, "total_system_memory", machine, "maxmemory_policy", noEviction,
			"mem_not_counted_for_evict", "1048576")
	}
	ahead := func(least, most time.Duration) *server { return &server{least: least, most: most} }
	refused := &server{infoErr: errors.New("NOPERM info"), configErr: errors.New("NOPERM config"), timeErr: errors.New("NOPERM time")}
	for _, c := range []struct {
		check func(*server) Finding
		of    *server
		level Level
		found string
	}{
		{version, info("redis_version", "6.2.14"), Problem, "Redis 6.2.14 is too old: Rankcast needs Redis 7.0 or later, or Valkey"},
		{version, info("redis_version", "7.0.15"), OK, "Redis 7.0.15; in Valkey 9 a member takes a third less memory"},
		{version, info("redis_version", "7.2.4", "valkey_version", "8.1.1"), OK, "Valkey 8.1.1"},
		{version, refused, Unknown, "NOPERM info"},
		{version, info(), Unknown, "INFO server does not tell it"},
		{eviction, info("maxmemory_policy", noEviction), OK, noEviction},
		{eviction, info("maxmemory_policy", "volatile-ttl"), Problem,
			"volatile-ttl: when its memory is full, Redis deletes boards, locks or tickets"},
		{eviction, refused, Unknown, "NOPERM info"},
		{persistence, config(info("aof_enabled", "1"), fsyncPolicy, "everysec"), OK, "append-only file, appendfsync everysec"},
		{persistence, info("aof_enabled", "1", "aof_last_write_status", "err"), Problem, "aof_last_write_status is err"},
		{persistence, info("aof_enabled", "1", "aof_last_bgrewrite_status", "err"), Warning, "aof_last_bgrewrite_status is err"},
		{persistence, info("aof_enabled", "1", "rdb_last_bgsave_status", "err"), Problem, "rdb_last_bgsave_status is err"},
		{persistence, config(info("aof_enabled", "1", "rdb_last_bgsave_status", "err"), savePoints, ""), OK, "append-only file"},
		{persistence, info("aof_enabled", "0", "aof_last_write_status", "err"), Warning,
			"no append-only file: a crash of Redis loses the scores since its last snapshot, or all"},
		{persistence, refused, Unknown, "NOPERM info"},
		{memory, memoryOf("1048576", "0", "0"), OK, "1 MiB used"},
		{memory, memoryOf("82837504", "104857600", "209715200"), OK, "79 MiB used, 79% of maxmemory (100 MiB), 39% of the machine (200 MiB)"},
		{memory, memoryOf("84934656", "104857600", "0"), Warning, "81 MiB used, 81% of maxmemory (100 MiB)"},
		{memory, memoryOf("84934656", "0", "104857600"), Warning, "81 MiB used, 81% of the machine (100 MiB)"},
		{memory, memoryOf("104857600", "104857600", "0"), Warning, "100 MiB used, 100% of maxmemory (100 MiB)"}, // 1 MiB of it does not count
		{memory, memoryOf("105906176", "104857600", "0"), Problem, "101 MiB used, 101% of maxmemory (100 MiB): Redis refuses updates"},
		{memory, refused, Unknown, "NOPERM info"},
		{outputBuffers, buffers("normal 0 0 0 slave 268435456 67108864 60 pubsub 33554432 8388608 60"), OK, "pubsub 33554432 8388608 60"},
		{outputBuffers, buffers("pubsub 0 0 0"), OK, "pubsub 0 0 0"},
		{outputBuffers, buffers("pubsub 33554432 1024 0"), OK, "pubsub 33554432 1024 0"},
		{outputBuffers, buffers("pubsub 16777216 8388608 60"), Warning,
			"pubsub 16777216 8388608 60: Redis disconnects a slow node sooner than by default"},
		{outputBuffers, buffers("pubsub 33554432 4194304 60"), Warning,
			"pubsub 33554432 4194304 60: Redis disconnects a slow node sooner than by default"},
		{outputBuffers, buffers("pubsub 33554432 8388608 5"), Warning,
			"pubsub 33554432 8388608 5: Redis disconnects a slow node sooner than by default"},
		{outputBuffers, buffers("pubsub 1000 1000 60"), Problem, "pubsub 1000 1000 60: a burst of changes disconnects each node"},
		{outputBuffers, buffers("normal 0 0 0"), Unknown, "CONFIG GET client-output-buffer-limit does not tell it"},
		{outputBuffers, refused, Unknown, "NOPERM config"},
		{clock, ahead(-time.Millisecond, 900*time.Millisecond), OK, "Redis's clock agrees with this machine's to a second"},
		{clock, ahead(0, 5*time.Second), OK, "Redis's clock agrees with this machine's to a second"}, // at the end of a slow answer
		{clock, ahead(1100*time.Millisecond, 1200*time.Millisecond), Warning,
			"Redis's clock is 1.1 s ahead of this machine's: Redis decides the periods, this machine when tokens expire"},
		{clock, ahead(-1200*time.Millisecond, -1100*time.Millisecond), Warning,
			"Redis's clock is 1.1 s behind this machine's: Redis decides the periods, this machine when tokens expire"},
		{clock, refused, Unknown, "NOPERM time"},
	} {
		f := c.check(c.of)
		require.Equal(t, []any{c.level, c.found}, []any{f.Level, f.Found})
		require.Equal(t, c.level != OK, f.Fix != "", f)
	}
}

// The clocks of two masters may differ by two seconds, whatever the answers took. A cluster shows their distance.
func TestClocksApart(t *testing.T) {
	t.Parallel()
	at := func(name string, ahead time.Duration) *server {
		return &server{name: name, least: ahead - 100*time.Millisecond, most: ahead}
	}
	refused := &server{name: "d", timeErr: errors.New("NOPERM")}
	near := clocksApart([]*server{at("a", 0), at("b", 2*time.Second), refused})
	require.Len(t, near, 1)
	require.Equal(t, OK, near[0].Level)
	require.Contains(t, near[0].Found, "the clocks of 2 masters are at most 2100.0 ms apart")
	require.Empty(t, clocksApart([]*server{at("a", 0)}), "one Redis has no distance")
	require.Empty(t, clocksApart([]*server{refused}))
	apart := clocksApart([]*server{at("a", -2*time.Second), at("b", 0), at("c", 2*time.Second), refused})
	require.Len(t, apart, 1)
	require.Equal(t, Problem, apart[0].Level)
	require.Contains(t, apart[0].Found, "c is 3.9 s ahead of a")
}

// The masters of a cluster share a line where they have the same finding.
func TestFindingsOfServers(t *testing.T) {
	t.Parallel()
	of := func(name, policy string) *server {
		return &server{name: name, info: map[string]string{"maxmemory_policy": policy}}
	}
	require.Equal(t, []Finding{{Check: Eviction, Found: noEviction}}, perServer([]*server{of("a", noEviction), of("b", noEviction)}, eviction))
	all := perServer([]*server{of("a", noEviction), of("b", "allkeys-lru")}, eviction)
	require.Len(t, all, 2)
	require.Equal(t, []any{"b", Problem}, []any{all[1].Server, all[1].Level})
}
