package hub

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/hub/hubtest"
	"rankcast/ranking"
)

func TestSlowClientSkipsFrames(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		slow, conn, _ := watchTop(t, h, 10)
		_, quick, _ := watchTop(t, h, 10)
		confirm(h, 0)
		conn.take(t)
		quick.take(t)
		conn.setFull(true)
		for i := range 50 {
			deliver(h, f.set("a", int64(i)), 200*time.Millisecond)
		}
		require.Len(t, quick.take(t), 50, "the slow client delays no other")
		require.Empty(t, conn.take(t))
		free(slow, conn)
		require.Equal(t, []string{"snapshot"}, conn.take(t), "one frame catches it up")
		require.Equal(t, f.top(10), conn.board.Top)
	})
}

// Each of the two shards makes a frame once for all of its clients.
func TestSharedFramesAreEncodedOnce(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		var conns []*recordingConn
		for i := range 40 {
			k := &recordingConn{}
			subscribe(t, h, k, "b", Watch{Top: []int{3, 10}[i/2%2]})
			conns = append(conns, k)
		}
		confirm(h, 0)
		deliver(h, f.set("a", 1), time.Second)
		distinct := sentTimes(conns)
		require.Len(t, distinct, 2*4, "a snapshot and a delta for each of two N")
		for _, n := range distinct {
			require.Equal(t, 10, n)
		}
	})
}

// recordingConn records the frames.
type recordingConn struct{ frames []*Frame }

func (k *recordingConn) Free() bool { return true }

func (k *recordingConn) Send(f *Frame, _ time.Time) bool {
	k.frames = append(k.frames, f)
	return true
}

func (k *recordingConn) Flush() {}

// writesConn records what goes out in each write, and when.
type writesConn struct {
	fakeConn
	writes []write
}

type write struct {
	at    time.Time
	types []string
}

func (c *writesConn) Flush() {
	c.mu.Lock()
	w := write{at: time.Now()}
	for _, f := range c.taken {
		w.types = append(w.types, f.Type())
	}
	if len(w.types) > 0 {
		c.writes = append(c.writes, w)
	}
	c.mu.Unlock()
	c.fakeConn.Flush()
}

// takeWrites returns the writes since the last call.
func (c *writesConn) takeWrites(t *testing.T) []write {
	c.take(t) // they fold
	c.mu.Lock()
	defer c.mu.Unlock()
	writes := c.writes
	c.writes = nil
	return writes
}

// watchAndFollow joins a client that watches the board and a member of it, and follows the feed.
func watchAndFollow(t *testing.T, h *Hub, member string) (*Client, *writesConn) {
	conn := &writesConn{}
	c, _ := subscribe(t, h, conn, "b", Watch{Top: 10, Me: member})
	confirm(h, 33*time.Millisecond)
	_, err := h.Follow(c, "gift", nil, func() {})
	require.NoError(t, err)
	confirmFeed(h, "gift", 5*time.Second)
	conn.takeWrites(t)
	return c, conn
}

// What has become due for a client goes out in one write, in the order of its subscriptions, the status last.
func TestFramesThatAreDueGoOutTogether(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(20)
		c, conn := watchAndFollow(t, h, "m015")
		held, release := make(chan struct{}), make(chan struct{})
		c.shard.ops <- func() { close(held); <-release }
		<-held
		deliver(h, f.set("m015", 3000), 0)
		f.addItems(h, 1, time.Second)
		h.FeedDown(time.Now())
		synctest.Wait()
		require.Empty(t, conn.takeWrites(t))
		close(release)
		synctest.Wait()
		writes := conn.takeWrites(t)
		require.Len(t, writes, 1)
		require.Equal(t, []string{"delta", "me", "feed", "status"}, writes[0].types)
	})
}

// A shard runs operations while it serves many clients of one stream. It misses nobody when clients leave meanwhile.
func TestOperationsRunAmidACrowd(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(20)
		first, conn, _ := watchTop(t, h, 10)
		conns, subs := []*fakeConn{conn}, []*Subscription{nil}
		for len(conns) < 3*clientsPerOps {
			if c, conn, sub := watchTop(t, h, 10); c.shard == first.shard {
				conns, subs = append(conns, conn), append(subs, sub)
			}
		}
		confirm(h, time.Second)
		for _, conn := range conns {
			conn.take(t)
		}
		got, amid := make([]int, len(conns)), 0
		look := func() (served int) {
			for i, conn := range conns {
				got[i] += len(conn.take(t))
				served += got[i]
			}
			return served
		}
		held, release := make(chan struct{}), make(chan struct{})
		first.shard.ops <- func() { close(held); <-release }
		<-held
		deliver(h, f.set("m001", 3000), 0)
		for range 2 * maxOps { // so some of them run before the pass, and some in it
			first.shard.ops <- func() {
				if served := look(); amid == 0 && served > 0 {
					amid = served
					for _, sub := range subs[1:20] { // whose turn comes late
						sub.detach()
					}
				}
			}
		}
		close(release)
		synctest.Wait()
		require.Equal(t, clientsPerOps, amid)
		look()
		for i, n := range got {
			require.Equal(t, i == 0 || i >= 20, n == 1, i)
		}
	})
}

