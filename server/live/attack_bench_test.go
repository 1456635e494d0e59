package live_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/hub"
	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server"
	"rankcast/server/access"
	"rankcast/server/servertest"
)

// attackEnv makes this test binary a process of clients that mean harm: see attack.
const attackEnv = "RANKCAST_ATTACK"

// unlimited lets the attackers send as many messages as they like: what the hub makes of them is measured.
var unlimited = servertest.Config{Server: server.Config{Limits: access.Config{Messages: access.Unlimited}}}

const (
	attackSockets = 400
	attackBoards  = 100 // of a socket
	slowSockets   = 80
	slowBoards    = 20
)

// attack opens the sockets of an attack, and begins it at the first line on stdin.
func attack(spec string) {
	kind, addr, _ := strings.Cut(spec, " ")
	begin := make(chan struct{})
	switch kind {
	case "subscribe": // each socket subscribes to boards without any update
		for i := range attackSockets {
			write := attacker(i, addr)
			go func() {
				<-begin
				for k := range attackBoards {
					write(fmt.Sprintf(`{"type":"subscribe","board":"fam:f%d_%d","top":0}`, i, k))
				}
			}()
		}
	case "loop": // five sockets subscribe and unsubscribe as fast as they are answered
		for i := range 5 {
			write := attacker(i, addr)
			go func() {
				<-begin
				for k := 0; ; k++ {
					write(fmt.Sprintf(`{"type":"subscribe","board":"fam:f%d_%d","top":0}`, i, k%3000))
					write(fmt.Sprintf(`{"type":"unsubscribe","board":"fam:f%d_%d"}`, i, k%3000))
				}
			}()
		}
	case "slow": // each socket watches all boards with a top of its own, and then reads a little every 4 s
		var watching sync.WaitGroup
		for i := range slowSockets {
			conn, r := dialNumber(i, addr)
			conn.(*net.TCPConn).SetReadBuffer(4 << 10)
			shake(conn, r, addr, "")
			for k := range slowBoards {
				conn.Write(clientFrame(fmt.Sprintf(`{"type":"subscribe","board":"b%d","top":%d}`, k, 1000-i)))
			}
			watching.Go(func() {
				for snapshots := 0; snapshots < slowBoards; {
					frame, err := readFrame(r)
					if err != nil {
						panic(err)
					}
					if strings.HasPrefix(string(frame), `{"type":"snapshot"`) {
						snapshots++
					}
				}
				go func() {
					for range time.Tick(4 * time.Second) {
						r.Discard(r.Size())
					}
				}()
			})
		}
		watching.Wait()
	}
	fmt.Println("ready")
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		close(begin)
	}
}

// attacker opens a socket that reads all frames. write sends a message.
func attacker(i int, addr string) (write func(message string)) {
	conn, r := dialNumber(i, addr)
	shake(conn, r, addr, "")
	go eachFrame(r, func([]byte) {})
	return func(message string) { conn.Write(clientFrame(message)) }
}

// BenchmarkWatcherBesideAttack measures how long a watcher waits for its own change while other
// clients of the node subscribe to boards without any update. Twenty watchers, each with a
// board of its own, change it five times a second. A run takes ten seconds, from the first message
// of the attack on.
func BenchmarkWatcherBesideAttack(b *testing.B) {
	for _, kind := range []string{"none", "subscribe", "loop"} {
		b.Run(kind, func(b *testing.B) {
			var took, first []time.Duration
			for b.Loop() {
				all, early := watchersBeside(b, kind)
				took, first = append(took, all...), append(first, early...)
			}
			slices.Sort(took)
			slices.Sort(first)
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(median(took)/1e6, "p50-ms")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1e3, "p99-ms")
			b.ReportMetric(float64(took[len(took)-1].Microseconds())/1e3, "max-ms")
			b.ReportMetric(float64(first[len(first)*99/100].Microseconds())/1e3, "first-second-p99-ms")
		})
	}
}

func watchersBeside(b *testing.B, kind string) (took, firstSecond []time.Duration) {
	const watchers = 20
	r := redistest.Start(b, redistest.InMemory...)
	boards := []definition.Board{{Name: "fam:{f}"}}
	for i := range watchers {
		boards = append(boards, definition.Board{Name: fmt.Sprint("v", i), Mode: definition.Last})
	}
	n := servertest.Start(b, r.URL(), unlimited, boards...)
	sockets := make([]*servertest.Socket, watchers)
	for i := range sockets {
		sockets[i] = servertest.Dial(b, n.Addr)
		sockets[i].Subscribe(fmt.Sprint("v", i), 10)
	}
	time.Sleep(200 * time.Millisecond) // the first change of a board does not come within an interval of its snapshot
	var mu sync.Mutex
	var wg sync.WaitGroup
	if kind != "none" {
		in, _ := startSelf(b, fmt.Sprintf("%s=%s %s", attackEnv, kind, n.Addr))
		fmt.Fprintln(in)
	}
	began := time.Now()
	for i, s := range sockets {
		wg.Go(func() {
			time.Sleep(rand.N(200 * time.Millisecond)) // the watchers do not change their boards together
			board := fmt.Sprint("v", i)
			for score := int64(1); time.Since(began) < 10*time.Second; score++ {
				start := time.Now()
				_, err := n.Store.Apply(context.Background(), board, []definition.Update{{Member: "m", Score: score}})
				require.NoError(b, err)
				for s.Boards[board] == nil || len(s.Boards[board].Top) == 0 || s.Boards[board].Top[0].Score != score {
					_, err := s.Read()
					require.NoError(b, err)
				}
				d := time.Since(start)
				mu.Lock()
				if took = append(took, d); start.Sub(began) < time.Second {
					firstSecond = append(firstSecond, d)
				}
				mu.Unlock()
				time.Sleep(max(0, 200*time.Millisecond-d))
			}
		})
	}
	wg.Wait()
	n.Stop()
	return took, firstSecond
}

