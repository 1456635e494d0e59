package hub

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestOneFrameAnIntervalAfterTheFirstChange(t *testing.T) {
	t.Parallel()
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
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

func TestChangeBelowTheTopSendsNoFrame(t *testing.T) {
	t.Parallel()
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
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

// A view that has too few entries publishes nothing until it has been read again.
func TestIncompleteTopIsNotPublished(t *testing.T) {
	t.Parallel()
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		for i := range 200 {
			f.set(fmt.Sprintf("m%03d", i), int64(1000-i))
		}
		_, conn, _ := join(t, h, 20)
		h.FeedSubscribed("b")
		synctest.Wait()
		f.setReadErr(errors.New("away"))
		for i := 10; i < 50; i++ { // all entries of the view behind the first ten
			h.FeedChanges(f.set(fmt.Sprintf("m%03d", i), int64(-1000-i)))
			pass(150 * time.Millisecond)
			require.Len(t, conn.board.Top, 20)
		}
		h.FeedChanges(f.set("m001", 2000)) // among the entries that are left
		pass(5 * time.Second)
		require.Equal(t, "m000", conn.board.Top[0].Member)
		f.setReadErr(nil)
		pass(5 * time.Second)
		require.Equal(t, f.top(20), conn.board.Top)
		conn.take(t)
	})
}

func TestUnwatchedBoardLeavesNothing(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		for range 3 {
			a, _, _ := join(t, h, 10)
			b, _, sub := join(t, h, 10)
			h.FeedSubscribed("b")
			synctest.Wait()
			require.Equal(t, 1, h.Watched())
			require.NotZero(t, f.watched["b"])
			h.Unsubscribe(sub)
			require.Equal(t, 1, h.Watched())
			h.Leave(b)
			h.Leave(a)
			synctest.Wait()
			require.Zero(t, h.Watched())
			require.Empty(t, f.watched)
			requireNothingRuns(t, h)
			for _, s := range h.shards {
				require.Empty(t, s.deliveries)
			}
		}
	})
}
