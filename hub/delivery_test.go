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