// countingConn counts the frames that it takes.
type countingConn struct{ n *atomic.Int64 }

func (c countingConn) Free() bool { return true }

func (c countingConn) Send(*hub.Frame) bool {
	c.n.Add(1)
	return true
}

// BenchmarkQuietBoard measures the memory of a watched board that is quiet: heap and stacks after a
// collection, with its subscription and what the feed holds. "empty" boards were never written to;
// "top10" boards have 100 members, of whom ten are shown.
func BenchmarkQuietBoard(b *testing.B) {
	for _, kind := range []string{"empty", "top10"} {
		b.Run(kind, func(b *testing.B) {
			const boards = 10_000
			var perBoard []int64
			for b.Loop() {
				perBoard = append(perBoard, quietBoards(b, kind, boards)/boards)
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(median(perBoard), "bytes/board")
		})
	}
}

func quietBoards(b *testing.B, kind string, boards int) (used int64) {
	r := redistest.Start(b, redistest.InMemory...)
	n := servertest.Start(b, r.URL(), unlimited, definition.Board{Name: "fam:{f}"})
	ctx := context.Background()
	if kind != "empty" {
		var updates []definition.Update
		for i := range 100 {
			updates = append(updates, definition.Update{Member: fmt.Sprint("member-", i), Score: int64(i)})
		}
		for i := range boards {
			_, err := n.Store.Apply(ctx, fmt.Sprint("fam:", i), updates)
			require.NoError(b, err)
		}
	}
	named := make([]ranking.Board, boards)
	for i := range named {
		var err error
		named[i], err = n.Store.Board(ctx, fmt.Sprint("fam:", i))
		require.NoError(b, err)
	}
	before := memoryInUse()
	var frames atomic.Int64
	for i := range boards / 100 {
		c := n.Hub.Join(countingConn{&frames})
		for _, board := range named[i*100 : (i+1)*100] {
			_, err := n.Hub.Subscribe(c, board, hub.Watch{Top: 10}, nil, func() {})
			require.NoError(b, err)
		}
	}
	redistest.Eventually(b, "all boards to be read", func() error {
		if got := frames.Load(); got < int64(boards) {
			return fmt.Errorf("%d frames", got)
		}
		return nil
	})
	used = memoryInUse() - before
	runtime.KeepAlive(named)
	n.Stop()
	return used
}

// memoryInUse is the heap and the stacks after a collection.
func memoryInUse() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// BenchmarkSlowSocketsMemory measures the memory that slow sockets hold: 80 that read a little every
// 4 s, each with a top of its own, on 20 boards of 1,000 long rows that all change. It reports the
// most resident memory of the node during ten seconds.
func BenchmarkSlowSocketsMemory(b *testing.B) {
	var most []int64
	for b.Loop() {
		most = append(most, slowSocketsMemory(b))
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(most)/1e6, "peak-MB")
}

func slowSocketsMemory(b *testing.B) (peak int64) {
	r := redistest.Start(b, redistest.InMemory...)
	var boards []definition.Board
	for k := range slowBoards {
		boards = append(boards, definition.Board{Name: fmt.Sprint("b", k), Mode: definition.Last})
	}
	n := servertest.Start(b, r.URL(), unlimited, boards...)
	long := strings.Repeat("x", 100)
	data := `"` + strings.Repeat("x", 250) + `"`
	change := func(k int) {
		var updates []definition.Update
		for i := range 1000 {
			updates = append(updates, definition.Update{Member: fmt.Sprintf("m%03d-%s", i, long), Score: rand.Int64N(1e9), Data: data})
		}
		outcomes, err := n.Store.Apply(context.Background(), fmt.Sprint("b", k), updates)
		require.NoError(b, err)
		for _, o := range outcomes {
			require.NoError(b, o.Err)
		}
	}
	before := memoryInUse()
	in, _ := startSelf(b, fmt.Sprintf("%s=slow %s", attackEnv, n.Addr))
	fmt.Fprintln(in)
	for began := time.Now(); time.Since(began) < 10*time.Second; {
		for k := range slowBoards {
			change(k)
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			peak = max(peak, int64(m.HeapInuse+m.StackInuse)-before)
		}
	}
	n.Stop()
	return peak
}
