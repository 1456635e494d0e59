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

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/script"
	"rankcast/ranking/redistest"
)

// buildWatch tells how Redis and updates fare while something is built. held-ms is the
// longest that Redis itself took for one command, ping-ms the longest that another
// connection waited, busy-ms that without what either side waited for a processor. On a
// machine with other work these three are the machine's: cpu-ms is the most time of a
// processor that Redis took between the question and the answer of one call of the build,
// and is to be below 5.
type buildWatch struct {
	redis   *redistest.Redis
	patient *redis.Client // whose calls may take long
	cpu     *cpuMeter
	store   *Store
	boards  []string // that are updated meanwhile
	members int      // m0, m1 and so on, by chance
}

// newBuildWatch starts a Redis that keeps all in memory.
func newBuildWatch(b *testing.B) *buildWatch {
	r := redistest.Start(b, redistest.InMemory...)
	rdb := must(Open(r.URL()))(b)
	options := must(redis.ParseURL(r.URL()))(b)
	options.Protocol, options.ReadTimeout = 2, 5*time.Minute
	w := &buildWatch{redis: r, patient: redis.NewClient(options), cpu: newCPUMeter(r), store: New(rdb, Config{})}
	rdb.AddHook(redistest.Hook(w.cpu.pass))
	b.Cleanup(func() {
		w.store.Close()
		rdb.Close()
		w.patient.Close()
	})
	return w
}

