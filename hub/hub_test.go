package hub

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/hub/hubtest"
	"rankcast/ranking"
	"rankcast/ranking/definition"
)

// join subscribes a new connection.
func join(t *testing.T, h *Hub, top int) (*Client, *fakeConn, *Subscription) {
	conn := &fakeConn{}
	c := h.Join(conn)
	sub, err := h.Subscribe(c, theBoard, Watch{Top: top}, nil, func() {})
	require.NoError(t, err)
	return c, conn, sub
}

func TestFirstChangeGoesOutAtOnceAndThenOneFrameAnInterval(t *testing.T) {
	inBubble(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.set("a", 1)
		f.set("b", 0)
		_, conn, _ := join(t, h, 10)
		h.FeedSubscribed("b")
		synctest.Wait()
		require.Equal(t, []string{"snapshot"}, conn.take(t))

		pass(time.Second)
		h.FeedChanges(f.set("b", 5))
		synctest.Wait()
		require.Equal(t, []string{"delta"}, conn.take(t), "after a quiet time at once")
		for i := range 9 {
			pass(10 * time.Millisecond)
			h.FeedChanges(f.set("a", int64(i)))
		}
		synctest.Wait()
		require.Empty(t, conn.take(t), "within the interval nothing")
		pass(10 * time.Millisecond)
		synctest.Wait()
		require.Equal(t, []string{"delta"}, conn.take(t), "then all in one frame")
		require.Equal(t, f.top(10), conn.board.Top)
		require.Equal(t, 1, len(f.pages), "a steady board costs no reads")
	})
}

func TestChangeThatNobodySeesIsNotSent(t *testing.T) {
	inBubble(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		for i := range 20 {
			f.set(fmt.Sprintf("m%02d", i), int64(100-i))
		}
		_, conn, _ := join(t, h, 5)
		h.FeedSubscribed("b")
		synctest.Wait()
		require.Equal(t, []string{"snapshot"}, conn.take(t))
		pass(time.Second)
		h.FeedChanges(f.set("m19", 82))
		pass(time.Second)
		require.Empty(t, conn.take(t))
		h.FeedChanges(f.set("m01", 101))
		pass(time.Second)
		require.Equal(t, []string{"delta"}, conn.take(t))
		require.Equal(t, f.top(5), conn.board.Top)
		h.FeedChanges(f.set("new", 1))
		pass(time.Second)
		require.Equal(t, []string{"delta"}, conn.take(t), "the total is shown")
		require.EqualValues(t, 25, conn.board.Total)
	})
}

func TestClientThatIsBehindSkips(t *testing.T) {
	inBubble(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		slow, conn, _ := join(t, h, 10)
		_, quick, _ := join(t, h, 10)
		h.FeedSubscribed("b")
		synctest.Wait()
		conn.take(t)
		quick.take(t)
		conn.setFull(true)
		for i := range 50 {
			h.FeedChanges(f.set("a", int64(i)))
			pass(200 * time.Millisecond)
		}
		require.Len(t, quick.take(t), 50, "nobody waits for the slow one")
		require.Empty(t, conn.take(t))
		conn.setFull(false)
		slow.Ready()
		synctest.Wait()
		require.Equal(t, []string{"snapshot"}, conn.take(t), "one frame catches it up")
		require.Equal(t, f.top(10), conn.board.Top)
	})
}

func TestSharedFramesAreEncodedOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		var conns []*keeper
		for i := range 40 {
			k := &keeper{}
			c := h.Join(k)
			_, err := h.Subscribe(c, theBoard, Watch{Top: []int{3, 10}[i%2]}, nil, func() {})
			require.NoError(t, err)
			conns = append(conns, k)
		}
		h.FeedSubscribed("b")
		synctest.Wait()
		h.FeedChanges(f.set("a", 1))
		pass(time.Second)
		distinct := sentTimes(conns)
		require.Len(t, distinct, 4, "a snapshot and a delta for each of two N")
		for _, n := range distinct {
			require.Equal(t, 20, n)
		}
	})
}

// keeper keeps the frames themselves.
type keeper struct{ frames []*Frame }

func (k *keeper) Send(f *Frame) bool {
	k.frames = append(k.frames, f)
	return true
}

// sentTimes counts how often each frame was sent.
func sentTimes(conns []*keeper) map[*Frame]int {
	times := make(map[*Frame]int)
	for _, k := range conns {
		for _, f := range k.frames {
			times[f]++
		}
	}
	return times
}

