package server_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

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
		a := n.Do("POST", "/v1/boards/"+board+"/import", rows.String(), "Content-Type", "application/x-ndjson")
		require.Equal(b, 200, a.Status, a.Body)
	}
	update := func() time.Duration {
		start := time.Now()
		a := n.Do("POST", "/v1/boards/b/scores", `{"member":"ana","score":1}`)
		require.Equal(b, 200, a.Status, a.Body)
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
