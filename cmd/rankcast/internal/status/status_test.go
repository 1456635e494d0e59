package status

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
	"rankcast/server/client"
)

func TestMain(m *testing.M) { redistest.Main(m) }

// The verdict comes first, then each problem with what to do, then the tables. A text of a server moves no cursor.
func TestReport(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	require.NoError(t, report(&out, client.Status{
		Problems: []client.Problem{
			{Redis: "r1:6379", Message: "Redis uses 90 of 100 MiB of memory", Advice: "Give Redis more memory."},
			{Node: "web1:8080/k3f9a", Message: "is not ready: \x1bstopping", Advice: "Its log has more."},
			{Message: "nodes of several versions run: v1, v2", Advice: "Bring all to one version."},
		},
		Nodes: []client.Node{
			{ID: "web1:8080/k3f9a", Role: "serve", Version: "v1", Sockets: 1200, Streams: 34, Updates: 12.4, CPU: new(0.34),
				Memory: new(int64(210 << 20)), P99: new(130.4)},
			{ID: "queue/q7x2m", Role: "ingest"},
		},
		Redis: []client.Redis{
			{Address: new("r1:6379"), Version: new("Redis 7.2.4"), Ping: new(0.38), Operations: new(int64(900)), Memory: new(int64(90 << 20)),
				Clients: new(int64(30)), Replicas: []client.Replica{{}}},
			{},
		},
	}))
	require.Equal(t, `Not all is well: 3 problems.

r1:6379: Redis uses 90 of 100 MiB of memory
  Give Redis more memory.

web1:8080/k3f9a is not ready: �stopping
  Its log has more.

nodes of several versions run: v1, v2
  Bring all to one version.

NODE             VERSION  CLIENTS  UPDATES/S  P99 MS  CPU  MIB
web1:8080/k3f9a  v1       1,234    12         130     0.3  210
queue/q7x2m      -        ingest   0          -       -    -

REDIS    VERSION      MIB  OPS/S  CLIENTS  PING MS  REPLICAS
r1:6379  Redis 7.2.4  90   900    30       0.4      1
-        -            -    -      -        -        0
`, out.String())
	out.Reset()
	require.NoError(t, report(&out, client.Status{Well: true}))
	require.True(t, strings.HasPrefix(out.String(), "All is well.\n\nNODE "), out.String())
}

// The tables fit on a terminal of 80 columns, whatever the names are.
func TestReportFitsOnATerminal(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	long := strings.Repeat("ö", 100)
	require.NoError(t, report(&out, client.Status{Well: true,
		Nodes: []client.Node{{ID: long, Role: "serve", Version: long, Sockets: 58_977, Updates: 99_999, P99: new(9999.0), CPU: new(63.5),
			Memory: new(int64(64 << 30))}},
		Redis: []client.Redis{{Address: &long, Version: &long, Memory: new(int64(64 << 30)), Operations: new(int64(999_999)),
			Clients: new(int64(9999)), Ping: new(999.9)}},
	}))
	for line := range strings.Lines(out.String()) {
		require.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")), 80, line)
	}
}
