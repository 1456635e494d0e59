package hub

import (
	"log/slog"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rankcast/ranking/proptest"
	"rankcast/ranking/redistest"
)

// A client that resumes gets the difference.
func TestResumeSendsTheDifference(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(50)
		held := watchTopLive(t, h, 10).board
		deliver(h, f.set("m007", 445), time.Minute) // a verification
		require.Greater(t, len(f.pages), 1)
		deliver(h, f.set("m003", 465), time.Second)
		_, conn := resume(t, h, held, Watch{Top: 10, Me: "m040"})
		synctest.Wait()
		require.Equal(t, f.top(10), conn.board.Top)
		require.Equal(t, []string{"delta", "me"}, conn.take(t))
		deliver(h, f.set("m000", 5000), time.Second)
		require.Equal(t, []string{"delta"}, conn.take(t))
		require.Equal(t, f.top(10), conn.board.Top)
	})
}

// Clients that resume from one state share the difference. The hub keeps it only while a client has it.
func TestResumedClientsShareTheDifference(t *testing.T) {
	t.Parallel()
	s := largePublication()
	s.life, s.modified = "l", make([]int64, 1000)
	for i := range 300 {
		s.modified[i] = 7
	}
	from := func(n int, seq int64) Position { return Position{s.position(n).Life, seq} }
	f := s.resumeFrame("b", 1000, from(1000, 6))
	require.Same(t, f, s.resumeFrame("b", 1000, from(1000, 6)))
	other := s.resumeFrame("b", 900, from(900, 6))
	require.NotSame(t, f, other)
	require.NotSame(t, other, s.resumeFrame("b", 900, from(900, 5)))
	last := s.resumeFrame("b", 1000, from(1000, 6))
	require.Equal(t, string(jsonOf(f)), string(jsonOf(last)))
	runtime.KeepAlive(last)
	runtime.GC()
	runtime.GC()
	require.Nil(t, s.resumed.frame.Value())
}

// A client that resumes at the final state of a period is told that it is final, also by a
// node that has just begun to watch the board.
func TestResumeAtPeriodEnd(t *testing.T) {
	withPeriods(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		first, conn := watch(t, h, "b@0", Watch{Top: 10})
		confirm(h, time.Second)
		held := conn.board
		again := func() *Client {
			t.Helper()
			c, back := watch(t, h, "b@0", Watch{Top: 10, Resume: Position{held.Life, held.Seq}})
			confirm(h, time.Second)
			require.Equal(t, []string{"final"}, back.take(t))
			return c
		}
		pass(every)
		h.Leave(again())
		h.Leave(first)
		require.Zero(t, h.Watched())
		again()
	})
}

// A client that resumes gets the rows whose data has changed.
func TestResumeWithData(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(50)
		held := watchTopLive(t, h, 10).board
		deliver(h, f.setData("m007", `7`), time.Second)
		_, back := resume(t, h, held, Watch{Top: 10})
		synctest.Wait()
		require.Equal(t, []string{"delta"}, back.take(t))
		require.Equal(t, f.top(10), back.board.Top)
	})
}

// resumeWorld is one board, the nodes that watch it, and clients that come and go between them.
type resumeWorld struct {
	t       *rapid.T
	f       *fakeBoard
	nodes   []*resumeNode
	clients []*resumeClient
	again   []func() // each restores an earlier state of Redis
}

type resumeNode struct {
	*Hub
	stop func()
}

// resumeClient keeps its list while it is away.
type resumeClient struct {
	top  int       // of its last subscription
	me   string    // whom it follows; "": nobody
	conn *fakeConn // with the list
	node *resumeNode
	as   *Client // of node
}

// start starts a node that takes the place of one that has stopped, or nil.
func (w *resumeWorld) start() *resumeNode {
	n := &resumeNode{Hub: New(w.f, w.f, Config{Log: slog.New(slog.DiscardHandler), Shards: 2})}
	n.stop = runHub(n.Hub)
	n.FeedUp()
	return n
}

// reconnectFeed breaks the subscription of a node, and subscribes again.
func (n *resumeNode) reconnectFeed() {
	n.FeedDown(time.Now())
	n.FeedUp()
	n.FeedSubscribed("b")
}

// write changes the score of a member. Each node may miss the message.
func (w *resumeWorld) write(t *rapid.T, loses bool) {
	c := w.f.set(rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f", "low0", "low1"}).Draw(t, "member"),
		rapid.Int64Range(0, 9).Draw(t, "score"))
	for _, n := range w.nodes {
		if !loses || rapid.IntRange(0, 3).Draw(t, "lost") > 0 {
			n.FeedChanges(c)
		}
	}
}

