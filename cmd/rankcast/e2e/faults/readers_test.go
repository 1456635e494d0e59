package faults

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

func TestFaultClientsThatNeverRead(t *testing.T) {
	t.Parallel()
	clientsThatNeverRead(t, 100, 20, time.Second, 0)
}

// clientsThatNeverRead compares how soon clients see a score, without and with others that watch the
// same and never read. The node closes the others after its write timeout. The others have connected when
// a measurement begins: a crowd that connects is measured elsewhere. Each measurement takes a span, at
// least five scores.
func clientsThatNeverRead(t *testing.T, readers, dead int, writeTimeout, span time.Duration) *figures {
	r := redistest.Start(t)
	tr := &trial{t: t, form: faultForm{args: []string{"--write-timeout", writeTimeout.String()}}, redis: r}
	n, store, figures := tr.addNode(nil, r.URL()), tr.direct(r.URL()), new(figures)
	fillQuiet(t, store)
	c := newReaders(t, n.Addr, readers)

	c.scores(store, span)
	before := c.percentile(99)
	open := openFiles(n.Process)
	began := time.Now()
	for range dead {
		s := servertest.DialSmall(t, n.Addr)
		s.Send(`{"type":"subscribe","board":"quiet","top":1000}`) // fills the connection at once
		s.Send(`{"type":"subscribe","board":"crowd","top":1}`)
	}
	var closed time.Duration
	var watching sync.WaitGroup
	watching.Go(func() {
		redistest.Eventually(t, "the node to close the clients that never read", func() error {
			const others = 5 // connections to Redis, which come and go
			if now := openFiles(n.Process); now > open+others {
				return fmt.Errorf("%d open files; %d before", now, open)
			}
			return nil
		})
		closed = time.Since(began)
	})
	c.scores(store, 0) // the node has served those that connect
	c.scores(store, span)
	with := c.percentile(99)
	redistest.Wait(t, "the end of watching", watching.Wait)
	c.scores(store, span) // each client that reads is still there
	after := c.percentile(99)
	figures.add(fmt.Sprintf("p99 from score to frame, %d clients that read", readers), before)
	figures.add(fmt.Sprintf("the same with %d that never read", dead), with)
	figures.add("the same after those are closed", after)
	figures.add("ratio of with to without", fmt.Sprintf("%.2f", 2*float64(with)/float64(before+after)))
	figures.add(fmt.Sprintf("all that never read are closed, with a write timeout of %v, after", writeTimeout), closed)
	return figures
}

// fillQuiet gives the board quiet 1,000 members with long names, so that a frame of all of them is more
// than a connection holds by itself.
func fillQuiet(t testing.TB, store *ranking.Store) {
	var updates []definition.Update
	for i := range 1000 {
		updates = append(updates, definition.Update{Member: fmt.Sprintf("m%03d-%s", i, strings.Repeat("x", 100)), Score: int64(i)})
	}
	_, err := store.Apply(t.Context(), "quiet", updates)
	require.NoError(t, err)
}

// readers are clients that show the first entry of the board crowd: the member clock, whose score is the
// time at which the test sent it, in µs since 1970.
type readers struct {
	t       testing.TB
	size    int
	clients []*reader
}

type reader struct {
	mu    sync.Mutex
	shown atomic.Int64    // the score of clock
	took  []time.Duration // from score to frame
}

// newReaders connects clients that read until the test ends.
func newReaders(t testing.TB, addr string, size int) *readers {
	c := &readers{t: t, size: size}
	dialers := newCrowd(t, addr, size)
	for i := range size {
		ws, _, err := websocket.Dial(t.Context(), "ws://"+addr+"/v1/live", &websocket.DialOptions{
			HTTPClient: dialers.dialers[i%len(dialers.dialers)], Subprotocols: []string{"rankcast.v1"}})
		require.NoError(t, err)
		ws.SetReadLimit(-1)
		require.NoError(t, ws.Write(t.Context(), websocket.MessageText, []byte(`{"type":"subscribe","board":"crowd","top":1}`)))
		one := new(reader)
		c.clients = append(c.clients, one)
		dialers.reading.Go(func() {
			defer ws.CloseNow()
			for {
				_, frame, err := ws.Read(t.Context())
				if err != nil {
					if t.Context().Err() == nil {
						t.Errorf("a client that reads was disconnected: %v", err)
					}
					return
				}
				one.take(frame)
			}
		})
	}
	return c
}

// take takes a frame. Decoding it as JSON would cost more than what the test measures.
func (r *reader) take(frame []byte) {
	_, rest, found := bytes.Cut(frame, []byte(`"member":"clock","score":`))
	if !found {
		return
	}
	digits := rest[:bytes.IndexFunc(rest, func(c rune) bool { return c < '0' || c > '9' })]
	score, err := strconv.ParseInt(string(digits), 10, 64)
	if err != nil {
		return
	}
	r.mu.Lock()
	r.took = append(r.took, time.Since(time.UnixMicro(score)))
	r.mu.Unlock()
	r.shown.Store(score)
}

// scores sends scores for a span, at least five, and waits until each client shows the last one.
func (c *readers) scores(store *ranking.Store, span time.Duration) {
	c.t.Helper()
	for _, r := range c.clients {
		r.mu.Lock()
		r.took = nil
		r.mu.Unlock()
	}
	tick := time.NewTicker(200 * time.Millisecond) // more than the interval between two frames
	defer tick.Stop()
	const least = 5
	var last int64
	for n, began := 0, time.Now(); n < least || time.Since(began) < span; n++ {
		last = time.Now().UnixMicro()
		_, err := store.Apply(c.t.Context(), "crowd", []definition.Update{{Member: "clock", Score: last}})
		require.NoError(c.t, err)
		<-tick.C
	}
	redistest.Eventually(c.t, "each client that reads to show the last score", func() error {
		for _, r := range c.clients {
			if shown := r.shown.Load(); shown != last {
				return fmt.Errorf("%d, want %d", shown, last)
			}
		}
		return nil
	})
}

// percentile is a percentile of the times from score to frame since the last call of scores began.
func (c *readers) percentile(percent int) time.Duration {
	var all []time.Duration
	for _, r := range c.clients {
		r.mu.Lock()
		all = append(all, r.took...)
		r.mu.Unlock()
	}
	slices.Sort(all)
	return all[(len(all)-1)*percent/100]
}

// openFiles is the number of files and sockets that a process has open.
func openFiles(p *e2etest.Process) int {
	files, err := processOf(p).FileDescriptorsLen()
	require.NoError(p.T, err)
	return files
}
