package faults

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"rankcast/hub/hubtest"
	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

func TestFaultCrowdReconnects(t *testing.T) {
	t.Parallel()
	crowdReconnects(t, 600, 0) // all at once
}

// crowdReconnects kills the node of a crowd. Meanwhile each member gets another rank. The node starts
// again, and all clients come back within a time, each with a member that it follows. All are right soon
// after, and the node looks up many members in one call to Redis.
func crowdReconnects(t *testing.T, size int, within time.Duration) *figures {
	tr := &trial{t: t, form: shortForm, redis: redistest.Start(t)}
	n, store, figures := tr.addNode(nil, tr.redis.URL()), tr.direct(tr.redis.URL()), new(figures)
	c := newCrowd(t, n.Addr, size)
	c.place(store, 0)
	c.connect(within)
	c.allRight()

	n.Kill()
	redistest.Wait(t, "the end of c.reading", c.reading.Wait)
	c.place(store, 1)
	n.start()
	before := tr.scriptCalls()
	began := time.Now()
	c.connect(within)
	figures.add(fmt.Sprintf("%d clients have begun to reconnect within", size), time.Since(began))
	c.allRight()
	figures.add("all are right after", time.Since(began))
	calls := tr.scriptCalls() - before
	figures.add("calls to Redis meanwhile", calls)
	require.Less(t, calls, size/4, "the node looks up members one by one")

	c.place(store, 2) // the crowd is alive
	c.allRight()
	n.Kill()
	return figures
}

// scriptCalls is the number of scripts that Redis has run so far.
func (tr *trial) scriptCalls() (calls int) {
	stats, err := tr.redis.Admin().Info(tr.t.Context(), "commandstats").Result()
	require.NoError(tr.t, err)
	for line := range strings.Lines(stats) {
		var n int
		if _, err := fmt.Sscanf(line, "cmdstat_evalsha:calls=%d,", &n); err == nil {
			calls += n
		}
	}
	return calls
}

// crowd is many clients of one node. Client i follows member i of the board crowd, which has as many
// members. A crowd checks itself: in round r the rank of each member is known.
type crowd struct {
	t       testing.TB
	addr    string
	size    int
	dialers []*http.Client

	round   atomic.Int64
	right   chan struct{} // gets a value from each connection that shows the round
	reading sync.WaitGroup
}

// newCrowd makes a crowd without connections. All of them end with the test.
func newCrowd(t testing.TB, addr string, size int) *crowd {
	c := &crowd{t: t, addr: addr, size: size, right: make(chan struct{}, size)}
	const addresses = 8 // a source address has some 28,000 ports, and each reconnect takes others
	for i := range byte(addresses) {
		from := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2+i)}}
		c.dialers = append(c.dialers, &http.Client{Transport: &http.Transport{DialContext: from.DialContext}})
	}
	t.Cleanup(c.reading.Wait)
	return c
}

// rank is the rank of a client's member in a round.
func (c *crowd) rank(member, round int64) int64 {
	const step = 7919 // per round, so that each member moves
	return (member+round*step)%int64(c.size) + 1
}

func (c *crowd) score(rank int64) int64 { return 10 * (int64(c.size) - rank + 1) }

// place gives each member its score of a round.
func (c *crowd) place(store *ranking.Store, round int64) {
	c.round.Store(round)
	const batch = 1000
	var updates []definition.Update
	for i := range int64(c.size) {
		updates = append(updates, definition.Update{Member: fmt.Sprint("m", i), Score: c.score(c.rank(i, round))})
		if len(updates) == batch || i == int64(c.size)-1 {
			_, err := store.Apply(c.t.Context(), "crowd", updates)
			require.NoError(c.t, err)
			updates = nil
		}
	}
}

// connect connects all clients, spread evenly over a time, and does not wait for them.
func (c *crowd) connect(over time.Duration) {
	const step = 10 * time.Millisecond
	tick := time.NewTicker(step)
	defer tick.Stop()
	began := time.Now()
	for i := 0; i < c.size; {
		due := c.size
		if over > 0 {
			due = min(c.size, 1+int(float64(c.size)*float64(time.Since(began))/float64(over)))
		}
		for ; i < due; i++ {
			client := int64(i)
			c.reading.Go(func() { c.watch(client) })
		}
		<-tick.C
	}
}

// watch connects one client and reads until the connection ends.
func (c *crowd) watch(i int64) {
	ctx := c.t.Context()
	ws, _, err := websocket.Dial(ctx, "ws://"+c.addr+"/v1/live", &websocket.DialOptions{
		HTTPClient: c.dialers[i%int64(len(c.dialers))], Subprotocols: []string{"rankcast.v1"}})
	if err != nil {
		if ctx.Err() == nil {
			c.t.Errorf("client %d of the crowd: %v", i, err)
		}
		return
	}
	defer ws.CloseNow()
	subscribe := fmt.Appendf(nil, `{"type":"subscribe","board":"crowd","top":10,"me":"m%d"}`, i)
	if err := ws.Write(ctx, websocket.MessageText, subscribe); err != nil {
		return
	}
	var b hubtest.Board
	for shown := int64(-1); ; {
		_, text, err := ws.Read(ctx)
		if err != nil {
			return
		}
		var m hubtest.Message
		if err := json.Unmarshal(text, &m); err != nil {
			c.t.Errorf("client %d of the crowd: %v: %s", i, err, text)
			return
		}
		if m.Type != "snapshot" && m.Type != "delta" && m.Type != "me" {
			continue
		}
		if err := b.Fold(m); err != nil {
			c.t.Errorf("client %d of the crowd: %v", i, err)
			return
		}
		if round := c.round.Load(); round != shown && c.shows(&b, i, round) {
			shown = round
			c.right <- struct{}{}
		}
	}
}

// shows reports whether a client shows the round: the first entries and its own rank.
func (c *crowd) shows(b *hubtest.Board, i, round int64) bool {
	rank := c.rank(i, round)
	if b.Me == nil || b.Me.Rank == nil || *b.Me.Rank != rank || *b.Me.Score != c.score(rank) || b.Total != int64(c.size) || len(b.Top) != 10 {
		return false
	}
	for place, e := range b.Top {
		var member int64
		if _, err := fmt.Sscanf(e.Member, "m%d", &member); err != nil {
			return false
		}
		if want := int64(place) + 1; e.Rank != want || c.rank(member, round) != want || e.Score != c.score(want) {
			return false
		}
	}
	return true
}

// allRight waits until each client shows the round.
func (c *crowd) allRight() {
	c.t.Helper()
	gaveUp := time.After(servertest.Patience)
	for i := range c.size {
		select {
		case <-c.right:
		case <-gaveUp:
			c.t.Fatalf("%d of %d clients of the crowd are right", i, c.size)
		}
	}
}
