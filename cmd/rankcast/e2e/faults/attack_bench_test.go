package faults

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/procfs"
	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server/client"
	"rankcast/server/servertest"
)

// attackTime is the time that a benchmark measures, from the first message of the attack on.
const attackTime = 10 * time.Second

// attackLimits are the flags of the two nodes that each attack meets.
var attackLimits = []struct {
	name string
	args []string
}{
	{"limits=off", []string{"--max-subscriptions", "0", "--message-rate", "0", "--max-address-sockets", "0", "--address-rate", "0",
		"--max-sockets", "0",
		"--handshake-rate", "0", "--max-exports", "0", "--max-waiting-mb", "0", "--max-watched-boards", "0"}},
	{"limits=default", nil},
}

// startAttacked starts a node as a process of its own. It takes the header of the attackers for that of a
// proxy, so that the limits of an address apply to them.
func startAttacked(b *testing.B, r *redistest.Redis, boards string, limits []string) *e2etest.Process {
	p := e2etest.Launch(b, append([]string{"--redis", r.URL(), "--boards", e2etest.Write(b, "boards.yaml", boards), "--trusted-proxies",
		"loopback"}, limits...)...)
	p.Ready()
	return p
}

// attackProcess is the process of the attackers as a benchmark sees it.
type attackProcess struct {
	b   *testing.B
	in  io.WriteCloser // its end ends the process
	out *bufio.Scanner
}

// startAttack connects the attackers of a kind to a node.
func startAttack(b *testing.B, kind string, p *e2etest.Process) *attackProcess {
	in, out := servertest.StartClients(b, fmt.Sprintf("%s=%s %s", attackEnv, kind, p.Addr))
	return &attackProcess{b, in, out}
}

// snapshots is the number of snapshots that the attackers have got. The first call begins the attack.
func (a *attackProcess) snapshots() int64 {
	fmt.Fprintln(a.in)
	require.True(a.b, a.out.Scan())
	n, err := strconv.ParseInt(a.out.Text(), 10, 64)
	require.NoError(a.b, err)
	return n
}

// beside is what watchers, and Redis, notice of an attack.
type beside struct {
	took, firstSecond []time.Duration // from an update to its frame; of those sent in the first second
	subscribed        []time.Duration // from a subscription to its snapshot
	snapshots         int64           // to the attackers
	pages             int64           // that Redis has read
	redisCPU          time.Duration   // of Redis, for all its clients
	memory            int64           // that the node had in memory at the most, in bytes
	span              time.Duration   // of the measurement
}

// BenchmarkWatcherBesideAttack measures how long a watcher waits for its own change while attackers use
// the same node, which is a process of its own. Twenty watchers, each with a board of its own, change
// it by HTTP five times a second. One more client subscribes to boards without other watchers.
//
// The attackers of "subscribe" and "loop" watch boards without any update; those of "pages" watch boards
// of 1,000 members, and those of "rename" 10,000 boards that all show a member whose name changes.
// "rollover" writes to 4,000 watched boards with periods of a second. The others send as fast as the node
// reads: bodies of many pieces, headers of many fields, large batches, frames that continue a message.
//
// pages/s are the boards that Redis reads a second, and snapshots/s those that reach the attackers.
// redis-cpu-% is the CPU time of Redis in percent of the time, with what the watchers cost.
func BenchmarkWatcherBesideAttack(b *testing.B) {
	b.Run("none", func(b *testing.B) { benchmarkBeside(b, "", nil) })
	for _, kind := range []string{"subscribe", "loop", "pages", "rename", "rollover", "chunks", "fields", "updates", "continue"} {
		for _, limits := range attackLimits {
			b.Run(kind+"/"+limits.name, func(b *testing.B) { benchmarkBeside(b, kind, limits.args) })
		}
	}
}

