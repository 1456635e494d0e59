package ranking

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
)

// unionMembers is how many members each source has; RANKCAST_UNION_MEMBERS overrides it.
const unionMembers = 1_000_000

// BenchmarkUnion measures for how long Redis is held while a union over three boards of a
// million members is built, and what updates to these boards take meanwhile, 300 a second; beside
// ZUNIONSTORE of the same boards, and beside doing nothing, which tells how loaded the
// machine is. held-ms is the longest that Redis itself took for one command, ping-ms the
// longest that another connection waited, busy-ms that without what either side waited
// for a processor. On a machine with other work these three are the machine's: cpu-ms is
// the most time of a processor that Redis took between the question and the answer of one
// call of the build, and is to be below 5.
func BenchmarkUnion(b *testing.B) {
	members := unionMembers
	if n, err := strconv.Atoi(os.Getenv("RANKCAST_UNION_MEMBERS")); err == nil {
		members = n
	}
	r := redistest.Start(b, redistest.InMemory...)
	rdb, err := Open(r.URL())
	require.NoError(b, err)
	b.Cleanup(func() { rdb.Close() })
	options, err := redis.ParseURL(r.URL())
	require.NoError(b, err)
	options.Protocol, options.ReadTimeout = 2, 5*time.Minute
	patient := redis.NewClient(options)
	defer patient.Close()
	cpu := &cpuMeter{pid: r.Pid()}
	rdb.AddHook(cpu)
	s := New(rdb, Config{})
	b.Cleanup(s.Close)
	ctx := context.Background()
	sources := []string{"a", "b", "c"}
	boards := []Definition{{Board: "u", Union: &Union{Of: sources, Weights: []int64{1, 2, 3}}}}
	for _, source := range sources {
		boards = append(boards, Definition{Board: source})
	}
	require.NoError(b, s.Define(ctx, Definitions{Boards: boards}))
	zs := redis.ZStore{Weights: []float64{1, 2, 3}}
	for i, source := range sources {
		_, err := s.Apply(ctx, source, []Update{{Member: "m0", Score: 1}})
		require.NoError(b, err)
		zs.Keys = append(zs.Keys, s.keys.board(source, "").members)
		fillSource(b, patient, zs.Keys[i], members, i*members/2) // half of them are on the next, too
	}

	// watched runs something, and tells how Redis and updates fare meanwhile.
	watched := func(b *testing.B, do func()) {
		var holds []time.Duration
		var updates []time.Duration
		var h holding
		var took time.Duration
		cpu.most = nil
		for range b.N {
			require.NoError(b, patient.ConfigSet(ctx, "slowlog-log-slower-than", "1000").Err())
			require.NoError(b, patient.ConfigSet(ctx, "slowlog-max-len", "100000").Err())
			require.NoError(b, patient.Do(ctx, "slowlog", "reset").Err())
			stop := make(chan struct{})
			var wg sync.WaitGroup
			wg.Go(func() { require.NoError(b, h.pingAll(r, stop)) })
			wg.Go(func() {
				tick := time.NewTicker(10 * time.Millisecond)
				defer tick.Stop()
				for i := 0; ; i++ {
					select {
					case <-stop:
						return
					case <-tick.C:
					}
					for _, source := range sources {
						began := time.Now()
						_, err := s.Apply(ctx, source, []Update{{Member: fmt.Sprint("m", rand.IntN(2*members)), Score: 1}})
						if err != nil && time.Since(began) < s.cfg.CallTimeout {
							b.Error(err)
						}
						updates = append(updates, time.Since(began))
					}
				}
			})
			began := time.Now()
			do()
			took += time.Since(began)
			close(stop)
			wg.Wait()
			slow, err := patient.SlowLogGet(ctx, -1).Result()
			require.NoError(b, err)
			held := time.Duration(0)
			by := make(map[string][]time.Duration)
			for _, l := range slow {
				if l.Args[0] != "slowlog" && l.Args[0] != "config" {
					held = max(held, l.Duration)
					name := cmp.Or(named(l.Args), l.Args[0])
					by[name] = append(by[name], l.Duration)
				}
			}
			holds = append(holds, held)
			for name, took := range by {
				slices.Sort(took)
				n := len(took)
				over, _ := slices.BinarySearch(took, 5*time.Millisecond)
				b.Logf("%s: %d calls over 1ms, half of them over %v, 1%% over %v, %d over 5ms, the longest %v", name, n, took[n/2], took[n*99/100], n-over, took[n-1])
			}
		}
		ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
		slices.Sort(updates)
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(ms(slices.Max(holds)), "held-ms")
		cpu.report(b)
		b.ReportMetric(ms(h.ping), "ping-ms")
		b.ReportMetric(ms(h.busy), "busy-ms")
		b.ReportMetric(took.Seconds()/float64(b.N), "s")
		if n := len(updates); n > 0 {
			b.ReportMetric(ms(updates[n*99/100]), "update-p99-ms")
			b.ReportMetric(ms(updates[n-1]), "update-max-ms")
		}
	}
	aged := func() {
		require.NoError(b, rdb.HSet(ctx, s.keys.board("u", "").meta, builtField, 1).Err())
		s.builds.note("u", 0)
	}
	built := func() {
		p, err := s.Page(ctx, "u", 1, 1)
		require.NoError(b, err)
		require.GreaterOrEqual(b, p.Total, int64(2*members))
	}
	b.Run("nothing", func(b *testing.B) { watched(b, func() { time.Sleep(time.Second) }) })
	b.Run("first", func(b *testing.B) { // there is no result yet
		watched(b, func() {
			require.NoError(b, s.takeDown(ctx, "u", never))
			built()
		})
	})
	b.Run("again", func(b *testing.B) { watched(b, func() { aged(); built() }) })
	b.Run("zunionstore", func(b *testing.B) {
		patient.AddHook(cpu)
		watched(b, func() { require.NoError(b, patient.ZUnionStore(ctx, "zu", &zs).Err()) })
		require.NoError(b, rdb.Unlink(ctx, "zu").Err())
	})
}