// Operations that run while a shard serves a small stream may take out those who are next.
func TestOperationsTakeOutWhoIsNext(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		first, _, _ := watchTop(t, h, 10)
		for others := 1; others < clientsPerOps-1; {
			if c, _, _ := watchTop(t, h, 10); c.shard == first.shard {
				others++
			}
		}
		confirm(h, time.Second)
		var follows []*Subscription // the last is served first, as the shard's client after which it runs operations
		var conns []*fakeConn
		for len(follows) < 3 {
			conn := &fakeConn{}
			if c := h.Join(conn, nil); c.shard == first.shard {
				sub, err := h.Follow(c, "gift", nil, func() {})
				require.NoError(t, err)
				follows, conns = append(follows, sub), append(conns, conn)
			}
		}
		confirmFeed(h, "gift", 5*time.Second)
		for _, conn := range conns {
			conn.take(t)
		}
		held, release := make(chan struct{}), make(chan struct{})
		first.shard.ops <- func() { close(held); <-release }
		<-held
		deliver(h, f.set("m001", 3000), 0)
		f.addItems(h, 1, 0)
		synctest.Wait()
		for range 2 * maxOps {
			first.shard.ops <- func() {
				if len(conns[2].take(t)) > 0 {
					follows[2].detach()
					follows[1].detach()
				}
			}
		}
		close(release)
		synctest.Wait()
		require.Equal(t, []string{"feed"}, conns[0].take(t))
		require.Empty(t, conns[1].take(t))
	})
}

// While a connection has turned a frame away, the status that says that all is current waits too.
func TestStatusWaitsForWhatWasTurnedAway(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		conn := &refusingConn{}
		c, _ := subscribe(t, h, conn, "b", Watch{Top: 10})
		confirm(h, time.Second)
		h.FeedDown(time.Now())
		synctest.Wait()
		conn.take(t)
		held, release := make(chan struct{}), make(chan struct{})
		c.shard.ops <- func() { close(held); <-release }
		<-held
		h.FeedUp()
		f.set("a", 5)
		pass(time.Second)
		confirm(h, time.Second)
		require.False(t, isStale(h))
		conn.refuses = 1
		close(release)
		synctest.Wait()
		require.Empty(t, conn.take(t))
		free(c, &conn.fakeConn)
		require.Equal(t, []string{"delta", "status false"}, conn.take(t))
	})
}

// A status that is published while a client is being served does not overtake what became due for it with that status.
func TestStatusOvertakesNothing(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		conn := &pausingConn{held: make(chan struct{}), release: make(chan struct{})}
		c, _ := subscribe(t, h, conn, "b", Watch{Top: 10})
		confirm(h, time.Second)
		_, err := h.Follow(c, "gift", nil, func() {})
		require.NoError(t, err)
		confirmFeed(h, "gift", 5*time.Second)
		h.FeedDown(time.Now())
		synctest.Wait()
		conn.take(t)
		conn.pauses = true
		f.addItems(h, 1, time.Second)
		<-conn.held // with the frame of the feed, after the board
		conn.pauses = false
		h.FeedUp()
		f.set("a", 5)
		pass(time.Second)
		confirm(h, time.Second)
		confirmFeed(h, "gift", 5*time.Second)
		require.False(t, isStale(h))
		close(conn.release)
		synctest.Wait()
		require.Equal(t, []string{"feed", "delta", "status false"}, conn.take(t))
	})
}

// pausingConn waits in Send, once.
type pausingConn struct {
	fakeConn
	pauses        bool
	held, release chan struct{}
}

func (c *pausingConn) Send(f *Frame, changed time.Time) bool {
	if c.pauses {
		close(c.held)
		<-c.release
	}
	return c.fakeConn.Send(f, changed)
}

// refusingConn refuses a number of frames.
type refusingConn struct {
	fakeConn
	refuses int // only the shard accesses it while it runs
}

func (c *refusingConn) Free() bool {
	if c.refuses > 0 {
		c.refuses--
		return false
	}
	return c.fakeConn.Free()
}