func benchmarkBeside(b *testing.B, kind string, limits []string) {
	var all beside
	for b.Loop() {
		one := watchersBeside(b, kind, limits)
		all.took, all.firstSecond = append(all.took, one.took...), append(all.firstSecond, one.firstSecond...)
		all.subscribed = append(all.subscribed, one.subscribed...)
		all.snapshots, all.pages = all.snapshots+one.snapshots, all.pages+one.pages
		all.memory = max(all.memory, one.memory)
		all.redisCPU, all.span = all.redisCPU+one.redisCPU, all.span+one.span
	}
	slices.Sort(all.took)
	slices.Sort(all.firstSecond)
	slices.Sort(all.subscribed)
	ms := func(sorted []time.Duration, percent int) float64 {
		return float64(sorted[(len(sorted)-1)*percent/100].Microseconds()) / 1e3
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(ms(all.took, 50), "p50-ms")
	b.ReportMetric(ms(all.took, 99), "p99-ms")
	b.ReportMetric(ms(all.took, 100), "max-ms")
	b.ReportMetric(ms(all.firstSecond, 99), "first-second-p99-ms")
	b.ReportMetric(ms(all.subscribed, 99), "subscribe-p99-ms")
	b.ReportMetric(float64(all.snapshots)/all.span.Seconds(), "snapshots/s")
	b.ReportMetric(float64(all.pages)/all.span.Seconds(), "pages/s")
	b.ReportMetric(float64(all.memory)/1e6, "peak-MB")
	b.ReportMetric(100*all.redisCPU.Seconds()/all.span.Seconds(), "redis-cpu-%")
}

func watchersBeside(b *testing.B, kind string, limits []string) (m beside) {
	const watchers = 20
	r := redistest.Start(b, redistest.InMemory...)
	boards := "boards:\n  \"fam:{f}\": {}\n  \"renamed:{f}\": {kind: renamed}\n  \"rolls:{f}\": {period: 1s, base: " +
		"\"2026-01-01T00:00:00Z\", keep: 1}\n"
	for i := range watchers {
		boards += fmt.Sprintf("  v%d: {mode: last}\n", i)
	}
	for i := range pagesBoards {
		boards += fmt.Sprintf("  p%d: {}\n", i)
	}
	p := startAttacked(b, r, boards, limits)
	switch kind {
	case "pages":
		fillPages(b, r)
	case "rename":
		fillRenamed(b, r)
	}
	sender := newClient(b, p.Addr)
	sockets := make([]*servertest.Socket, watchers)
	for i := range sockets {
		sockets[i] = servertest.Dial(b, p.Addr)
		sockets[i].Subscribe(fmt.Sprint("v", i), 10)
	}
	time.Sleep(200 * time.Millisecond) // the first change of a board does not come within an interval of its snapshot
	counted := func() int64 { return 0 }
	if kind != "" {
		attack := startAttack(b, kind, p)
		defer attack.in.Close()
		counted = attack.snapshots
	}
	stats := redisStats(b, r)
	snapshots := counted()
	began := time.Now()
	var mu sync.Mutex
	var wg sync.WaitGroup
	for i, s := range sockets {
		wg.Go(func() {
			time.Sleep(rand.N(200 * time.Millisecond)) // the watchers do not change their boards together
			for score := int64(1); time.Since(began) < attackTime; score++ {
				start := time.Now()
				changeAndSee(b, sender, s, fmt.Sprint("v", i), score)
				d := time.Since(start)
				mu.Lock()
				if m.took = append(m.took, d); start.Sub(began) < time.Second {
					m.firstSecond = append(m.firstSecond, d)
				}
				mu.Unlock()
				time.Sleep(max(0, 200*time.Millisecond-d))
			}
		})
	}
	wg.Go(func() {
		s := servertest.Dial(b, p.Addr)
		for i := 0; time.Since(began) < attackTime; i++ {
			start, board := time.Now(), fmt.Sprint("fam:new", i) // which nobody watches
			s.Subscribe(board, 10)
			m.subscribed = append(m.subscribed, time.Since(start))
			s.Send(`{"type":"unsubscribe","board":"%s"}`, board)
			time.Sleep(200 * time.Millisecond)
		}
	})
	wg.Wait()
	m.span = time.Since(began)
	m.snapshots = counted() - snapshots
	now := redisStats(b, r)
	m.memory = int64(memoryOf(p).VmHWM)
	m.pages, m.redisCPU = now.pages-stats.pages, now.cpu-stats.cpu
	p.Kill()
	return m
}

// changeAndSee changes the score of the board's only member, and waits until the socket shows it.
func changeAndSee(b *testing.B, sender *client.Client, s *servertest.Socket, board string, score int64) {
	_, err := sender.Update(b.Context(), board, client.Update{Member: "m", Score: score})
	require.NoError(b, err)
	for s.Boards[board] == nil || len(s.Boards[board].Top) == 0 || s.Boards[board].Top[0].Score != score {
		_, err := s.Read()
		require.NoError(b, err)
	}
}

// fillPages gives the boards of the attack "pages" their members.
func fillPages(b *testing.B, r *redistest.Redis) {
	store := e2etest.OpenStore(b, r.URL())
	for k := range pagesBoards {
		var updates []definition.Update
		for i := range attackRows {
			updates = append(updates, definition.Update{Member: fmt.Sprintf("member-%03d", i), Score: int64(i)})
		}
		_, err := store.Apply(b.Context(), fmt.Sprint("p", k), updates)
		require.NoError(b, err)
	}
}

// fillRenamed gives the boards of the attack "rename" their member.
func fillRenamed(b *testing.B, r *redistest.Redis) {
	store := e2etest.OpenStore(b, r.URL())
	for i := range renameSockets {
		for k := range renameBoards {
			_, err := store.Apply(b.Context(), fmt.Sprintf("renamed:f%d_%d", i, k), []definition.Update{{Member: "m", Score: 1}})
			require.NoError(b, err)
		}
	}
}

// redisStat is what Redis has done so far.
type redisStat struct {
	pages int64
	cpu   time.Duration
}

// redisStats reads what Redis has done so far.
func redisStats(b *testing.B, r *redistest.Redis) (s redisStat) {
	info, err := r.Admin().Info(b.Context(), "commandstats", "cpu").Result()
	require.NoError(b, err)
	value := func(name string) float64 {
		_, rest, _ := strings.Cut(info, name)
		n, _ := strconv.ParseFloat(rest[:max(0, strings.IndexAny(rest, ",\r"))], 64) // 0: not called yet
		return n
	}
	// The script that reads a page calls ZRANGE once on these boards, and no other one does.
	s.pages = int64(value("cmdstat_zrange:calls="))
	s.cpu = time.Duration((value("used_cpu_user:") + value("used_cpu_sys:")) * float64(time.Second))
	return s
}

// BenchmarkSlowSocketsMemory measures the memory that slow sockets hold: 80 that read a little every
// 4 s, each with a top of its own, on 20 boards of 1,000 long rows that all change. The node is a process
// of its own. peak-MB is its most resident memory during ten seconds, less that before the attack.
func BenchmarkSlowSocketsMemory(b *testing.B) {
	for _, limits := range attackLimits {
		b.Run(limits.name, func(b *testing.B) {
			var most []int64
			for b.Loop() {
				most = append(most, slowSocketsMemory(b, limits.args))
			}
			slices.Sort(most)
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(most[len(most)/2])/1e6, "peak-MB")
		})
	}
}

