package ranking

import (
	"context"
	crand "crypto/rand"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
)

// windowEvents is how many events a window has, by a tenth as many members;
// RANKCAST_WINDOW_EVENTS overrides it.
const windowEvents = 1_000_000

// BenchmarkWindow measures windows of three hours with a million events by 100,000
// members, spread over the three hours, on a board that is built and on a live one:
//   - events: what an event takes in Redis, tallies and members among it;
//   - nothing, first, again: building, beside doing nothing, see buildWatch;
//   - update: what an update costs Redis beside one of a board without a window, in turns;
//   - sweep: two thirds of all events are over at once, as the window is made shorter.
func BenchmarkWindow(b *testing.B) {
	events := windowEvents
	if n, err := strconv.Atoi(os.Getenv("RANKCAST_WINDOW_EVENTS")); err == nil {
		events = n
	}
	members := events / 10
	eye := newBuildWatch(b)
	s, rdb, patient, ctx := eye.store, eye.store.rdb, eye.patient, context.Background()
	window := func(board string, hours int, refresh time.Duration) definition.Board {
		return definition.Board{Name: board, Window: time.Duration(hours) * time.Hour, Refresh: refresh}
	}
	built, live := window("built", 3, 0), window("live", 3, definition.Live)
	require.NoError(b, s.Define(ctx, definition.Set{Boards: []definition.Board{built, live, {Name: "plain"}}}))
	member := func() string { return fmt.Sprint("m", rand.IntN(members)) }
	fill := func(board string, windowed bool) int64 {
		before := memoryOf(b, patient).used
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for range events / 4 / 1000 {
					batch := make([]definition.Update, 1000)
					for i := range batch {
						batch[i] = definition.Update{Member: member(), Score: 1 + rand.Int64N(100)}
						if windowed {
							// a while short of the window, so that none is over too soon
							batch[i].At = s.Now().Add(-time.Duration(rand.Int64N(int64(170 * time.Minute)))).Truncate(time.Millisecond)
						}
					}
					must(s.Apply(ctx, board, batch))(b)
				}
			})
		}
		wg.Wait()
		return memoryOf(b, patient).used - before
	}
	bytes := map[string]int64{"built": fill("built", true), "live": fill("live", true)}
	fill("plain", false)

	b.Run("events", func(b *testing.B) {
		for range b.N {
		}
		b.ReportMetric(0, "ns/op")
		for board, n := range bytes {
			b.ReportMetric(float64(n)/float64(events), board+"-bytes/event")
		}
		n := must(patient.MemoryUsage(ctx, s.keys.Board("built", "").Window[0], 0).Result())(b)
		b.ReportMetric(float64(n)/float64(events), "set-bytes/event")
	})

	eye.boards, eye.members = []string{"built", "live", "plain"}, members
	read := func(board string, least int) {
		require.GreaterOrEqual(b, must(s.Page(ctx, board, 1, 1))(b).Total, int64(least))
	}
	build := func(seen int64) {
		w := s.builds.start("built", "built", seen, false)
		<-w.done
		require.NoError(b, w.err)
	}
	b.Run("nothing", func(b *testing.B) { eye.watch(b, func() { time.Sleep(time.Second) }) })
	b.Run("first", func(b *testing.B) { // there is no result yet
		k := s.keys.Board("built", "")
		eye.watch(b, func() {
			require.NoError(b, rdb.Unlink(ctx, k.Members).Err())
			require.NoError(b, rdb.HDel(ctx, k.Meta, "epoch", builtField, "from", "span").Err())
			build(0)
			read("built", members*9/10)
		})
	})
	b.Run("again", func(b *testing.B) {
		eye.watch(b, func() {
			seen := must(s.builtAt(ctx, s.keys.Board("built", "").Meta))(b)
			build(seen)
		})
	})

	updates := func(b *testing.B, size int, boards ...string) {
		const turn = 2048
		costs := make(map[string][]cost)
		for b.Loop() {
			for _, board := range boards {
				costs[board] = append(costs[board], costOf(b, rdb, func() {
					for range turn / size {
						items, outcomes := make([]updateItem, size), make([]Outcome, size)
						to := targetOf(b, s, board)
						for i := range items {
							items[i] = updateItem{write{Update: definition.Update{Member: member(), Score: 1 + rand.Int64N(100), ID: crand.Text()}},
								to, &outcomes[i]}
						}
						require.NoError(b, s.applyBatch(ctx, board, items, nil))
						require.NoError(b, outcomes[0].Err)
					}
				}))
			}
		}
		redis := func(c cost) time.Duration { return c.redis }
		b.ReportMetric(0, "ns/op")
		for _, board := range boards {
			b.ReportMetric(median(costs[board], redis)/turn/1e3, board+"-µs/update")
			if board != "plain" {
				b.ReportMetric(median(costs[board], redis)/median(costs["plain"], redis), board+"/plain")
			}
		}
	}
	for _, size := range []int{1, 16, windowItems} {
		b.Run(fmt.Sprintf("update/batch=%d", size), func(b *testing.B) { updates(b, size, "plain", "live", "built") })
	}

	// As the windows are shortened, two thirds of the events are over at once.
	shorten := func(hours int) {
		require.NoError(b, s.Define(ctx, definition.Set{Boards: []definition.Board{window("built", hours, 0),
			window("live", hours, definition.Live)}}))
	}
	for _, board := range []string{"live", "built"} {
		b.Run("sweep/"+board, func(b *testing.B) {
			shorten(1) // which it is the first time alone
			eye.watch(b, func() {
				w := s.startSweep(board)
				<-w.done
				require.NoError(b, w.err)
			})
		})
	}
}

// BenchmarkChurn measures a live window of 30 s when it is full, and again after eight times its length, as a day is to
// three hours: the memory of Redis an update in the window, and the CPU of Redis an update with its leaving. 6,000 updates a
// second come in batches of 100, from 180,000 members with names of 4 to 28 bytes. Six in ten members are in the window at a time, so
// each enters and leaves several times.
func BenchmarkChurn(b *testing.B) {
	const length, rate, size, day = 30 * time.Second, 6000, 100, 8
	ctx := context.Background()
	rdb, s := benchStore(b)
	b.Cleanup(s.Close)
	require.NoError(b, s.DefineBoard(ctx, definition.Board{Name: "live", Window: length, Refresh: definition.Live}, Moderator{}))
	members := make([]string, rate*int(length/time.Second))
	for i := range members {
		members[i] = fmt.Sprintf("%0*d", 4+rand.IntN(25), i)
	}
	pass := func(length time.Duration) {
		due := time.NewTicker(time.Second * size / rate)
		defer due.Stop()
		for range int(length.Seconds()) * rate / size {
			<-due.C
			batch := make([]definition.Update, size)
			for i := range batch {
				batch[i] = definition.Update{Member: members[rand.IntN(len(members))], Score: 1 + rand.Int64N(100)}
			}
			must(s.Apply(ctx, "live", batch))(b)
		}
	}
	for b.Loop() {
		empty := memoryOf(b, rdb)
		measure := func(when string) {
			n := must(rdb.ZCard(ctx, s.keys.Board("live", "").Window[0]).Result())(b)
			memoryOf(b, rdb).since(empty).report(b, when, "update", int(n))
		}
		pass(length)
		measure("full")
		c := costOf(b, rdb, func() { pass(day * length) })
		measure("day")
		b.ReportMetric(float64(c.redis.Microseconds())/(day*rate*length.Seconds()), "redis-µs/update")
	}
}
