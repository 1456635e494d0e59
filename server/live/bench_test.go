package live_test

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/hub"
	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

// drainEnv makes this test binary a process of clients, so that their CPU is not
// the server's: see drain.
const drainEnv = "RANKCAST_DRAIN"

// drain dials "sockets" WebSockets to one address, each watching a board, and as
// many plain connections to another, reads what comes and counts its frames.
// Each line on stdin is answered with the count so far.
func drain(spec string) {
	f := strings.Fields(spec)
	sockets, err := strconv.Atoi(f[0])
	if err != nil {
		panic(err)
	}
	var frames atomic.Int64
	for i := range sockets {
		for _, addr := range f[1:] {
			socket, err := servertest.DialRaw(i, addr)
			if err == nil && addr == f[1] {
				err = cmp.Or(socket.Handshake(), socket.SendText(`{"type":"subscribe","board":"b","top":10}`))
			}
			if err != nil {
				panic(err)
			}
			go socket.EachFrame(func([]byte) { frames.Add(1) })
		}
	}
	for lines := bufio.NewScanner(os.Stdin); ; {
		fmt.Println(frames.Load())
		if !lines.Scan() {
			return
		}
	}
}

// joinEnv makes this test binary a process of followers: see join.
const joinEnv = "RANKCAST_JOIN"

// join dials "sockets" WebSockets to an address. Each line on stdin has them all
// subscribe and follow a member each, m0, m7, m14, ..., and is answered with a
// line when each has been told its place.
func join(spec string) {
	f := strings.Fields(spec)
	sockets, err := strconv.Atoi(f[0])
	if err != nil {
		panic(err)
	}
	told := make(chan struct{}, sockets)
	all := make([]*servertest.RawSocket, sockets)
	for i := range all {
		if all[i], err = servertest.DialRaw(i, f[1]); err == nil {
			err = all[i].Handshake()
		}
		if err != nil {
			panic(err)
		}
		go all[i].EachFrame(func(frame []byte) {
			if strings.HasPrefix(string(frame), `{"type":"me"`) {
				told <- struct{}{}
			}
		})
	}
	fmt.Println("ready")
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); fmt.Println("told") {
		for i, socket := range all {
			socket.SendText(fmt.Sprintf(`{"type":"subscribe","board":"b","top":10,"me":"m%d"}`, 7*i))
		}
		for range sockets {
			<-told
		}
		for _, socket := range all {
			socket.SendText(`{"type":"unsubscribe","board":"b"}`)
		}
	}
}

// drainer is the process of clients as the benchmark sees it.
type drainer struct {
	b    *testing.B
	in   io.Writer
	out  *bufio.Scanner
	last int64
}

func startDrain(b *testing.B, sockets int, addrs ...string) *drainer {
	in, out := servertest.StartClients(b, fmt.Sprintf("%s=%d %s", drainEnv, sockets, strings.Join(addrs, " ")))
	return &drainer{b: b, in: in, out: out}
}

func (d *drainer) count() int64 {
	fmt.Fprintln(d.in)
	require.True(d.b, d.out.Scan())
	n, err := strconv.ParseInt(d.out.Text(), 10, 64)
	require.NoError(d.b, err)
	return n
}

// await waits until n more frames than at the last call have arrived.
func (d *drainer) await(n int64) {
	redistest.UntilEqual(d.b, "the frames that have arrived", n, func() int64 { return min(d.count()-d.last, n) })
	d.last = d.count()
}

func ownCPU() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func mallocs() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Mallocs
}

func median[T int64 | uint64 | time.Duration](values []T) float64 {
	slices.Sort(values)
	return float64(values[len(values)/2])
}

