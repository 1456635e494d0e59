package rights

import (
	"testing"
	"time"

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
