package ingest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
)

// BenchmarkBurst appends a million entries in ten seconds, once for each bound of the rate. It measures single updates
// of another process meanwhile, and for ten seconds after that.
func BenchmarkBurst(b *testing.B) {
	const (
		entries, members = 1_000_000, 10_000
		burst            = 10 * time.Second
		pipeline         = 100 // entries that a producer sends at once
		live             = 200 // updates a second
	)
	for _, rate := range []int{5000, 10_000, 20_000, 0} {
		b.Run(fmt.Sprintf("rate=%d", rate), func(b *testing.B) {
			for range b.N {
				server := redistest.Start(b, redistest.InMemory...)
				open := func() (*ranking.Store, redis.UniversalClient) {
					rdb := redistest.Must(ranking.Open(server.URL()))(b)
					b.Cleanup(func() { rdb.Close() })
					store := ranking.New(rdb, ranking.Config{})
					b.Cleanup(store.Close)
					return store, rdb
				}
				node, producer := open()
				require.NoError(b, node.Define(b.Context(), definition.Set{Boards: []definition.Board{{Name: "stars"}}}))
				store, rdb := open()
				in := redistest.Must(New(rdb, store, Config{Rate: rate}))(b)
				ctx, cancel := context.WithCancel(b.Context())
				var all sync.WaitGroup
				all.Go(func() { in.Run(ctx) })
				began := time.Now()
				var appended time.Duration
				all.Go(func() {
					for n := 0; n < entries; n += pipeline {
						time.Sleep(time.Until(began.Add(burst * time.Duration(n) / entries)))
						pipe := producer.Pipeline()
						for i := range pipeline {
							pipe.XAdd(ctx, &redis.XAddArgs{Stream: stream, Values: []string{"board", "stars", "member",
								fmt.Sprint("m", (n+i)*7919%members), "score", "3"}})
						}
						if _, err := pipe.Exec(ctx); err != nil {
							b.Error(err)
							return
						}
					}
					appended = time.Since(began)
				})
				var took []time.Duration
				for n := 0; time.Since(began) < 2*burst; n++ {
					due := began.Add(time.Second * time.Duration(n) / live)
					time.Sleep(time.Until(due))
					outcomes := redistest.Must(node.Apply(ctx, "stars", []definition.Update{{Member: "live", Score: 1}}))(b)
					require.NoError(b, outcomes[0].Err)
					took = append(took, time.Since(due))
				}
				left := redistest.Must(rdb.XLen(ctx, stream).Result())(b)
				cancel()
				all.Wait()
				slices.Sort(took)
				b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "live-p50-ms")
				b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "live-p99-ms")
				b.ReportMetric(float64(took[len(took)-1].Microseconds())/1000, "live-max-ms")
				b.ReportMetric(appended.Seconds(), "append-s")
				b.ReportMetric(float64(entries-left)/(2*burst).Seconds(), "entries/s")
			}
		})
	}
}