// watch runs something.
func (w *buildWatch) watch(b *testing.B, do func()) {
	ctx := context.Background()
	var holds, updates []time.Duration
	var h holding
	var took time.Duration
	clear(w.cpu.most)
	for range b.N {
		require.NoError(b, w.patient.ConfigSet(ctx, "slowlog-log-slower-than", "1000").Err())
		require.NoError(b, w.patient.ConfigSet(ctx, "slowlog-max-len", "100000").Err())
		require.NoError(b, w.patient.Do(ctx, "slowlog", "reset").Err())
		stop := make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() { require.NoError(b, h.pingAll(w.redis, stop)) })
		wg.Go(func() {
			tick := time.NewTicker(10 * time.Millisecond)
			defer tick.Stop()
			for {
				select {
				case <-stop:
					return
				case <-tick.C:
				}
				for _, board := range w.boards {
					began := time.Now()
					_, err := w.store.Apply(ctx, board, []definition.Update{{Member: fmt.Sprint("m", rand.IntN(w.members)), Score: 1}})
					if err != nil && time.Since(began) < w.store.cfg.CallTimeout {
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
		slow := must(w.patient.SlowLogGet(ctx, -1).Result())(b)
		held := time.Duration(0)
		by := make(map[string][]time.Duration)
		for _, l := range slow {
			if l.Args[0] != "slowlog" && l.Args[0] != "config" {
				held = max(held, l.Duration)
				name := w.cpu.nameOf(l.Args)
				by[name] = append(by[name], l.Duration)
			}
		}
		holds = append(holds, held)
		for name, took := range by {
			slices.Sort(took)
			n := len(took)
			over, _ := slices.BinarySearch(took, 5*time.Millisecond)
			b.Logf("%s: %d calls over 1ms, half of them over %v, 1%% over %v, %d over 5ms, the longest %v", name, n, took[n/2],
				took[n*99/100], n-over, took[n-1])
		}
	}
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	slices.Sort(updates)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(ms(slices.Max(holds)), "held-ms")
	w.cpu.report(b)
	b.ReportMetric(ms(h.ping), "ping-ms")
	b.ReportMetric(ms(h.busy), "busy-ms")
	b.ReportMetric(took.Seconds()/float64(b.N), "s")
	if n := len(updates); n > 0 {
		b.ReportMetric(ms(updates[n/2]), "update-p50-ms")
		b.ReportMetric(ms(updates[n*99/100]), "update-p99-ms")
		b.ReportMetric(ms(updates[n-1]), "update-max-ms")
	}
}

// cpuMeter is a hook that measures what Redis's process does for each call of a build.
type cpuMeter struct {
	pid  int
	mu   sync.Mutex
	most map[string]time.Duration // by script
	name map[string]string        // of the scripts that were called, by SHA-1
}

func newCPUMeter(r *redistest.Redis) *cpuMeter {
	return &cpuMeter{pid: r.Pid(), most: make(map[string]time.Duration), name: make(map[string]string)}
}

func (c *cpuMeter) pass(ctx context.Context, cmds []redis.Cmder, send redis.ProcessPipelineHook) error {
	name := cmp.Or(scriptOf(cmds[0]), cmds[0].Name())
	c.learn(cmds[0])
	if len(cmds) > 1 || name == script.ApplyPlain.Name {
		return send(ctx, cmds)
	}
	before := c.used()
	err := send(ctx, cmds)
	took := c.used() - before
	c.mu.Lock()
	defer c.mu.Unlock()
	c.most[name] = max(c.most[name], took)
	return err
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

// learn keeps the name of the script that a command calls.
func (c *cpuMeter) learn(cmd redis.Cmder) {
	if name := scriptOf(cmd); name != "" {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.name[fmt.Sprint(cmd.Args()[1])] = name
	}
}

// nameOf is the script of a command in the slow log, or the command.
func (c *cpuMeter) nameOf(args []string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(args) > 1 {
		return cmp.Or(c.name[args[1]], args[0])
	}
	return args[0]
}

// unionMembers is how many members each source has; RANKCAST_UNION_MEMBERS overrides it.
const unionMembers = 1_000_000

// BenchmarkUnion measures for how long Redis is held while a union over three boards of a
// million members is built, and what updates to these boards take meanwhile, 300 a second; beside
// ZUNIONSTORE of the same boards, and beside doing nothing, which tells how loaded the
// machine is; see buildWatch.
func BenchmarkUnion(b *testing.B) {
	members := unionMembers
	if n, err := strconv.Atoi(os.Getenv("RANKCAST_UNION_MEMBERS")); err == nil {
		members = n
	}
	eye := newBuildWatch(b)
	s, rdb, patient, cpu, ctx := eye.store, eye.store.rdb, eye.patient, eye.cpu, context.Background()
	sources := []string{"a", "b", "c"}
	boards := []definition.Board{{Name: "u", Union: &definition.Union{Of: sources, Weights: []int64{1, 2, 3}}}}
	for _, source := range sources {
		boards = append(boards, definition.Board{Name: source})
	}
	require.NoError(b, s.Define(ctx, definition.Set{Boards: boards}))
	zs := redis.ZStore{Weights: []float64{1, 2, 3}}
	for i, source := range sources {
		must(s.Apply(ctx, source, []definition.Update{{Member: "m0", Score: 1}}))(b)
		zs.Keys = append(zs.Keys, s.keys.Board(source, "").Members)
		fillSource(b, patient, zs.Keys[i], members, i*members/2) // half of them are on the next, too
	}

	eye.boards, eye.members = sources, 2*members
	aged := func() {
		require.NoError(b, rdb.HSet(ctx, s.keys.Board("u", "").Meta, builtField, 1).Err())
		s.builds.note("u", 0)
	}
	built := func() {
		require.GreaterOrEqual(b, must(s.Page(ctx, "u", 1, 1))(b).Total, int64(2*members))
	}
	b.Run("nothing", func(b *testing.B) { eye.watch(b, func() { time.Sleep(time.Second) }) })
	b.Run("first", func(b *testing.B) { // there is no result yet
		eye.watch(b, func() {
			require.NoError(b, s.deleteData(ctx, nil, "u", definition.Never))
			built()
		})
	})
	b.Run("again", func(b *testing.B) { eye.watch(b, func() { aged(); built() }) })
	b.Run("zunionstore", func(b *testing.B) {
		patient.AddHook(redistest.Hook(cpu.pass))
		eye.watch(b, func() { require.NoError(b, patient.ZUnionStore(ctx, "zu", &zs).Err()) })
		require.NoError(b, rdb.Unlink(ctx, "zu").Err())
	})
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