func slowSocketsMemory(b *testing.B, limits []string) (bytes int64) {
	r := redistest.Start(b, redistest.InMemory...)
	boards := "boards:\n"
	for k := range slowBoards {
		boards += fmt.Sprintf("  b%d: {mode: last}\n", k)
	}
	p := startAttacked(b, r, boards, limits)
	store := e2etest.OpenStore(b, r.URL())
	long := strings.Repeat("x", 100)
	data := `"` + strings.Repeat("x", 250) + `"`
	change := func(k int) {
		var updates []definition.Update
		for i := range attackRows {
			updates = append(updates, definition.Update{Member: fmt.Sprintf("m%03d-%s", i, long), Score: rand.Int64N(1e9), Data: data})
		}
		outcomes, err := store.Apply(b.Context(), fmt.Sprint("b", k), updates)
		require.NoError(b, err)
		for _, o := range outcomes {
			require.NoError(b, o.Err)
		}
	}
	before := int64(memoryOf(p).VmRSS)
	resetPeakMemory(p)
	defer startAttack(b, "slow", p).in.Close()
	for began := time.Now(); time.Since(began) < attackTime; {
		for k := range slowBoards {
			change(k)
		}
	}
	peak := int64(memoryOf(p).VmHWM)
	p.Kill()
	return peak - before
}

// memoryOf is the memory of a process: VmRSS is its resident memory, and VmHWM the most so far, in bytes.
func memoryOf(p *e2etest.Process) procfs.ProcStatus {
	status, err := processOf(p).NewStatus()
	require.NoError(p.T, err)
	return status
}

// processOf is what the system knows of a process.
func processOf(p *e2etest.Process) procfs.Proc {
	process, err := procfs.NewProc(p.Cmd.Process.Pid)
	require.NoError(p.T, err)
	return process
}

// resetPeakMemory makes VmHWM start again from the present memory (proc(5), clear_refs).
func resetPeakMemory(p *e2etest.Process) {
	require.NoError(p.T, os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", p.Cmd.Process.Pid), []byte("5"), 0))
}
