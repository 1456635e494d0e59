//go:build !race

package server_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server"
	"rankcast/server/access"
	"rankcast/server/servertest"
)

// request is a request without a connection, so that a test counts what the server itself allocates for it.
type request struct {
	*http.Request
	body   strings.Reader
	header http.Header // of the answer
	status int
}

func newRequest(t testing.TB, method, path string) *request {
	r, err := http.NewRequestWithContext(t.Context(), method, "http://localhost"+path, http.NoBody)
	require.NoError(t, err)
	r.RemoteAddr = "192.0.2.1:4711" // no address of this machine: the limits count it
	r.Header.Set("Content-Type", "application/json")
	return &request{Request: r, header: make(http.Header)}
}

func (r *request) Header() http.Header         { return r.header }
func (r *request) WriteHeader(status int)      { r.status = status }
func (r *request) Write(b []byte) (int, error) { return len(b), nil }

// do sends the request with a body to a server, and returns the status of its answer.
func (r *request) do(to http.Handler, body string) int {
	r.body.Reset(body)
	r.Body, r.ContentLength = io.NopCloser(&r.body), int64(len(body))
	to.ServeHTTP(r, r.Request)
	return r.status
}

// What the server adds to the calls of the store costs few allocations. What the store and its Redis client allocate
// does not count here, nor does net/http.
//
// The test is not parallel: AllocsPerRun counts the allocations of all goroutines.
func TestAllocationsOfARequest(t *testing.T) {
	limits := access.Config{AddressRequests: access.Unlimited}
	n := servertest.Start(t, redistest.Start(t, redistest.InMemory...).URL(),
		servertest.Config{Server: server.Config{Limits: limits}}, definition.Board{Name: "b"})
	for _, c := range []struct {
		name, method, path, body string
		store                    func() error // the calls that the request makes
		most                     float64
	}{
		{"update", "POST", "/v1/boards/b/scores", `{"member":"ana","score":1,"id":"request-1"}`, func() error {
			_, err := n.Store.Apply(t.Context(), "b", []definition.Update{{Member: "ana", Score: 1, ID: "request-1"}})
			return err
		}, 20},
		{"top", "GET", "/v1/boards/b/top?limit=10", "", func() error {
			page, err := n.Store.Read(t.Context(), "b", ranking.Query{Limit: 10, FromRank: 1})
			if err == nil {
				_, err = n.Store.Profiles(t.Context(), page.Kind, []string{"ana"})
			}
			return err
		}, 20},
	} {
		r := newRequest(t, c.method, c.path)
		require.Equal(t, 200, r.do(n.Server, c.body), c.name)
		require.NoError(t, c.store())
		all := testing.AllocsPerRun(500, func() { r.do(n.Server, c.body) })
		store := testing.AllocsPerRun(500, func() { c.store() })
		require.LessOrEqual(t, all-store, c.most, "%s: %v allocations, of which the store has %v", c.name, all, store)
	}
}

// An update over HTTP, and over a socket with its answer, in allocations of the whole process: those of the store are
// among them.
func BenchmarkUpdate(b *testing.B) {
	limits := access.Config{AddressRequests: access.Unlimited, Messages: access.Unlimited}
	n := servertest.Start(b, redistest.Start(b, redistest.InMemory...).URL(),
		servertest.Config{Server: server.Config{Limits: limits}}, definition.Board{Name: "b"})
	const update = `{"member":"ana","score":1,"data":{"team":"red","car":44}}`
	b.Run("http", func(b *testing.B) {
		b.ReportAllocs()
		r := newRequest(b, "POST", "/v1/boards/b/scores")
		for b.Loop() {
			require.Equal(b, 200, r.do(n.Server, update))
		}
	})
	b.Run("socket", func(b *testing.B) {
		b.ReportAllocs()
		s, err := servertest.DialRaw(1, n.Addr)
		require.NoError(b, err)
		require.NoError(b, s.Handshake())
		for b.Loop() {
			err := s.SendText(`{"type":"update","id":1,"board":"b","update":` + update + `}`)
			if err == nil {
				_, err = s.ReadFrame()
			}
			require.NoError(b, err)
		}
	})
}
