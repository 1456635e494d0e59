package hub

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/hub/hubtest"
	"rankcast/ranking"
)

// A verification reads the ranks of members, and repairs them.
func TestVerificationRepairsARank(t *testing.T) {
	t.Parallel()
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(200)
		_, conn, _ := follow(t, h, 3, "m100", 0)
		h.FeedSubscribed("b")
		synctest.Wait()
		f.mu.Lock()
		f.scores["m150"] = 1005 // the view is wrong at this seq
		f.mu.Unlock()
		pass(40 * time.Second)
		meHolds(t, f, conn, "m100", 0)
		conn.take(t)
	})
}

// A failed verification is retried after a backoff, as the read of any page.
func TestFailedVerificationIsRetried(t *testing.T) {
	t.Parallel()
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		_, conn, _ := join(t, h, 10)
		h.FeedSubscribed("b")
		synctest.Wait()
		f.mu.Lock()
		f.pageErr = errors.New("no pages")
		f.mu.Unlock()
		pass(60 * time.Second)
		require.Greater(t, len(f.pages), 10)
		require.Less(t, len(f.pages), 60)
		require.True(t, isStale(h))
		f.mu.Lock()
		f.pageErr = nil
		f.mu.Unlock()
		pass(3 * time.Second)
		require.False(t, isStale(h))
		require.Equal(t, []string{"snapshot", "status true", "status false"}, conn.take(t))
	})
}

func TestVerificationRepairsAView(t *testing.T) {
	t.Parallel()
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.set("a", 1)
		_, conn, _ := join(t, h, 10)
		h.FeedSubscribed("b")
		synctest.Wait()
		f.mu.Lock()
		f.scores["a"] = 7 // the view is wrong at this seq
		f.mu.Unlock()
		pass(40 * time.Second)
		require.Equal(t, f.top(10), conn.board.Top)
		conn.take(t)
	})
}

// A verification reads the data of entries, and repairs it.
func TestVerificationRepairsData(t *testing.T) {
	t.Parallel()
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		_, conn, _ := join(t, h, 10)
		h.FeedSubscribed("b")
		synctest.Wait()
		f.mu.Lock()
		f.data["low1"] = "5" // the view is wrong at this seq
		f.mu.Unlock()
		pass(40 * time.Second)
		require.Equal(t, f.top(10), conn.board.Top)
		require.Equal(t, []string{"snapshot", "delta"}, conn.take(t))
		require.Equal(t, []string{"the view differs from Redis at the same seq; the node resyncs the board"}, f.logged())
	})
}

// A verification finds that a board was deleted. After that no member is looked up.
func TestVerificationOfADeletedBoard(t *testing.T) {
	t.Parallel()
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(200)
		_, conn, _ := follow(t, h, 3, "m100", 2)
		h.FeedSubscribed("b")
		pass(time.Second)
		conn.take(t)
		f.mu.Lock()
		f.pageErr = fmt.Errorf("wrapped: %w", ranking.ErrUnknownBoard)
		f.mu.Unlock()
		pass(40 * time.Second)
		require.Equal(t, []string{"final", "me"}, conn.take(t))
		shows(t, conn, "", true, []hubtest.Entry{})
		require.NotContains(t, f.lookedUp, "")
		require.Empty(t, f.logged())
	})
}

// The page of a verification may be ahead of the first change of a board. All followers are still
// notified of later changes, and so are new ones.
func TestFirstChangeOverlapsAVerification(t *testing.T) {
	t.Parallel()
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.state, f.scores = ranking.State{}, map[string]int64{}
		_, conn, _ := follow(t, h, 3, "u1", 0)
		for i := range 2 * verifiedMembers {
			follow(t, h, 3, fmt.Sprint("w", i), 0)
		}
		h.FeedSubscribed("b")
		pass(time.Second)
		require.Equal(t, []string{"snapshot", "me"}, conn.take(t))
		f.beforeRead.set(func() {
			f.beforeRead.clear()
			first := f.set("other", 5)
			go func() {
				time.Sleep(time.Millisecond)
				h.FeedChanges(first)
			}()
		})
		pass(35 * time.Second)
		require.False(t, f.beforeRead.isSet())
		require.Equal(t, []string{"snapshot", "me"}, conn.take(t))
		_, late, _ := follow(t, h, 3, "u1", 0)
		pass(time.Second)
		require.Equal(t, []string{"snapshot", "me"}, late.take(t))
	})
}
