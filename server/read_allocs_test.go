//go:build !race

package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

// A caller alone costs a node few allocations: from the request to the answer, and the call of Redis on its own.
// Most of the latter are values of the reply, of which an entry has two. The race detector adds allocations.
//
// The test is not parallel: AllocsPerRun counts the allocations of all goroutines.
func TestAllocationsOfARead(t *testing.T) {
	const runs, entries = 500, 10
	n := servertest.Start(t, redistest.Start(t).URL(), servertest.Config{}, definition.Board{Name: "b"})
	var updates []string
	for i := range 2 * entries {
		updates = append(updates, fmt.Sprintf(`{"member":"member%d","score":%d}`, i, 1000+i))
	}
	require.Equal(t, 200, n.Do("POST", "/v1/boards/b/scores", `{"updates":[`+strings.Join(updates, ",")+`]}`).Status)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprintf("http://%s/v1/boards/b/top?limit=%d", n.Addr, entries), nil)
	require.NoError(t, err)
	r.RemoteAddr = "127.0.0.1:1000"
	w := &discarded{}

	store := testing.AllocsPerRun(runs, func() { n.Store.Read(t.Context(), "b", ranking.Query{Limit: entries}) })
	encoded := testing.AllocsPerRun(runs, func() { n.Server.EncodeTop(t.Context(), "b", entries) })
	served := testing.AllocsPerRun(runs, func() {
		*w = discarded{header: make(http.Header)}
		n.Server.ServeHTTP(w, r)
	})
	require.Equal(t, http.StatusOK, w.status)
	require.NotZero(t, w.bytes)
	require.LessOrEqual(t, store, 102.0, "the call of Redis")
	require.LessOrEqual(t, encoded-store, 11.0, "the encoded answer")
	require.LessOrEqual(t, served-encoded, 20.0, "the request")
}

// discarded is an answer of which only status and size are kept.
type discarded struct {
	header        http.Header
	status, bytes int
}

func (d *discarded) Header() http.Header    { return d.header }
func (d *discarded) WriteHeader(status int) { d.status = status }

func (d *discarded) Write(b []byte) (int, error) {
	d.bytes += len(b)
	return len(b), nil
}