// BenchmarkDelivery sends frames of a top 10 to 2,000 clients in another
// process, 20 a second, and beside it, in turns, writes the same bytes at the
// same pace from a bare loop on two goroutines. Medians of the turns: the
// server's CPU for one frame to one client, and how many allocations a whole
// frame costs, to all clients together.
func BenchmarkDelivery(b *testing.B) {
	const clients, frames, pace = 2000, 20, 50 * time.Millisecond
	n := servertest.Start(b, redistest.Start(b, redistest.InMemory...).URL(), servertest.Config{Hub: hub.Config{Interval: time.Millisecond}},
		definition.Board{Name: "b", Mode: definition.Last})
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(b, err)
	defer plain.Close()
	accepted := make(chan []net.Conn)
	go func() {
		var conns []net.Conn
		for len(conns) < clients {
			c, err := plain.Accept()
			if err != nil {
				break
			}
			conns = append(conns, c)
		}
		accepted <- conns
	}()
	change := func() {
		updates := make([]definition.Update, 5)
		for i := range updates {
			updates[i] = definition.Update{Member: fmt.Sprintf("member-%02d", rand.IntN(10)), Score: 1e6 + rand.Int64N(1e6)}
		}
		_, err := n.Store.Apply(context.Background(), "b", updates)
		require.NoError(b, err)
	}
	for range 10 {
		change()
	}
	clientsOf := startDrain(b, clients, n.Addr, plain.Addr().String())
	conns := <-accepted
	clientsOf.await(clients) // their snapshots
	sample := servertest.Dial(b, n.Addr)
	sample.Subscribe("b", 10)

	turn := func(send func(i int)) (cpu time.Duration, allocated uint64) {
		startCPU, startMallocs := ownCPU(), mallocs()
		tick := time.NewTicker(pace)
		defer tick.Stop()
		for i := range frames {
			<-tick.C
			send(i)
		}
		clientsOf.await(frames * clients)
		return ownCPU() - startCPU, mallocs() - startMallocs
	}
	var hubCPU, bareCPU []time.Duration
	var hubMallocs, bareMallocs []uint64
	var sizes []int
	for b.Loop() {
		cpu, allocated := turn(func(int) { change() })
		hubCPU, hubMallocs = append(hubCPU, cpu), append(hubMallocs, allocated)
		sizes = sizes[:0]
		for len(sizes) < frames {
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			_, message, err := sample.WS.Read(ctx)
			cancel()
			require.NoError(b, err)
			sizes = append(sizes, len(message))
		}
		cpu, allocated = turn(func(i int) {
			frame := hub.NewFrame([]byte(strings.Repeat("x", sizes[i]))).WebSocket()[0]
			var wg sync.WaitGroup
			for half := range 2 {
				wg.Go(func() {
					for j := half; j < clients; j += 2 {
						if _, err := conns[j].Write(frame); err != nil {
							b.Error(err)
						}
					}
				})
			}
			wg.Wait()
		})
		bareCPU, bareMallocs = append(bareCPU, cpu), append(bareMallocs, allocated)
	}
	total := 0
	for _, s := range sizes {
		total += s
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(total)/frames, "bytes/frame")
	b.ReportMetric(median(hubCPU)/1e3/frames/clients, "µs/delivery")
	b.ReportMetric(median(bareCPU)/1e3/frames/clients, "bare-µs/delivery")
	b.ReportMetric(median(hubCPU)/median(bareCPU), "x-bare")
	b.ReportMetric(median(hubMallocs)/frames, "allocs/frame")
	b.ReportMetric(median(bareMallocs)/frames, "bare-allocs/frame")
}

// BenchmarkJoin has 9,000 sockets of another process subscribe to a board of
// 100,000 at once, each following another member. Medians of the turns: how long
// until all have been told their place, and how many scripts Redis ran for it.
func BenchmarkJoin(b *testing.B) {
	const followers, members = 9000, 100_000
	r := redistest.Start(b, redistest.InMemory...)
	n := servertest.Start(b, r.URL(), servertest.Config{Hub: hub.Config{VerifyInterval: time.Hour}}, definition.Board{Name: "b"})
	descending(b, n, "b", members)
	in, out := servertest.StartClients(b, fmt.Sprintf("%s=%d %s", joinEnv, followers, n.Addr))
	var took []time.Duration
	var scripts []int64
	for b.Loop() {
		before := calls(b, r.Admin())["evalsha"]
		start := time.Now()
		fmt.Fprintln(in)
		require.True(b, out.Scan())
		took = append(took, time.Since(start))
		scripts = append(scripts, calls(b, r.Admin())["evalsha"]-before)
		redistest.UntilEqual(b, "all to have left", 0, n.Hub.Watched)
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(took)/1e6, "ms/join")
	b.ReportMetric(median(scripts), "redis-calls/join")
}

// countingConn counts the frames that it takes.
type countingConn struct{ n *atomic.Int64 }

func (c countingConn) Flush() {}

func (c countingConn) Free() bool { return true }

func (c countingConn) Send(*hub.Frame, time.Time) bool {
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
	n := servertest.Start(b, r.URL(), servertest.Config{}, definition.Board{Name: "fam:{f}"})
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
		c := n.Hub.Join(countingConn{&frames}, nil)
		for _, board := range named[i*100 : (i+1)*100] {
			_, err := n.Hub.Subscribe(c, board, hub.Watch{Top: 10}, nil, func() {})
			require.NoError(b, err)
		}
	}
	redistest.UntilEqual(b, "the boards that have been read", int64(boards), func() int64 { return min(frames.Load(), int64(boards)) })
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