// A board and a feed of one client publish at once after a pause, and then at the same moments: once in each interval,
// and never later than an interval after the frame before.
func TestBoardsOfAClientPublishAtOneTime(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(20)
		_, conn := watchAndFollow(t, h, "m015")
		began := time.Now()
		pass(37 * time.Millisecond)
		for n := range 50 {
			deliver(h, f.set("m001", int64(3000+n)), 7*time.Millisecond)
			f.addItems(h, 1, 4*time.Millisecond)
		}
		of := make(map[string][]time.Duration)
		for _, w := range conn.takeWrites(t) {
			for _, kind := range w.types {
				of[kind] = append(of[kind], w.at.Sub(began))
			}
		}
		const interval = 100 * time.Millisecond
		require.Equal(t, 37*time.Millisecond, of["delta"][0], "at once")
		require.Equal(t, 44*time.Millisecond, of["feed"][0], "at once")
		require.Len(t, of["delta"], 7)
		for i, at := range of["delta"][1:] {
			require.LessOrEqual(t, at-of["delta"][i], interval)
			require.Contains(t, of["feed"], at, "the feed has items at that time")
		}
	})
}

// To send a shared frame to a client allocates nothing.
func TestSendAllocatesNothing(t *testing.T) {
	withHubAlone(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		c, sub := subscribe(t, h, discardingConn{}, "b", Watch{Top: 10})
		confirm(h, time.Second)
		require.EqualValues(t, 1, sub.top.version)
		c.shard.do(func() {
			require.Zero(t, testing.AllocsPerRun(100, func() {
				sub.top.version = 0
				sub.top.send()
			}))
		})
	})
}

// discardingConn takes all frames.
type discardingConn struct{}

func (discardingConn) Free() bool { return true }

func (discardingConn) Send(*Frame, time.Time) bool { return true }

func (discardingConn) Flush() {}

// The top of another epoch comes before any me frame of it.
func TestTopOfAnotherEpochComesBeforeMe(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		conn := fillAndWatchMember(t, h, f, "m010", 0)
		deliver(h, f.set("m000", 3000), 0) // begins an interval
		conn.take(t)
		f.edit(func() { f.state, f.scores = ranking.State{Epoch: "e2"}, map[string]int64{} })
		f.fill(5)
		deliver(h, f.set("m010", 25), 200*time.Millisecond)
		require.Equal(t, []string{"snapshot", "me"}, conn.take(t))
		meHolds(t, f, conn, "m010", 0)
	})
}

func TestSubscribeAfterLeaveLeavesNothing(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		c := h.Join(&fakeConn{}, nil)
		h.Leave(c)
		_, err := h.Subscribe(c, theBoard, Watch{Top: 10}, nil, func() {})
		require.ErrorIs(t, err, ErrClosed)
		require.Zero(t, h.Watched())
	})
}

func TestSubscribeAgainChangesTop(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(100)
		c, conn, sub := watchTop(t, h, 5)
		confirm(h, 0)
		require.Equal(t, f.top(5), conn.board.Top)
		for _, n := range []int{3, 50, 90, 0, 7} {
			h.FeedChanges(f.set("m099", int64(1000+n)))
			var err error
			sub, err = h.Subscribe(c, theBoard, Watch{Top: n}, sub, func() {})
			require.NoError(t, err)
			pass(time.Second)
			deliver(h, f.set("m098", int64(2000+n)), time.Second)
			require.Equal(t, f.top(n), append([]hubtest.Entry{}, conn.board.Top...))
			conn.take(t)
		}
		h.Unsubscribe(sub)
		deliver(h, f.set("m098", 5000), time.Second)
		require.Empty(t, conn.take(t))
	})
}

// A subscription that replaces another begins with its acceptance: no frame of the old one
// follows.
func TestReplacedSubscriptionSendsNothingMore(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(200)
		c, conn, sub := watchMember(t, h, 10, "m100", 0)
		confirm(h, 5*time.Second)
		held := conn.board
		w := Watch{Top: 10, Me: "m050", Resume: Position{held.Life, held.Seq}}
		_, err := h.Subscribe(c, theBoard, w, sub, func() {
			conn.take(t)
			deliver(h, f.set("m005", 1955), time.Second)
			deliver(h, f.set("m150", 1705), time.Second)
			require.Empty(t, conn.take(t))
		})
		require.NoError(t, err)
		synctest.Wait()
		require.Equal(t, []string{"delta", "me"}, conn.take(t))
		require.Equal(t, f.top(10), conn.board.Top)
		meHolds(t, f, conn, "m050", 0)
	})
}

// To replace a subscription that ended with its client ends no other subscription.
func TestReplacingAnEndedSubscription(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		watchTop(t, h, 10)
		c, _, sub := watchTop(t, h, 10)
		confirm(h, time.Second)
		h.Leave(c)
		_, err := h.Subscribe(c, theBoard, Watch{Top: 10}, sub, func() {})
		require.ErrorIs(t, err, ErrClosed)
		h.Unsubscribe(sub)
		require.Equal(t, 1, h.Watched())
	})
}
