package hub

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"rankcast/ranking"
)

// A connection is told when the oldest change was made that a frame is the first to show to its client.
func TestFrameCarriesTimeOfItsOldestChange(t *testing.T) {
	t.Parallel()
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		slow, conn, _ := join(t, h, 10)
		_, quick, _ := join(t, h, 10)
		h.FeedSubscribed("b")
		pass(time.Second)
		require.Empty(t, conn.changed, "the first frame shows no change")

		first := time.Now()
		h.FeedChanges(f.set("a", 1))
		pass(10 * time.Millisecond)
		second := time.Now()
		h.FeedChanges(f.set("a", 2)) // waits for the interval
		pass(10 * time.Millisecond)
		h.FeedChanges(f.set("a", 3))
		pass(time.Second)
		require.Equal(t, []time.Time{first, second}, conn.changed)
		require.Equal(t, conn.changed, quick.changed)

		conn.changed = nil
		conn.setFull(true)
		oldest := time.Now()
		for i := range 5 {
			h.FeedChanges(f.set("a", int64(10+i)))
			pass(time.Second)
		}
		require.Len(t, quick.changed, 7)
		conn.setFull(false)
		slow.Ready()
		synctest.Wait()
		require.Equal(t, []time.Time{oldest}, conn.changed, "a client that skips frames")
		require.EqualValues(t, 4, testutil.ToFloat64(h.metrics.skipped))

		_, late, _ := join(t, h, 10)
		pass(time.Second)
		require.Equal(t, f.top(10), late.board.Top)
		require.Empty(t, late.changed, "a client that comes later")
		h.FeedChanges(f.replace(map[string]int64{"a": 1}))
		pass(time.Second)
		require.Equal(t, f.top(10), late.board.Top)
		require.Empty(t, late.changed, "a page that was read again")
	})
}

// Until a shard has sent a version, a newer one takes over the time of its oldest change.
func TestVersionThatNobodyWasSentKeepsItsTime(t *testing.T) {
	t.Parallel()
	st := &stream{board: &board{name: "b"}, n: 1}
	at := time.Unix(100, 0)
	show := func(score int64, changedAt time.Time) time.Time {
		s := &publication{state: ranking.State{Epoch: "e", Seq: score}, total: 1, top: []ranking.Entry{{Rank: 1, Member: "a", Score: score}}}
		old := &publication{}
		if before := st.version.Load(); before != nil {
			old = before.publication
		}
		require.True(t, st.publish(old, s, s.diff(old, 1), changedAt))
		return st.version.Load().changedAt
	}
	require.Equal(t, at, show(1, at))
	require.Equal(t, at.Add(time.Second), show(2, at.Add(time.Second)), "a shard has sent the one before")
	st.announced.Store(1)
	require.Equal(t, at.Add(time.Second), show(3, at.Add(2*time.Second)))
	require.Equal(t, at.Add(time.Second), show(4, time.Time{}))
}

func TestResyncsAreCountedByReason(t *testing.T) {
	t.Parallel()
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		_, conn, _ := join(t, h, 10)
		h.FeedSubscribed("b")
		pass(time.Second)
		h.FeedChanges(f.set("a", 1))
		pass(time.Second)
		counted := make(map[resyncReason]float64)
		expect := func(reason resyncReason, how func()) {
			t.Helper()
			how()
			pass(5 * time.Second)
			require.Equal(t, f.top(10), conn.board.Top)
			counted[reason]++
			for _, r := range resyncReasons {
				require.Equal(t, counted[r], testutil.ToFloat64(h.metrics.resyncs[r]), "%s after %s", r, reason)
			}
		}
		expect(resyncGap, func() {
			f.set("a", 2)
			h.FeedChanges(f.set("a", 3))
		})
		expect(resyncSeqCheck, func() { f.set("a", 4) })
		expect(resyncReplaced, func() { h.FeedChanges(f.replace(map[string]int64{"x": 1})) })
		expect(resyncFeed, func() {
			h.FeedDown(time.Now())
			h.FeedUp()
			h.FeedSubscribed("b")
		})
		expect(resyncUnreadable, func() {
			f.setReadErr(ranking.ErrUnavailable)
			pass(2 * time.Second)
			f.setReadErr(nil)
		})
		expect(resyncVerification, func() {
			f.mu.Lock()
			f.scores["x"] = 9 // without a new seq
			f.mu.Unlock()
			pass(time.Minute)
		})
		require.EqualValues(t, 2, testutil.ToFloat64(h.metrics.changes), "changes that arrived")
	})
}

func TestGaugesFollowSubscriptions(t *testing.T) {
	t.Parallel()
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(20)
		expect := func(subscriptions, followers float64) {
			t.Helper()
			require.Equal(t, subscriptions, testutil.ToFloat64(h.metrics.subscriptions))
			require.Equal(t, followers, testutil.ToFloat64(h.metrics.followers))
		}
		expect(0, 0)
		first, _, sub := join(t, h, 10)
		second, _, _ := follow(t, h, 10, "m003", 0)
		expect(2, 1)
		feed, err := h.Follow(first, "gift", nil, func() {})
		require.NoError(t, err)
		expect(3, 1)
		_, err = h.Subscribe(first, theBoard, Watch{Top: 5, Me: "m004"}, sub, func() {})
		require.NoError(t, err)
		expect(3, 2)
		h.Unfollow(feed)
		expect(2, 2)
		h.Leave(second)
		expect(1, 1)
		h.Leave(first)
		expect(0, 0)
		_, err = h.Subscribe(first, theBoard, Watch{Top: 5, Me: "m004"}, nil, func() {})
		require.ErrorIs(t, err, ErrClosed)
		expect(0, 0)
	})
}
