package hub

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/hub/hubtest"
)

func TestSubscribeAfterLeaveLeavesNothing(t *testing.T) {
	t.Parallel()
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		c := h.Join(&fakeConn{}, nil)
		h.Leave(c)
		_, err := h.Subscribe(c, theBoard, Watch{Top: 10}, nil, func() {})
		require.ErrorIs(t, err, ErrClosed)
		require.Zero(t, h.Watched())
	})
}

func TestSubscribeAgainChangesTop(t *testing.T) {
	t.Parallel()
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
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

// A subscription that replaces another begins with its acceptance: no frame of the old one
// follows.
func TestReplacedSubscriptionSendsNothingMore(t *testing.T) {
	t.Parallel()
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(200)
		c, conn, sub := follow(t, h, 10, "m100", 0)
		h.FeedSubscribed("b")
		pass(5 * time.Second)
		held := conn.board
		w := Watch{Top: 10, Me: "m050", Resume: Position{held.Life, held.Seq}}
		_, err := h.Subscribe(c, theBoard, w, sub, func() {
			conn.take(t)
			h.FeedChanges(f.set("m005", 1955))
			pass(time.Second)
			h.FeedChanges(f.set("m150", 1705))
			pass(time.Second)
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
	t.Parallel()
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		join(t, h, 10)
		c, _, sub := join(t, h, 10)
		h.FeedSubscribed("b")
		pass(time.Second)
		h.Leave(c)
		_, err := h.Subscribe(c, theBoard, Watch{Top: 10}, sub, func() {})
		require.ErrorIs(t, err, ErrClosed)
		h.Unsubscribe(sub)
		require.Equal(t, 1, h.Watched())
	})
}
