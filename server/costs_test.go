//go:build !race

package server_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

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
	n.Require(200, "POST", "/v1/boards/b/scores", `{"updates":[`+strings.Join(updates, ",")+`]}`)
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
	require.LessOrEqual(t, store, 105.0, "the call of Redis")
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

// BenchmarkPage measures a page of a board with its first rows, from the request to the compressed answer: one that the node
// makes anew, one that it has made within the last second, and a top of the same board by the API for comparison. It
// reports the size of the compressed answer.
func BenchmarkPage(b *testing.B) {
	n := servertest.Start(b, redistest.Start(b, redistest.InMemory...).URL(),
		servertest.Config{Server: server.Config{Limits: access.Config{AddressRequests: access.Unlimited}}},
		definition.Board{Name: "b", Kind: "star", Period: "week"})
	for i := range 300 {
		n.Require(200, "POST", "/v1/boards/b/scores", fmt.Sprintf(`{"member":"member-%03d","score":%d}`, i, 1000-i))
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

// The page of a board costs Redis one call. In particular, no page looks there for the boards of star flowers, to which it
// would link: a node asks Redis for a name that it does not know, and waits up to 20 ms.
func TestPageOfABoardIsOneCall(t *testing.T) {
	t.Parallel()
	const pages = 100
	r := redistest.Start(t)
	n := servertest.Start(t, r.URL(), servertest.Config{Server: server.Config{Limits: access.Config{AddressRequests: access.Unlimited}}},
		definition.Board{Name: "b"})
	// A node makes calls by itself, too: the more of them, the longer the pages take.
	fewest := math.MaxInt
	for i := 0; fewest >= pages*3/2 && i < 10*pages; i += pages {
		before := scriptCalls(t, r)
		for j := range pages {
			sizeOfPage(t, n, "/boards/b", i+j)
		}
		fewest = min(fewest, scriptCalls(t, r)-before)
	}
	require.Less(t, fewest, pages*3/2, "calls for the pages")
}

// BenchmarkUpdateBesideExports measures an update of a board by HTTP, alone and beside clients that read
// another board of 100,000 members all the time, in turns in one run: 1 and 40 exports without data of the
// entries, 40 with data, and 40 clients that read a top of 1,000. It reports medians and 99th percentiles of
// the update, and the entries that all readers together get in a second.
func BenchmarkUpdateBesideExports(b *testing.B) {
	const members, updates = 100_000, 200
	n := servertest.Start(b, redistest.Start(b, redistest.InMemory...).URL(), servertest.Config{}, definition.Board{Name: "b"},
		definition.Board{Name: "plain"}, definition.Board{Name: "data"})
	for board, data := range map[string]string{"plain": "", "data": `,"data":{"team":"` + strings.Repeat("x", 80) + `"}`} {
		var rows strings.Builder
		for i := range members {
			fmt.Fprintf(&rows, `{"member":"member-%06d","score":%d%s}`+"\n", i, i/10, data)
		}
		n.Require(200, "POST", "/v1/boards/"+board+"/import", rows.String(), "Content-Type", "application/x-ndjson")
	}
	update := func() time.Duration {
		start := time.Now()
		n.Require(200, "POST", "/v1/boards/b/scores", `{"member":"ana","score":1}`)
		return time.Since(start)
	}
	type scene struct {
		name    string
		readers int
		path    string
	}
	const plain, data, top = "/v1/boards/plain/export", "/v1/boards/data/export?format=csv", "/v1/boards/plain/top?limit=1000"
	scenes := []scene{{"alone", 0, ""}, {"exports", 1, plain}, {"exports", 40, plain}, {"data", 40, data}, {"tops", 40, top}}
	waits := make(map[scene][]time.Duration)
	rates := make(map[scene][]float64)
	for b.Loop() {
		for _, c := range scenes {
			ctx, stop := context.WithCancel(context.Background())
			var readers sync.WaitGroup
			var entries atomic.Int64
			for range c.readers {
				readers.Go(func() {
					for ctx.Err() == nil {
						readEntries(ctx, "http://"+n.Addr+c.path, &entries)
					}
				})
			}
			for range 50 { // until all readers are under way
				update()
			}
			start, before := time.Now(), entries.Load()
			for range updates {
				waits[c] = append(waits[c], update())
			}
			rates[c] = append(rates[c], float64(entries.Load()-before)/time.Since(start).Seconds())
			stop()
			readers.Wait()
		}
	}
	for _, c := range scenes {
		slices.Sort(waits[c])
		slices.Sort(rates[c])
		name := fmt.Sprintf("%s×%d", c.name, c.readers)
		b.ReportMetric(float64(waits[c][len(waits[c])/2])/1e6, name+"-p50-ms")
		b.ReportMetric(float64(waits[c][len(waits[c])*99/100])/1e6, name+"-p99-ms")
		if c.readers > 0 {
			b.ReportMetric(rates[c][len(rates[c])/2], name+"-entries/s")
		}
	}
	b.ReportMetric(0, "ns/op") // hides it: the parts are above
}

// readEntries reads an answer until it or ctx ends, and counts its entries by the start of their members.
func readEntries(ctx context.Context, url string, entries *atomic.Int64) {
	req, err := http.NewRequestWithContext(ctx, "GET", url, nil)
	if err != nil {
		return
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return
	}
	defer res.Body.Close()
	buf := make([]byte, 64<<10)
	for err == nil {
		var n int
		n, err = res.Body.Read(buf)
		entries.Add(int64(bytes.Count(buf[:n], []byte("member-"))))
	}
}
