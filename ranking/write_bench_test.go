package ranking

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
)

// cost is what some updates took.
type cost struct{ redis, wall time.Duration }

// costOf is what Redis and the caller spend on something.
func costOf(b *testing.B, rdb redis.UniversalClient, do func()) cost {
	cpu, start := redistest.MainThreadCPU(b, rdb), time.Now()
	do()
	wall := time.Since(start)
	return cost{redistest.MainThreadCPU(b, rdb) - cpu, wall}
}

// memory is what Redis has taken, in bytes: by its own count, and of the machine.
type memory struct{ used, resident int64 }

func memoryOf(b *testing.B, rdb redis.UniversalClient) memory {
	info := must(rdb.InfoMap(context.Background(), "memory").Result())(b)["Memory"]
	return memory{must(strconv.ParseInt(info["used_memory"], 10, 64))(b), must(strconv.ParseInt(info["used_memory_rss"], 10, 64))(b)}
}

func (m memory) since(before memory) memory {
	return memory{m.used - before.used, m.resident - before.resident}
}

// report reports what each of n things takes.
func (m memory) report(b *testing.B, name, thing string, n int) {
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(m.used)/float64(n), name+"-bytes/"+thing)
	b.ReportMetric(float64(m.resident)/float64(n), name+"-resident-bytes/"+thing)
}

func median(costs []cost, of func(cost) time.Duration) float64 {
	all := make([]time.Duration, len(costs))
	for i, c := range costs {
		all[i] = of(c)
	}
	slices.Sort(all)
	return float64(all[len(all)/2])
}

// benchStore is a store with a board "b", on a Redis of its own that keeps all in
// memory.
func benchStore(b *testing.B) (redis.UniversalClient, *Store) {
	rdb := must(Open(redistest.Start(b, redistest.InMemory...).URL()))(b)
	b.Cleanup(func() { rdb.Close() })
	s := New(rdb, Config{})
	require.NoError(b, s.Define(context.Background(), definition.Set{Boards: []definition.Board{{Name: "b"}}}))
	return rdb, s
}

const benchMembers = 100_000

func benchUpdate(n uint64) definition.Update {
	return definition.Update{Member: fmt.Sprintf("member-%06d", rand.IntN(benchMembers)), Score: 1 + rand.Int64N(100),
		ID: fmt.Sprintf("request-%d", n)}
}

// BenchmarkApply compares apply.lua with bare ZINCRBY of as many updates in a
// pipeline, in turns in one run, on boards of 100,000 members. Medians of
// the turns: Redis CPU and updates a second of one connection for each, and
// their ratio. All updates have request ids.
func BenchmarkApply(b *testing.B) {
	rdb, s := benchStore(b)
	var requests atomic.Uint64
	apply := func(batch []definition.Update) {
		items, outcomes := make([]updateItem, len(batch)), make([]Outcome, len(batch))
		to := targetOf(b, s, "b")
		for i, u := range batch {
			items[i] = updateItem{write{Update: u}, to, &outcomes[i]}
		}
		require.NoError(b, s.applyBatch(context.Background(), "b", items, nil))
	}
	zincrby := func(batch []definition.Update) {
		pipe := rdb.Pipeline()
		for _, u := range batch {
			pipe.ZIncrBy(context.Background(), "plain", float64(u.Score), u.Member)
		}
		must(pipe.Exec(context.Background()))(b)
	}
	for i := 0; i < benchMembers; i += 100 {
		batch := make([]definition.Update, 100)
		for j := range batch {
			batch[j] = definition.Update{Member: fmt.Sprintf("member-%06d", i+j), Score: rand.Int64N(1_000_000)}
		}
		apply(batch)
		zincrby(batch)
	}
	for _, size := range []int{1, 16, 128} {
		b.Run(fmt.Sprintf("batch=%d", size), func(b *testing.B) {
			const turn = 4096 // updates; reading the CPU costs Redis next to nothing beside them
			var scripted, bare []cost
			measure := func(what func([]definition.Update), costs *[]cost) {
				batches := make([][]definition.Update, turn/size)
				for i := range batches {
					batches[i] = make([]definition.Update, size)
					for j := range batches[i] {
						batches[i][j] = benchUpdate(requests.Add(1))
					}
				}
				*costs = append(*costs, costOf(b, rdb, func() {
					for _, batch := range batches {
						what(batch)
					}
				}))
			}
			for b.Loop() {
				measure(apply, &scripted)
				measure(zincrby, &bare)
			}
			cpu := func(c cost) time.Duration { return c.redis }
			wall := func(c cost) time.Duration { return c.wall }
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(median(scripted, cpu)/turn/1e3, "redis-µs/update")
			b.ReportMetric(median(bare, cpu)/turn/1e3, "redis-µs/ZINCRBY")
			b.ReportMetric(median(scripted, cpu)/median(bare, cpu), "x-ZINCRBY")
			b.ReportMetric(turn*1e9/median(scripted, wall), "updates/s")
			b.ReportMetric(turn*1e9/median(bare, wall), "ZINCRBY/s")
		})
	}
	// What many callers get, each with one update at a time: group commit makes the batches.
	b.Run("callers=512", func(b *testing.B) {
		b.SetParallelism(256)
		took := costOf(b, rdb, func() {
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if _, err := s.Apply(context.Background(), "b", []definition.Update{benchUpdate(requests.Add(1))}); err != nil {
						b.Error(err)
					}
				}
			})
		})
		b.ReportMetric(float64(took.redis.Microseconds())/float64(b.N), "redis-µs/update")
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "updates/s")
	})
}

// BenchmarkPlaces measures how long one call holds Redis that looks up as many
// members at random as it may, on a board of a million: places alone, and with
// neighbours. Medians of the turns.
func BenchmarkPlaces(b *testing.B) {
	const members = 1_000_000
	rdb, s := benchStore(b)
	for i := 0; i < members; i += 1000 {
		batch := make([]definition.Update, 1000)
		for j := range batch {
			batch[j] = definition.Update{Member: fmt.Sprintf("member-%06d", i+j), Score: rand.Int64N(1_000_000)}
		}
		must(s.Apply(context.Background(), "b", batch))(b)
	}
	for _, around := range []int{0, 2, 20, MaxAround} {
		most := min(MaxLookups, MaxLookupRows/Lookup{Around: around}.Rows())
		b.Run(fmt.Sprintf("members=%d/around=%d", most, around), func(b *testing.B) {
			const turn = 50 // calls
			var costs []cost
			for b.Loop() {
				costs = append(costs, costOf(b, rdb, func() {
					for range turn {
						lookups := make([]Lookup, most)
						for i := range lookups {
							lookups[i] = Lookup{Member: fmt.Sprintf("member-%06d", rand.IntN(members)), Around: around}
						}
						must(s.Places(context.Background(), "b", lookups))(b)
					}
				}))
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(median(costs, func(c cost) time.Duration { return c.redis })/turn/1e6, "redis-ms/call")
		})
	}
}
