package hub

import (
	"testing"
	"testing/synctest"
	"time"

	"rankcast/ranking"

	"github.com/stretchr/testify/require"
)

func TestSlowClientSkipsFrames(t *testing.T) {
	t.Parallel()
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
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
		require.Len(t, quick.take(t), 50, "the slow client delays no other")
		require.Empty(t, conn.take(t))
		conn.setFull(false)
		slow.Ready()
		synctest.Wait()
		require.Equal(t, []string{"snapshot"}, conn.take(t), "one frame catches it up")
		require.Equal(t, f.top(10), conn.board.Top)
	})
}

// Each of the two shards makes a frame once for all of its clients.
func TestSharedFramesAreEncodedOnce(t *testing.T) {
	t.Parallel()
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		var conns []*recordingConn
		for i := range 40 {
			k := &recordingConn{}
			c := h.Join(k, nil)
			_, err := h.Subscribe(c, theBoard, Watch{Top: []int{3, 10}[i/2%2]}, nil, func() {})
			require.NoError(t, err)
			conns = append(conns, k)
		}
		h.FeedSubscribed("b")
		synctest.Wait()
		h.FeedChanges(f.set("a", 1))
		pass(time.Second)
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
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		c := h.Join(discardingConn{}, nil)
		sub, err := h.Subscribe(c, theBoard, Watch{Top: 10}, nil, func() {})
		require.NoError(t, err)
		h.FeedSubscribed("b")
		pass(time.Second)
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
	t.Parallel()
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(200)
		_, conn, _ := follow(t, h, 3, "m010", 0)
		h.FeedSubscribed("b")
		pass(3 * time.Second)
		h.FeedChanges(f.set("m000", 3000)) // begins an interval
		synctest.Wait()
		conn.take(t)
		f.mu.Lock()
		f.state, f.scores = ranking.State{Epoch: "e2"}, map[string]int64{}
		f.mu.Unlock()
		f.fill(5)
		h.FeedChanges(f.set("m010", 25))
		pass(200 * time.Millisecond)
		require.Equal(t, []string{"snapshot", "me"}, conn.take(t))
		meHolds(t, f, conn, "m010", 0)
	})
}
