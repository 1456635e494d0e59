package diagnosis

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The lines of INFO that the checks read, as four servers write them.
const (
	infoOfRedis62 = `# Server
redis_version:6.2.14
redis_mode:standalone

# Memory
used_memory:873592
used_memory_human:853.12K
total_system_memory:8337448960
maxmemory:0
maxmemory_policy:noeviction

# Persistence
loading:0
rdb_last_bgsave_status:ok
aof_enabled:1
aof_last_bgrewrite_status:ok
aof_last_write_status:ok

# Replication
role:master
`
	infoOfRedis70 = `# Server
redis_version:7.0.15
redis_mode:standalone
executable:/usr/bin/redis-server
config_file:/etc/redis/redis.conf

# Memory
used_memory:941992
total_system_memory:25276514304
maxmemory:1073741824
maxmemory_policy:allkeys-lru

# Persistence
loading:0
async_loading:0
rdb_last_bgsave_status:ok
rdb_saves:0
aof_enabled:0
aof_last_bgrewrite_status:ok
aof_last_write_status:ok

# Replication
role:master
`
	infoOfRedis8 = `# Server
redis_version:8.0.3
redis_mode:cluster

# Memory
used_memory:5167224
total_system_memory:16616865792
maxmemory:0
maxmemory_policy:noeviction

# Persistence
loading:0
async_loading:0
rdb_last_bgsave_status:err
aof_enabled:1
aof_last_bgrewrite_status:ok
aof_last_write_status:ok

# Keysizes
`
	infoOfValkey8 = `# Server
redis_version:7.2.4
server_name:valkey
valkey_version:8.1.1
valkey_release_stage:ga
server_mode:standalone

# Memory
used_memory:927536
total_system_memory:16616865792
maxmemory:0
maxmemory_policy:volatile-ttl

# Persistence
loading:0
rdb_last_bgsave_status:ok
aof_enabled:1
aof_last_bgrewrite_status:err
aof_last_write_status:ok
`
)

// Each server's own words for what the checks need are understood.
func TestInfoOfEachServer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, info                               string
		version, eviction, persistence           Level
		versionSays, evictionSays, persistenceIs string
	}{
		{"Redis 6.2", infoOfRedis62, Problem, OK, OK, "Redis 6.2.14 is too old: Rankcast needs Redis 7.0 or later, or Valkey", "noeviction", "append-only file"},
		{"Redis 7.0", infoOfRedis70, OK, Problem, Warning, "Redis 7.0.15", "allkeys-lru: when its memory is full, Redis deletes boards", "no append-only file: a crash of Redis loses the scores since its last snapshot, or all"},
		{"Redis 8", infoOfRedis8, OK, OK, Problem, "Redis 8.0.3", "noeviction", "the last snapshot failed, so Redis may refuse updates (stop-writes-on-bgsave-error)"},
		{"Valkey 8", infoOfValkey8, OK, Problem, Warning, "Valkey 8.1.1", "volatile-ttl: when its memory is full, Redis deletes locks of builds and tickets", "the last rewrite of the append-only file failed, so the file grows"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := &Server{Info: ParseInfo(strings.ReplaceAll(c.info, "\n", "\r\n"))} // as Redis ends its lines
			for _, one := range []struct {
				got   Finding
				level Level
				found string
			}{{version(s), c.version, c.versionSays}, {eviction(s), c.eviction, c.evictionSays}, {persistence(s), c.persistence, c.persistenceIs}} {
				require.Equal(t, one.level, one.got.Level, one.got)
				require.Equal(t, one.found, one.got.Found)
				require.Equal(t, one.level != OK, one.got.Fix != "", "a fault says what to change, and nothing else does")
			}
			require.Equal(t, OK, memory(s).Level, memory(s))
		})
	}
}

// What Redis refuses to tell is unknown, and names a way to find out.
func TestUnknown(t *testing.T) {
	t.Parallel()
	refused := &Server{User: "app"}
	for _, f := range Full([]*Server{refused}) {
		require.Equal(t, Unknown, f.Level, f)
		require.Contains(t, f.Fix, "redis-cli ", f)
		require.Regexp(t, `ACL SETUSER app '?\+`, f.Fix)
	}
	require.Len(t, Full([]*Server{refused}), 8)
	require.Equal(t, `redis user "app" may not run INFO`, version(refused).Found)
	require.Equal(t, "INFO does not say it", version(&Server{Info: Info{}}).Found)
	// A store that answers INFO, but not the fields.
	for _, f := range Full([]*Server{{Info: ParseInfo("# Clients\r\nconnected_clients:1\r\n")}}) {
		require.Equal(t, Unknown, f.Level, f)
	}
}

// A node of a cluster is no Redis by itself.
func TestNodeOfAClusterByItself(t *testing.T) {
	t.Parallel()
	require.Empty(t, NoCluster(&Server{Info: ParseInfo(infoOfRedis70)}))
	found := NoCluster(&Server{Info: ParseInfo(infoOfRedis8)})
	require.Len(t, found, 1)
	require.Equal(t, Problem, found[0].Level)
	require.Contains(t, found[0].Fix, "redis-cluster://")
}
