package ranking

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
)

// reporting returns the nodes whose reports a store reads, each with its report.
func reporting(t testing.TB, s *Store) (all []string) {
	list, now, err := s.Nodes(t.Context())
	require.NoError(t, err)
	for _, n := range list {
		require.False(t, n.At.IsZero() || n.At.After(now), n)
		all = append(all, n.ID+" "+string(n.Report))
	}
	return all
}

// Each node reads the last report of each, the newest first. A node that stops leaves none.
func TestNodesReport(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		s, other, ctx := newNode(t, url), newNode(t, url), t.Context()
		require.Empty(t, reporting(t, s))
		require.NoError(t, s.ReportNode(ctx, "a", []byte(`{"n":1}`)))
		require.NoError(t, other.ReportNode(ctx, "b", []byte(`{"n":2}`)))
		require.Equal(t, []string{`b {"n":2}`, `a {"n":1}`}, reporting(t, s))
		require.NoError(t, s.ReportNode(ctx, "a", []byte(`{"n":3}`)))
		require.Equal(t, []string{`a {"n":3}`, `b {"n":2}`}, reporting(t, other))
		require.NoError(t, s.ForgetNode(ctx, "a"))
		require.NoError(t, s.ForgetNode(ctx, "a"))
		require.Equal(t, []string{`b {"n":2}`}, reporting(t, s))
		for i := range MaxNodes {
			require.NoError(t, s.ReportNode(ctx, fmt.Sprint("n", i), []byte("{}")))
		}
		require.Len(t, reporting(t, s), MaxNodes)
	})
}

// Nodes returns the report of a silent node for an hour. After that, the reports of other nodes remove it from Redis.
func TestSilentNodesAreDropped(t *testing.T) {
	onSimulatedNode(t, nil, func(t *testing.T, w *world, s *Store) {
		const silent = 2 * maxReportsDropped
		for i := range silent {
			require.NoError(t, s.ReportNode(t.Context(), fmt.Sprint("n", i), []byte("{}")))
		}
		w.pass(reportKept - time.Second)
		require.Len(t, reporting(t, s), silent)
		w.pass(2 * time.Second)
		require.Empty(t, reporting(t, s))
		for left := silent; left > 0; left -= maxReportsDropped {
			require.EqualValues(t, left, s.rdb.ZCard(t.Context(), s.keys.ReportedNodes()).Val()-min(1, int64(silent-left)))
			require.NoError(t, s.ReportNode(t.Context(), "a", []byte("{}")))
		}
		require.Equal(t, []string{"a {}"}, reporting(t, s))
		require.Equal(t, map[string]string{"a": "{}"}, s.rdb.HGetAll(t.Context(), s.keys.NodeReports()).Val())
		require.EqualValues(t, 1, s.rdb.ZCard(t.Context(), s.keys.ReportedNodes()).Val())
	})
}

// A Redis at its maxmemory still takes reports: then an operator needs them.
func TestNodesReportAtMaxmemory(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	s := newNode(t, r.URL())
	require.NoError(t, r.Admin().ConfigSet(t.Context(), "maxmemory", "1").Err())
	require.NoError(t, s.ReportNode(t.Context(), "a", []byte("{}")))
	require.Equal(t, []string{"a {}"}, reporting(t, s))
}
