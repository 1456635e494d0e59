package server_test

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
	"rankcast/ranking"
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
		// Addresses of their own spread the ports.
		from := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(2+i%8))}}
		for _, addr := range f[1:] {
			conn, err := from.Dial("tcp", addr)
			if err != nil {
				panic(err)
			}
			r := bufio.NewReaderSize(conn, 1024)
			if addr == f[1] {
				shake(conn, r, addr)
			}
			go func() {
				for readFrame(r) {
					frames.Add(1)
				}
			}()
		}
	}
	for lines := bufio.NewScanner(os.Stdin); ; {
		fmt.Println(frames.Load())
		if !lines.Scan() {
			return
		}
	}
}

// shake does a WebSocket handshake by hand and subscribes.
func shake(conn net.Conn, r *bufio.Reader, addr string) {
	subscribe := `{"type":"subscribe","board":"b","top":10}`
	frame := append([]byte{0x81, 0x80 | byte(len(subscribe)), 0, 0, 0, 0}, subscribe...)
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

// readFrame passes over one unmasked frame.
func readFrame(r *bufio.Reader) bool {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:2]); err != nil {
		return false
	}
	n := int(head[1])
	if n == 126 {
		if _, err := io.ReadFull(r, head[2:]); err != nil {
			return false
		}
		n = int(binary.BigEndian.Uint16(head[2:]))
	}
	_, err := r.Discard(n)
	return err == nil
}

// drainer is the process of clients as the benchmark sees it.
type drainer struct {
	b    *testing.B
	in   io.Writer
	out  *bufio.Scanner
	last int64
}

func startDrain(b *testing.B, sockets int, addrs ...string) *drainer {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d %s", drainEnv, sockets, strings.Join(addrs, " ")))
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	in, err := cmd.StdinPipe()
	require.NoError(b, err)
	out, err := cmd.StdoutPipe()
	require.NoError(b, err)
	require.NoError(b, cmd.Start())
	b.Cleanup(func() { in.Close(); cmd.Wait() })
	d := &drainer{b: b, in: in, out: bufio.NewScanner(out)}
	require.True(b, d.out.Scan())
	return d
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
	n := startNode(b, redistest.Start(b, redistest.InMemory...).URL(), nodeConfig{hub: hub.Config{Interval: time.Millisecond}},
		ranking.Definition{Board: "b", Mode: ranking.Last})
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
		updates := make([]ranking.Update, 5)
		for i := range updates {
			updates[i] = ranking.Update{Member: fmt.Sprintf("member-%02d", rand.IntN(10)), Score: 1e6 + rand.Int64N(1e6)}
		}
		_, err := n.store.Apply(context.Background(), "b", updates)
		require.NoError(b, err)
	}
	for range 10 {
		change()
	}
	clientsOf := startDrain(b, clients, n.addr, plain.Addr().String())
	conns := <-accepted
	clientsOf.await(clients) // their snapshots
	sample := servertest.Dial(b, n.addr)
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
			frame := hub.NewFrame([]byte(strings.Repeat("x", sizes[i]))).WebSocket()
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
