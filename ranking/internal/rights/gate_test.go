package rights

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/internal/keyspace"
	"rankcast/ranking/internal/pipeline"
	"rankcast/ranking/internal/redisconn"
	"rankcast/ranking/redistest"
)

func TestMain(m *testing.M) { redistest.Main(m) }

// A new connection on which Redis does not know CLIENT asks for no check.
func TestNewConnectionsAskForNoCheck(t *testing.T) {
	t.Parallel()
	conn, err := redisconn.Open(redistest.Start(t, "--rename-command", "CLIENT", "").URL())
	require.NoError(t, err)
	rdb := pipeline.New(conn)
	t.Cleanup(func() { rdb.Close() })
	g := New(rdb, keyspace.New("rc"), redistest.CallTimeout, time.Hour)
	require.NoError(t, rdb.Ping(t.Context()).Err()) // makes a connection
	require.Empty(t, g.refused)
	require.Error(t, rdb.Do(t.Context(), "NOSUCH").Err())
	require.Len(t, g.refused, 1)
}

// The reason names several commands that Redis refuses in the same way once, also where Redis names the command itself, as 7.0 does by
// itself and later ones do in scripts too.
func TestReasonsAreGrouped(t *testing.T) {
	t.Parallel()
	rdb := pipeline.New(redis.NewClient(&redis.Options{Username: "app"}))
	t.Cleanup(func() { rdb.Close() })
	g := New(rdb, keyspace.New("rc"), redistest.CallTimeout, time.Hour)
	missing := g.missing([]refusal{
		{text: "NOPERM this user has no permissions to run the 'evalsha' command", what: "EVALSHA rc:{/}:*"},
		{text: "NOPERM this user has no permissions to run the 'eval' command", what: "EVAL rc:{/}:*"},
		{text: "ERR ACL failure in script: User app has no permissions to run the 'zadd' command", what: "ZADD", master: "b"},
		{text: "ERR ACL failure in script: User app has no permissions to run the 'hset' command", what: "HSET", master: "a"},
	})
	require.Equal(t, `redis user "app": HSET, ZADD: ERR ACL failure in script: User app has no permissions to run this command; `+
		`redis user "app": EVAL rc:{/}:*, EVALSHA rc:{/}:*: NOPERM this user has no permissions to run this command`, missing.Reason)
	require.Equal(t, []string{"a", "b"}, missing.Masters)
}
