//go:build !race

package server_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server"
	"rankcast/server/access"
	"rankcast/server/servertest"
)

// BenchmarkPage measures a page of a board with its first rows, from the request to the compressed answer: one that the node
// makes anew, one that it has made within the last second, and a top of the same board by the API for comparison. It
// reports the size of the compressed answer.
func BenchmarkPage(b *testing.B) {
	n := servertest.Start(b, redistest.Start(b, redistest.InMemory...).URL(),
		servertest.Config{Server: server.Config{Limits: access.Config{AddressRequests: access.Unlimited}}},
		definition.Board{Name: "b", Kind: "star", Period: "week"})
	for i := range 300 {
		require.Equal(b, 200, n.Do("POST", "/v1/boards/b/scores", fmt.Sprintf(`{"member":"member-%03d","score":%d}`, i, 1000-i)).Status)
		require.Less(b, n.Do("PUT", fmt.Sprintf("/v1/members/star/member-%03d", i), fmt.Sprintf(`{"name":"Member Number %d"}`, i)).Status, 300)
	}
	run := 0
	for _, c := range []struct{ name, path string }{
		{"ten rows", "/boards/b?anew"}, {"ten rows, made before", "/boards/b"}, {"200 rows", "/boards/b?top=200&anew"},
		{"ten rows and a member", "/boards/b?me=member-250&anew"}, {"the API", "/v1/boards/b/top"},
	} {
		b.Run(c.name, func(b *testing.B) {
			size := 0
			for b.Loop() {
				host := 0
				if run++; strings.HasSuffix(c.path, "anew") {
					host = run
				}
				size = sizeOfPage(b, n, c.path, host)
			}
			b.ReportMetric(float64(size), "bytes")
		})
	}
}

// sizeOfPage asks a node for a page, and returns the size of the compressed answer. The node keeps a page for each of its own
// addresses, so it makes the page anew for another host.
func sizeOfPage(t testing.TB, n *servertest.Node, path string, host int) int {
	t.Helper()
	r := newRequest(t, "GET", path)
	r.Host = fmt.Sprintf("host-%d.localhost", host)
	r.Request.Header.Set("Accept-Encoding", "gzip")
	w := &discarded{header: make(map[string][]string)}
	n.Server.ServeHTTP(w, r.Request)
	require.Equal(t, 200, w.status)
	return w.bytes
}
