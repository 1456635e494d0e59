package hub

import (
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"rankcast/ranking"
	"rankcast/ranking/definition"
)

// A connection is told when the oldest change was made that a frame is the first to show to its client.
func TestFrameCarriesTimeOfItsOldestChange(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		slow, conn, _ := watchTop(t, h, 10)
		_, quick, _ := watchTop(t, h, 10)
		confirm(h, time.Second)
		require.Empty(t, conn.changed, "the first frame shows no change")

		first := time.Now()
		deliver(h, f.set("a", 1), 10*time.Millisecond)
		second := time.Now()
		deliver(h, f.set("a", 2), 10*time.Millisecond) // waits for the interval
		deliver(h, f.set("a", 3), time.Second)
		require.Equal(t, []time.Time{first, second}, conn.changed)
		require.Equal(t, conn.changed, quick.changed)

		conn.changed = nil
		conn.setFull(true)
		oldest := time.Now()
		for i := range 5 {
			deliver(h, f.set("a", int64(10+i)), time.Second)
		}
		require.Len(t, quick.changed, 7)
		free(slow, conn)
		require.Equal(t, []time.Time{oldest}, conn.changed, "a client that skips frames")
		require.EqualValues(t, 4, testutil.ToFloat64(h.metrics.skipped))

		_, late, _ := watchTop(t, h, 10)
		pass(time.Second)
		require.Equal(t, f.top(10), late.board.Top)
		require.Empty(t, late.changed, "a client that comes later")
		deliver(h, f.replace(map[string]int64{"a": 1}), time.Second)
		require.Equal(t, f.top(10), late.board.Top)
		require.Empty(t, late.changed, "a page that was read again")
	})
}

// A client that has skipped versions gets the time of the oldest change in them, as far as the newest version knows it.
func TestVersionKnowsTimesOfThoseBefore(t *testing.T) {
	t.Parallel()
	st := &stream{board: &board{name: "b"}, n: 1}
	at := func(second int64) time.Time { return time.Unix(second, 0) }
	old := &publication{}
	for score := int64(1); score <= 9; score++ {
		s := &publication{state: ranking.State{Epoch: "e", Seq: score}, total: 1, top: []ranking.Entry{{Rank: 1, Member: "a", Score: score}}}
		require.True(t, st.publish(s, s.follow(old, 1), at(score)))
		old = s
	}
	v := st.version.Load()
	require.EqualValues(t, 9, v.number)
	require.Equal(t, at(9), v.changedSince(8))
	require.Equal(t, at(8), v.changedSince(7))
	require.Equal(t, at(6), v.changedSince(5))
	require.Equal(t, at(6), v.changedSince(1), "no version knows more than three before it")
}

func TestResyncsAreCountedByReason(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		conn := watchTopLive(t, h, 10)
		deliver(h, f.set("a", 1), time.Second)
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
			f.setReadErr(definition.ErrUnavailable)
			pass(2 * time.Second)
			f.setReadErr(nil)
		})
		expect(resyncVerification, func() {
			f.edit(func() { f.scores["x"] = 9 }) // without a new seq
			pass(time.Minute)
		})
		require.EqualValues(t, 2, testutil.ToFloat64(h.metrics.changes), "changes that arrived")
	})
}

// A page that the node reads for more entries, or the place of a member, may be the first to show a new life of the board.
func TestReadsThatFindAnotherStateCountAsResyncs(t *testing.T) {
	withHubFor(t, map[string]func(t *testing.T, h *Hub){
		"page":   func(t *testing.T, h *Hub) { watchTop(t, h, 100) },
		"lookup": func(t *testing.T, h *Hub) { watchMember(t, h, 10, "m150", 0) },
	}, func(t *testing.T, h *Hub, f *fakeBoard, read func(t *testing.T, h *Hub)) {
		f.fill(200)
		conn := watchTopLive(t, h, 10)
		scores := make(map[string]int64)
		for i := range 200 {
			scores[fmt.Sprintf("m%03d", i)] = int64(i)
		}
		f.replace(scores) // its message is lost
		read(t, h)
		pass(100 * time.Millisecond)
		require.Equal(t, f.top(10), conn.board.Top)
		require.EqualValues(t, 1, testutil.ToFloat64(h.metrics.resyncs[resyncGap]))
	})
}

func TestGaugesFollowSubscriptions(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(20)
		expect := func(subscriptions, followers float64) {
			t.Helper()
			require.Equal(t, subscriptions, testutil.ToFloat64(h.metrics.subscriptions))
			require.Equal(t, followers, testutil.ToFloat64(h.metrics.followers))
		}
		expect(0, 0)
		first, _, sub := watchTop(t, h, 10)
		second, _, _ := watchMember(t, h, 10, "m003", 0)
		expect(2, 1)
		feed, err := h.Follow(first, "gift", nil, func() {})
		require.NoError(t, err)
		expect(3, 1)
		_, err = h.Subscribe(first, theBoard, Watch{Top: 5, Me: "m004"}, sub, func() {})
		require.NoError(t, err)
		expect(3, 2)
		h.Unsubscribe(feed)
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