// goBack restores an earlier state of Redis. Some writes follow that no node hears of, at times up to the
// same seq as before.
func (w *resumeWorld) goBack(t *rapid.T) {
	if len(w.again) == 0 {
		return
	}
	before := w.f.state.Seq
	rapid.SampledFrom(w.again).Draw(t, "to")()
	unheard := rapid.Int64Range(0, 3).Draw(t, "unheard")
	if rapid.Bool().Draw(t, "up to the same seq") {
		unheard = before - w.f.state.Seq
	}
	for range unheard {
		w.f.set(rapid.SampledFrom([]string{"x", "y", "z", "a"}).Draw(t, "other"), rapid.Int64Range(0, 12).Draw(t, "score"))
	}
	for _, n := range w.nodes {
		if rapid.Bool().Draw(t, "notices") {
			n.reconnectFeed()
		}
	}
}

// come connects a client to any node, with any top. It resumes from what it holds.
func (w *resumeWorld) come(t *rapid.T, c *resumeClient) {
	c.top = drawTop(t)
	c.node = rapid.SampledFrom(w.nodes).Draw(t, "node")
	first := c.node.Watched() == 0
	c.as = c.node.Join(c.conn, nil)
	held := c.conn.board
	_, err := c.node.Subscribe(c.as, theBoard, Watch{Top: c.top, Resume: Position{held.Life, held.Seq}}, nil, func() {})
	if err != nil {
		w.t.Fatal(err)
	}
	if first {
		c.node.FeedSubscribed("b")
	}
}

func (c *resumeClient) leave() {
	c.node.Leave(c.as)
	c.node, c.as = nil, nil
}

// holds checks that each client that is connected holds what its node shows.
func (w *resumeWorld) holds() {
	synctest.Wait()
	for i, c := range w.clients {
		c.conn.mu.Lock()
		err, list := c.conn.foldErr, slices.Clone(c.conn.board.Top)
		c.conn.mu.Unlock()
		if err != nil {
			w.t.Fatalf("client %d: %v", i, err)
		}
		if c.node == nil {
			continue
		}
		b := c.node.boards["b"]
		b.mu.Lock() // each turn begins and ends with it
		p := b.publication
		b.mu.Unlock()
		if p == nil || !p.covers(c.top) {
			continue
		}
		want := onWire(p.top[:min(c.top, len(p.top))])
		if !slices.Equal(list, want) {
			w.t.Fatalf("client %d holds\n%v at %s:%d, its node shows\n%v at %v", i, list, c.conn.board.Life, c.conn.board.Seq, want,
				p.position(c.top))
		}
	}
}

// Whenever Redis goes back, also to the same seq with other members, and wherever clients come back with what
// they hold: each of them holds what its node shows after each step, and what Redis holds in the end.
func TestEveryResumeEndsRight(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		// Without its Deadline: there is none in a bubble.
		proptest.Check(struct{ testing.TB }{t}, 2500, func(t *rapid.T) {
			w := &resumeWorld{t: t, f: newFakeBoard()}
			for range 2 {
				w.nodes = append(w.nodes, w.start())
			}
			defer func() {
				for _, n := range w.nodes {
					n.stop()
				}
			}()
			for range 6 {
				w.clients = append(w.clients, &resumeClient{conn: &fakeConn{}})
			}
			actions := map[string]func(*rapid.T){
				"write":      func(t *rapid.T) { w.write(t, false) },
				"write more": func(t *rapid.T) { w.write(t, false) },
				"lose":       func(t *rapid.T) { w.write(t, true) },
				"save":       func(*rapid.T) { w.again = append(w.again, w.f.saveState()) },
				"go back":    w.goBack,
				"pass": func(t *rapid.T) {
					pass(time.Duration(rapid.SampledFrom([]int{1, 100, 300, 1500}).Draw(t, "ms")) * time.Millisecond)
				},
				"restart": func(t *rapid.T) {
					restart(rapid.IntRange(0, len(w.nodes)-1).Draw(t, "node"), w.nodes, w.clients, w.start)
				},
				"": func(*rapid.T) { w.holds() },
			}
			actions["come or leave"] = func(t *rapid.T) {
				if c := rapid.SampledFrom(w.clients).Draw(t, "client"); c.node != nil {
					c.leave()
				} else {
					w.come(t, c)
				}
			}
			actions["come or leave again"] = actions["come or leave"]
			t.Repeat(actions)
			for _, c := range w.clients {
				if c.node == nil {
					w.come(t, c)
				}
			}
			pass(time.Minute) // a verification, and the read that may follow
			w.holds()
			for i, c := range w.clients {
				if want := w.f.top(c.top); !slices.Equal(c.conn.board.Top, want) {
					t.Fatalf("client %d holds\n%v, Redis\n%v", i, c.conn.board.Top, want)
				}
			}
		})
	})
}
