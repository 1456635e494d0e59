package ranking

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
)

// historyChurn is how the first entries of a board change from one step to the next.
type historyChurn struct {
	name   string
	change func(step int, gifts int64) []definition.Update // on each board; gifts: points that a member gets in a step
}

var historyChurns = []historyChurn{
	{"none", func(int, int64) []definition.Update { return nil }},
	{"below", func(step int, _ int64) []definition.Update { // seq rises, the first ten stay
		return []definition.Update{{Member: fmt.Sprint("viewer-", 1000+step%10), Score: 1}}
	}},
	{"one", func(step int, gifts int64) []definition.Update {
		return []definition.Update{{Member: fmt.Sprint("viewer-", rand.IntN(12)), Score: 1 + rand.Int64N(10*gifts)}}
	}},
	{"all", func(step int, gifts int64) (updates []definition.Update) {
		for i := range 12 {
			updates = append(updates, definition.Update{Member: fmt.Sprint("viewer-", i), Score: 1 + rand.Int64N(gifts)})
		}
		return updates
	}},
}

// BenchmarkHistory measures the Redis CPU of a look at each of 1,000 boards, and of the step that it records. It looks
// without waiting. For comparison, bare is a ZRANGE of the first ten entries of each board, in the same pipelines.
func BenchmarkHistory(b *testing.B) {
	const boards, rounds = 1000, 30
	for _, step := range []time.Duration{10 * time.Second, time.Minute} {
		for _, churn := range historyChurns {
			b.Run(fmt.Sprint(step, "/", churn.name), func(b *testing.B) {
				rdb := must(Open(redistest.Start(b, redistest.InMemory...).URL()))(b)
				defer rdb.Close()
				s := New(rdb, Config{})
				defer s.Close()
				require.NoError(b, s.Define(b.Context(), definition.Set{Boards: []definition.Board{{Name: "h:{x}", History: step}}}))
				apply := func(updates []definition.Update) {
					if len(updates) == 0 {
						return
					}
					for some := 0; some < boards; some += 50 {
						names := make([]string, 50)
						for i := range names {
							names[i] = fmt.Sprint("h:", some+i)
						}
						require.NoError(b, atOnce(names, func(name string) error {
							return errorOf(s.Apply(context.Background(), name, updates))
						}))
					}
				}
				var first []definition.Update
				for i := range 30 {
					first = append(first, definition.Update{Member: fmt.Sprint("viewer-", i), Score: 1_000_000 - int64(i)*20_000})
				}
				apply(first)
				looks := make([]*historyLook, boards)
				rule := must(s.compiledNamed(b.Context(), "h:0"))(b)
				var ours, bare []cost
				for b.Loop() {
					for round := range rounds {
						apply(churn.change(round, int64(50*step/time.Second)))
						ours = append(ours, costOf(b, rdb, func() {
							for i := range looks {
								looks[i] = s.newHistoryLook(fmt.Sprint("h:", i), rule, rule.CurrentPeriod(0))
							}
							for some := range slices.Chunk(looks, historyAtOnce) {
								s.record(context.Background(), some)
							}
						}))
						bare = append(bare, costOf(b, rdb, func() {
							for some := range slices.Chunk(looks, historyAtOnce) {
								pipe := rdb.Pipeline()
								for _, l := range some {
									pipe.ZRangeWithScores(context.Background(), l.keys.Members, 0, 9)
								}
								_, err := pipe.Exec(context.Background())
								require.NoError(b, err)
							}
						}))
						for _, l := range looks {
							require.NoError(b, l.err)
							require.Equal(b, looked, l.outcome)
						}
					}
				}
				measured(b, "look", "board", ours, boards, false)
				measured(b, "bare", "board", bare, boards, false)
				used := func(c cost) time.Duration { return c.redis }
				b.ReportMetric(median(ours, used)/median(bare, used), "ratio")
			})
		}
	}
}

// BenchmarkHistorySize measures the memory of a history of 5,000 steps, by a clock that goes on by a step at each look:
// all keys together by step, and the members by member. It also measures the Redis CPU of a read of 500 steps.
func BenchmarkHistorySize(b *testing.B) {
	const steps = 5000
	for _, step := range []time.Duration{10 * time.Second, time.Minute} {
		for _, churn := range historyChurns[2:] {
			b.Run(fmt.Sprint(step, "/", churn.name), func(b *testing.B) {
				w := simulatedRedis(b, 1, Config{}, definition.Board{Name: "b", History: step})
				s := w.stores[0]
				update := func(updates []definition.Update) {
					must(s.Apply(context.Background(), "b", updates))(b)
				}
				for i := range 30 {
					update([]definition.Update{{Member: fmt.Sprint("viewer-", i), Score: 1_000_000 - int64(i)*20_000}})
				}
				rule, err := s.compiledNamed(b.Context(), "b")
				require.NoError(b, err)
				for b.Loop() {
					for i := range steps {
						update(churn.change(i, int64(50*step/time.Second)))
						w.pass(step)
						l := s.newHistoryLook("b", rule, rule.CurrentPeriod(0))
						s.record(context.Background(), []*historyLook{l})
						require.NoError(b, l.err)
					}
				}
				k := s.keys.Board("b", "").History()
				size := func(keys ...string) (bytes float64) {
					for _, key := range keys {
						n := must(w.rdb.MemoryUsage(b.Context(), key, 0).Result())(b)
						bytes += float64(n)
					}
					return bytes
				}
				stored, members := float64(w.rdb.XLen(b.Context(), k.Steps).Val()), float64(w.rdb.HLen(b.Context(), k.Names).Val())
				b.ReportMetric(size(k.All()...)/stored, "bytes/step")
				b.ReportMetric(size(k.Names, k.Numbers)/members, "bytes/member")
				b.ReportMetric(stored, "steps")
				var reads []cost
				for range 5 {
					const calls = 20
					took := costOf(b, w.rdb, func() {
						for range calls {
							must(s.History(context.Background(), "b", HistoryQuery{Limit: 500}))(b)
						}
					})
					reads = append(reads, cost{redis: took.redis / calls})
				}
				b.ReportMetric(median(reads, func(c cost) time.Duration { return c.redis })/1e3, "redis-µs/read")
			})
		}
	}
}
