package live_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
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
			conn, r := dialNumber(i, addr)
			if addr == f[1] {
				shake(conn, r, addr, `{"type":"subscribe","board":"b","top":10}`)
			}
			go eachFrame(r, func([]byte) { frames.Add(1) })
		}
	}
	for lines := bufio.NewScanner(os.Stdin); ; {
		fmt.Println(frames.Load())
		if !lines.Scan() {
			return
		}
	}
}

// dialNumber opens the connection of that number to an address. Addresses of their
// own spread the ports.
func dialNumber(i int, addr string) (net.Conn, *bufio.Reader) {
	from := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(2+i%8))}}
	conn, err := from.Dial("tcp", addr)
	if err != nil {
		panic(err)
	}
	return conn, bufio.NewReaderSize(conn, 1024)
}

// eachFrame calls do for the start of each frame, until the connection ends.
func eachFrame(r *bufio.Reader, do func(start []byte)) {
	for {
		frame, err := readFrame(r)
		if err != nil {
			return
		}
		do(frame)
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
	conns := make([]net.Conn, sockets)
	for i := range conns {
		conn, r := dialNumber(i, f[1])
		shake(conn, r, f[1], "")
		conns[i] = conn
		go eachFrame(r, func(frame []byte) {
			if strings.HasPrefix(string(frame), `{"type":"me"`) {
				told <- struct{}{}
			}
		})
	}
	fmt.Println("ready")
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); fmt.Println("told") {
		for i, conn := range conns {
			conn.Write(clientFrame(fmt.Sprintf(`{"type":"subscribe","board":"b","top":10,"me":"m%d"}`, 7*i)))
		}
		for range sockets {
			<-told
		}
		for _, conn := range conns {
			conn.Write(clientFrame(`{"type":"unsubscribe","board":"b"}`))
		}
	}
}

// clientFrame is a short masked text frame (RFC 6455, section 5.2), with a mask
// of zeros.
func clientFrame(message string) []byte {
	return append([]byte{0x81, 0x80 | byte(len(message)), 0, 0, 0, 0}, message...)
}

// shake does a WebSocket handshake by hand, with a first message behind it, if
// there is one.
func shake(conn net.Conn, r *bufio.Reader, addr, first string) {
	var frame []byte
	if first != "" {
		frame = clientFrame(first)
	}
	fmt.Fprintf(conn, "GET /v1/live HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n%s", addr, frame)
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			panic(err)
		}
		if line == "\r\n" {
			return
		}
	}
}

// readFrame reads one unmasked frame, and gives as much of it as fits the buffer.
func readFrame(r *bufio.Reader) ([]byte, error) {
	var head [10]byte
	if _, err := io.ReadFull(r, head[:2]); err != nil {
		return nil, err
	}
	n := int(head[1])
	if long := map[int]int{126: 4, 127: 10}[n]; long > 0 {
		if _, err := io.ReadFull(r, head[2:long]); err != nil {
			return nil, err
		}
		if n = int(binary.BigEndian.Uint16(head[2:])); long == 10 {
			n = int(binary.BigEndian.Uint64(head[2:]))
		}
	}
	start, err := r.Peek(min(n, r.Size()))
	if err == nil {
		_, err = r.Discard(n)
	}
	return start, err
}

// drainer is the process of clients as the benchmark sees it.
type drainer struct {
	b    *testing.B
	in   io.Writer
	out  *bufio.Scanner
	last int64
}

func startDrain(b *testing.B, sockets int, addrs ...string) *drainer {
	in, out := startSelf(b, fmt.Sprintf("%s=%d %s", drainEnv, sockets, strings.Join(addrs, " ")))
	return &drainer{b: b, in: in, out: out}
}

// startSelf starts this test binary as another process and waits for its first
// line.
func startSelf(b *testing.B, env string) (io.Writer, *bufio.Scanner) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), env)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	in, err := cmd.StdinPipe()
	require.NoError(b, err)
	out, err := cmd.StdoutPipe()
	require.NoError(b, err)
	require.NoError(b, cmd.Start())
	b.Cleanup(func() { in.Close(); cmd.Wait() })
	lines := bufio.NewScanner(out)
	require.True(b, lines.Scan())
	return in, lines
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
	redistest.Eventually(d.b, "frames to arrive", func() error {
		if got := d.count() - d.last; got < n {
			return fmt.Errorf("%d of %d", got, n)
		}
		return nil
	})
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
	in, out := startSelf(b, fmt.Sprintf("%s=%d %s", joinEnv, followers, n.Addr))
	var took []time.Duration
	var scripts []int64
	for b.Loop() {
		before := calls(b, r.Admin())["evalsha"]
		start := time.Now()
		fmt.Fprintln(in)
		require.True(b, out.Scan())
		took = append(took, time.Since(start))
		scripts = append(scripts, calls(b, r.Admin())["evalsha"]-before)
		redistest.Eventually(b, "all to have left", func() error {
			if n.Hub.Watched() > 0 {
				return fmt.Errorf("the board is watched")
			}
			return nil
		})
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(took)/1e6, "ms/join")
	b.ReportMetric(median(scripts), "redis-calls/join")
}