func TestOutageIsToldAndEndsRight(t *testing.T) {
	inBubble(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.set("a", 1)
		_, conn, _ := join(t, h, 10)
		h.FeedSubscribed("b")
		synctest.Wait()
		require.Equal(t, []string{"snapshot"}, conn.take(t))

		asOf := time.Now()
		pass(time.Second)
		h.FeedDown(asOf)
		synctest.Wait()
		require.Equal(t, asOf.UTC().Format(definition.TimeForm), conn.frames[0].AsOf)
		require.Equal(t, []string{"status true"}, conn.take(t))

		_, late, _ := join(t, h, 10)
		synctest.Wait()
		require.Equal(t, []string{"status true", "snapshot"}, late.take(t), "who comes meanwhile is told, and shown what there is")

		f.set("a", 2) // nobody hears of it
		f.setAway(errors.New("away"))
		h.FeedUp()
		h.FeedSubscribed("b")
		pass(5 * time.Second)
		require.Empty(t, conn.take(t), "still stale while the board can't be read")
		f.setAway(nil)
		pass(5 * time.Second)
		require.Equal(t, []string{"delta", "status false"}, conn.take(t))
		require.Equal(t, []string{"delta", "status false"}, late.take(t))
		require.Equal(t, f.top(10), conn.board.Top)

		_, fresh, _ := join(t, h, 10)
		synctest.Wait()
		require.Equal(t, []string{"snapshot"}, fresh.take(t))
	})
}

// A board that comes to be watched in an outage must be read before it is over,
// and one that nobody watches any more is not waited for.
func TestOutageEndsWhenAllBoardsAreRead(t *testing.T) {
	inBubble(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		h.FeedDown(time.Now())
		require.True(t, isStale(h))
		first, conn, _ := join(t, h, 10)
		synctest.Wait()
		require.Equal(t, []string{"status true"}, conn.take(t))
		h.FeedUp()
		pass(time.Second)
		require.True(t, isStale(h), "the board has not been read")
		h.FeedSubscribed("b")
		pass(time.Second)
		require.Equal(t, []string{"snapshot", "status false"}, conn.take(t))
		require.False(t, isStale(h))

		h.FeedDown(time.Now())
		h.Leave(first)
		h.FeedUp()
		pass(time.Second)
		require.False(t, isStale(h), "nobody watches the board")
	})
}

// Redis can be away for reads while the feed is still heard, as with a cluster.
func TestReadsThatFailAreTold(t *testing.T) {
	inBubble(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		_, conn, _ := join(t, h, 10)
		h.FeedSubscribed("b")
		pass(time.Second)
		require.Equal(t, []string{"snapshot"}, conn.take(t))
		f.setAway(errors.New("away"))
		pass(1100 * time.Millisecond)
		require.Equal(t, []string{"status true"}, conn.take(t))
		f.set("a", 5)
		f.setAway(nil)
		pass(5 * time.Second)
		require.Equal(t, f.top(10), conn.board.Top)
		require.False(t, isStale(h))
		types := conn.take(t)
		require.Equal(t, "status false", types[len(types)-1])
	})
}

func TestSubscribingAfterLeavingLeavesNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		c := h.Join(&fakeConn{})
		h.Leave(c)
		_, err := h.Subscribe(c, theBoard, Watch{Top: 10}, nil, func() {})
		require.ErrorIs(t, err, ErrClosed)
		require.Zero(t, h.Watched())
	})
}

// To hand a frame to a client costs no allocation.
func TestDeliveringAllocatesNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		c := h.Join(taker{})
		sub, err := h.Subscribe(c, theBoard, Watch{Top: 10}, nil, func() {})
		require.NoError(t, err)
		h.FeedSubscribed("b")
		pass(time.Second)
		require.EqualValues(t, 1, sub.top.have)
		c.shard.do(func() {
			require.Zero(t, testing.AllocsPerRun(100, func() {
				sub.top.have = 0
				sub.top.deliver()
			}))
		})
	})
}

// taker takes all frames.
type taker struct{}

func (taker) Send(*Frame) bool { return true }