// cpuMeter is a hook that measures what Redis's process does for each call of a build.
type cpuMeter struct {
	pid  int
	mu   sync.Mutex
	most map[string]time.Duration // by script
}

func (c *cpuMeter) DialHook(next redis.DialHook) redis.DialHook { return next }

func (c *cpuMeter) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (c *cpuMeter) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		name := cmp.Or(scriptOf(cmd), cmd.Name())
		if name == applyScript.name {
			return next(ctx, cmd)
		}
		before := c.used()
		err := next(ctx, cmd)
		took := c.used() - before
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.most == nil {
			c.most = make(map[string]time.Duration)
		}
		c.most[name] = max(c.most[name], took)
		return err
	}
}

// used is the time of a processor that the process has had so far.
func (c *cpuMeter) used() time.Duration {
	const ofProcess = 2 // CPUCLOCK_SCHED of clock_getcpuclockid(3)
	var t syscall.Timespec
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, uintptr(^c.pid<<3|ofProcess), uintptr(unsafe.Pointer(&t)), 0)
	return time.Duration(t.Nano())
}

func (c *cpuMeter) report(b *testing.B) {
	c.mu.Lock()
	defer c.mu.Unlock()
	most := time.Duration(0)
	for name, took := range c.most {
		most = max(most, took)
		b.Logf("%s: %v of a processor at most", name, took)
	}
	b.ReportMetric(float64(most.Microseconds())/1000, "cpu-ms")
}

// named is the script of a command in the slow log; "" for none.
func named(args []string) string {
	call := make([]any, len(args))
	for i, a := range args {
		call[i] = a
	}
	return scriptOf(redis.NewCmd(context.Background(), call...))
}

// fillSource fills a set with members m<from>, m<from+1> and so on.
func fillSource(b *testing.B, rdb *redis.Client, key string, members, from int) {
	const some = 1000
	for i := 0; i < members; i += some {
		rows := make([]redis.Z, 0, some)
		for j := range min(some, members-i) {
			rows = append(rows, redis.Z{Member: fmt.Sprint("m", from+i+j), Score: -float64(rand.IntN(1_000_000)) + rand.Float64()/2})
		}
		require.NoError(b, rdb.ZAdd(context.Background(), key, rows...).Err())
	}
}
