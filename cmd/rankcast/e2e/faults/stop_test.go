package faults

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
	"rankcast/hub/hubtest"
	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

// stalledSockets is the number of sockets that never read, of a node that stops.
const stalledSockets = 20

// stall opens sockets on the board "b" of a process, and writes to the board until the frames of
// sockets that never read have filled their connections. It returns a socket that has read all.
func stall(t testing.TB, p *e2etest.Process) (reads *servertest.Socket) {
	t.Helper()
	p.Answers(201, "PUT", "/v1/boards/b", `{"mode":"last"}`)
	for range stalledSockets {
		servertest.DialSmall(t, p.Addr).Send(`{"type":"subscribe","board":"b","top":1000}`)
	}
	reads = servertest.Dial(t, p.Addr)
	reads.Subscribe("b", 1)
	for round := range 40 {
		first := int64(2e9 + round)
		rows := []string{fmt.Sprintf(`{"member":"round","score":%d}`, first)}
		for i := range 999 {
			rows = append(rows, fmt.Sprintf(`{"member":"m%03d-%s","score":%d}`, i, strings.Repeat("x", 100), rand.Int64N(1e9)))
		}
		p.Update("b", `{"updates":[`+strings.Join(rows, ",")+`]}`)
		reads.Until("b", "the round", func(b *hubtest.Board) bool { return len(b.Top) > 0 && b.Top[0].Score == first })
	}
	return reads
}

// A node stops although clients never read: it cuts them, tells the others, and ends well.
func TestNodeStopsAlthoughClientsNeverRead(t *testing.T) {
	t.Parallel()
	// The time limit of a write would cut the clients too.
	p := e2etest.Launch(t, "--redis", redistest.Start(t).URL(), "--interval", "1ms", "--write-timeout", "1h")
	reads := stall(t, p)
	closed := make(chan error, 1)
	go func() {
		for {
			if _, err := reads.Raw(); err != nil {
				closed <- err
				return
			}
		}
	}()
	p.Stop()
	require.Equal(t, websocket.StatusGoingAway, websocket.CloseStatus(redistest.Receive(t, "a value from closed", closed)))
}

// BenchmarkStop is the time from SIGTERM to the end of a process. The baseline has no clients; the
// limit, which operations.md promises, is five seconds.
func BenchmarkStop(b *testing.B) {
	for _, c := range []struct {
		name           string
		stalls, silent bool
	}{{"no clients", false, false}, {"clients never read", true, false}, {"clients never read and Redis is silent", true, true}} {
		b.Run(c.name, func(b *testing.B) {
			var sum time.Duration
			for range b.N {
				r := redistest.Start(b)
				p := e2etest.Launch(b, "--redis", r.URL(), "--interval", "1ms")
				if c.stalls {
					stall(b, p)
				} else {
					p.Ready()
				}
				if c.silent {
					require.NoError(b, syscall.Kill(r.Pid(), syscall.SIGSTOP))
				}
				began := time.Now()
				p.Stop()
				sum += time.Since(began)
			}
			b.ReportMetric(float64(sum.Milliseconds())/float64(b.N), "ms/stop")
		})
	}
}