func TestLostMessagesAreNoticed(t *testing.T) {
	inBubble(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		_, conn, _ := join(t, h, 10)
		h.FeedSubscribed("b")
		synctest.Wait()
		h.FeedChanges(f.set("a", 1))
		f.set("a", 2)
		h.FeedChanges(f.set("a", 3))
		pass(500 * time.Millisecond)
		require.Equal(t, f.top(10), conn.board.Top, "a gap shows with the next message")

		f.set("a", 4)
		pass(2500 * time.Millisecond)
		require.Equal(t, f.top(10), conn.board.Top, "a lost last message shows by the seq check")

		pages := len(f.pages)
		f.mu.Lock()
		f.state.Seq -= 2
		f.scores["a"] = 1
		f.mu.Unlock()
		pass(2500 * time.Millisecond)
		require.Equal(t, f.top(10), conn.board.Top, "a seq that went back is Redis's truth")
		require.Equal(t, pages+1, len(f.pages))

		f.mu.Lock()
		f.state, f.scores = ranking.State{}, map[string]int64{}
		f.mu.Unlock()
		pass(2500 * time.Millisecond)
		require.Empty(t, conn.board.Top, "so is a board that is gone")
		conn.take(t)
		h.FeedChanges(f.set("z", 1))
		pass(500 * time.Millisecond)
		require.Equal(t, f.top(10), conn.board.Top)
		require.Equal(t, []string{"snapshot"}, conn.take(t), "another life of a board never comes as a delta")
	})
}

// A view that runs out of entries shows nothing, rather than too little, until it
// has been read again.
func TestShortViewIsNotShown(t *testing.T) {
	inBubble(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		for i := range 200 {
			f.set(fmt.Sprintf("m%03d", i), int64(1000-i))
		}
		_, conn, _ := join(t, h, 20)
		h.FeedSubscribed("b")
		synctest.Wait()
		f.setAway(errors.New("away"))
		for i := 10; i < 50; i++ { // all of the view behind the first ten
			h.FeedChanges(f.set(fmt.Sprintf("m%03d", i), int64(-1000-i)))
			pass(150 * time.Millisecond)
			require.Len(t, conn.board.Top, 20)
		}
		h.FeedChanges(f.set("m001", 2000)) // among those still there
		pass(5 * time.Second)
		require.Equal(t, "m000", conn.board.Top[0].Member)
		f.setAway(nil)
		pass(5 * time.Second)
		require.Equal(t, f.top(20), conn.board.Top)
		conn.take(t)
	})
}

// A page that failed is owed even when nobody needs it any more: clients were
// told that what they see may be old.
func TestStaleEndsWhenTheFailedPageIsNotNeeded(t *testing.T) {
	inBubble(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		for i := range 200 {
			f.set(fmt.Sprintf("m%03d", i), int64(1000-i))
		}
		c, conn, sub := join(t, h, 10)
		h.FeedSubscribed("b")
		pass(time.Second)
		f.mu.Lock()
		f.noPages = errors.New("no pages")
		f.mu.Unlock()
		sub, err := h.Subscribe(c, theBoard, Watch{Top: 100}, sub, func() {})
		require.NoError(t, err)
		pass(100 * time.Millisecond)
		require.True(t, isStale(h))
		_, err = h.Subscribe(c, theBoard, Watch{Top: 10}, sub, func() {})
		require.NoError(t, err)
		f.mu.Lock()
		f.noPages = nil
		f.mu.Unlock()
		pass(3 * time.Second)
		require.False(t, isStale(h))
		require.Equal(t, f.top(10), conn.board.Top)
		conn.take(t)
	})
}

// An audit that fails is tried again after a pause, as any page is.
func TestAuditThatFailsWaits(t *testing.T) {
	inBubble(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		_, conn, _ := join(t, h, 10)
		h.FeedSubscribed("b")
		synctest.Wait()
		f.mu.Lock()
		f.noPages = errors.New("no pages")
		f.mu.Unlock()
		pass(60 * time.Second)
		require.Greater(t, len(f.pages), 10)
		require.Less(t, len(f.pages), 60)
		require.True(t, isStale(h))
		f.mu.Lock()
		f.noPages = nil
		f.mu.Unlock()
		pass(3 * time.Second)
		require.False(t, isStale(h))
		require.Equal(t, []string{"snapshot", "status true", "status false"}, conn.take(t))
	})
}

func TestAuditRepairsAView(t *testing.T) {
	inBubble(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.set("a", 1)
		_, conn, _ := join(t, h, 10)
		h.FeedSubscribed("b")
		synctest.Wait()
		f.mu.Lock()
		f.scores["a"] = 7 // as if a view had gone wrong at this seq
		f.mu.Unlock()
		pass(40 * time.Second)
		require.Equal(t, f.top(10), conn.board.Top)
		conn.take(t)
	})
}

func TestSubscribingAgainChangesTop(t *testing.T) {
	inBubble(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		for i := range 100 {
			f.set(fmt.Sprintf("m%02d", i), int64(i))
		}
		c, conn, sub := join(t, h, 5)
		h.FeedSubscribed("b")
		synctest.Wait()
		require.Equal(t, f.top(5), conn.board.Top)
		for _, n := range []int{3, 50, 90, 0, 7} {
			h.FeedChanges(f.set("m00", int64(1000+n)))
			var err error
			sub, err = h.Subscribe(c, theBoard, Watch{Top: n}, sub, func() {})
			require.NoError(t, err)
			pass(time.Second)
			h.FeedChanges(f.set("m01", int64(2000+n)))
			pass(time.Second)
			require.Equal(t, f.top(n), append([]hubtest.Entry{}, conn.board.Top...))
			conn.take(t)
		}
		h.Unsubscribe(sub)
		h.FeedChanges(f.set("m01", 5000))
		pass(time.Second)
		require.Empty(t, conn.take(t))
	})
}

func TestNothingIsLeftOfABoardThatNobodyWatches(t *testing.T) {
	inBubble(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		before := runtime.NumGoroutine()
		for range 3 {
			a, _, _ := join(t, h, 10)
			b, _, sub := join(t, h, 10)
			h.FeedSubscribed("b")
			synctest.Wait()
			require.Equal(t, 1, h.Watched())
			require.True(t, f.watched["b"])
			h.Unsubscribe(sub)
			require.Equal(t, 1, h.Watched())
			h.Leave(b)
			h.Leave(a)
			synctest.Wait()
			require.Zero(t, h.Watched())
			require.Empty(t, f.watched)
			require.LessOrEqual(t, runtime.NumGoroutine(), before) // those of tests before may have ended meanwhile
			for _, s := range h.shards {
				require.Empty(t, s.users)
			}
		}
	})
}

// watcher is a client with one subscription.
type watcher struct {
	*Client
	conn  *fakeConn
	sub   *Subscription
	watch Watch
}

// watchers come, stall and change their mind at random.
type watchers struct {
	t       *testing.T
	h       *Hub
	list    []*watcher
	draw    func() Watch // what one wants to see
	outages int          // a chance of one in so many that an outage of the feed happens when it may
}

func (w *watchers) add() {
	one := &watcher{conn: &fakeConn{}, watch: w.draw()}
	one.Client = w.h.Join(one.conn)
	w.subscribe(one)
	w.list = append(w.list, one)
}

func (w *watchers) subscribe(one *watcher) {
	var err error
	one.sub, err = w.h.Subscribe(one.Client, theBoard, one.watch, one.sub, func() {})
	require.NoError(w.t, err)
}

// churn has something happen to one of them, or nothing, and a little time pass.
func (w *watchers) churn() {
	one := w.list[rand.IntN(len(w.list))]
	switch rand.IntN(12) {
	case 0:
		one.conn.setFull(true)
	case 1:
		one.conn.setFull(false)
		one.Ready()
	case 2:
		one.watch = w.draw()
		w.subscribe(one)
	case 3:
		if rand.IntN(w.outages) == 0 {
			w.h.FeedDown(time.Now())
			w.h.FeedUp()
			w.h.FeedSubscribed("b")
		}
	case 4:
		w.add()
	}
	pass(time.Duration(rand.IntN(60)) * time.Millisecond)
}

// calm lets all of them catch up.
func (w *watchers) calm(d time.Duration) {
	for _, one := range w.list {
		one.conn.setFull(false)
		one.Ready()
	}
	pass(d)
	for _, one := range w.list {
		one.conn.take(w.t)
	}
}

// Many clients of several N that stall and go on at random, messages lost at
// random: after a pause each holds just what the board is.
func TestEveryClientEndsRight(t *testing.T) {
	inBubble(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		w := &watchers{t: t, h: h, outages: 1, draw: func() Watch { return Watch{Top: rand.IntN(30)} }}
		for range 20 {
			w.add()
		}
		h.FeedSubscribed("b")
		for round := range 20 {
			for range 100 {
				c := f.random(fmt.Sprint("m", rand.IntN(60)), 1000)
				if rand.IntN(40) > 0 {
					h.FeedChanges(c)
				}
				w.churn()
			}
			w.calm(5 * time.Second)
			for i, c := range w.list {
				top := c.watch.Top
				require.Equal(t, f.top(top), append([]hubtest.Entry{}, c.conn.board.Top...), "round %d, client %d, top %d", round, i, top)
			}
		}
	})
}

func TestFrameHeaders(t *testing.T) {
	for _, n := range []int{2, 125, 126, 65535, 65536, 200_000} {
		body := make([]byte, n)
		for i := range body {
			body[i] = 'x'
		}
		f := NewFrame(body)
		require.Equal(t, body, f.JSON())
		head := map[bool]int{true: 2, false: 4}[n < 126]
		if n > 65535 {
			head = 10
		}
		require.Len(t, f.WebSocket(), n+head)
		require.EqualValues(t, 0x81, f.WebSocket()[0])
	}
}
