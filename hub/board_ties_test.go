package hub

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
)

// A delta contains the ranks that a change moved by ties alone.
func TestDeltaHasRanksThatTiesMoved(t *testing.T) {
	t.Parallel()
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.ties = definition.Dense
		for i, score := range []int64{90, 80, 80, 70, 60, 50, 40, 30} {
			f.set(string(rune('a'+i)), score)
		}
		_, conn, _ := join(t, h, 8)
		_, me, _ := follow(t, h, 1, "g", 0)
		h.FeedSubscribed("b")
		synctest.Wait()
		conn.take(t)
		me.take(t)
		require.EqualValues(t, 2, f.top(8)[2].Rank)
		h.FeedChanges(f.set("e", 70)) // only e moves, and no member has 60 any more
		pass(2 * time.Second)
		require.Equal(t, []string{"delta"}, conn.take(t))
		require.Equal(t, f.top(8), conn.board.Top)
		require.Equal(t, []string{"me"}, me.take(t))
		meHolds(t, f, me, "g", 0)
	})
}

// A replaced board is sent as a snapshot of another epoch, and followers get their place
// again.
func TestReplacedBoardIsSentAsSnapshot(t *testing.T) {
	t.Parallel()
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(100)
		_, conn, _ := follow(t, h, 3, "m050", 2)
		h.FeedSubscribed("b")
		pass(3 * time.Second)
		conn.take(t)
		pages := len(f.pages)
		h.FeedChanges(f.replace(map[string]int64{"m050": 1, "m051": 2, "m001": 3, "x": 4}))
		pass(resyncJitter)
		require.Equal(t, []string{"snapshot", "me"}, conn.take(t))
		require.Len(t, f.pages, pages+1)
		require.Equal(t, f.top(3), conn.board.Top)
		meHolds(t, f, conn, "m050", 2)
		h.FeedChanges(f.set("m001", 0))
		pass(2 * time.Second)
		require.Equal(t, f.top(3), conn.board.Top)
		meHolds(t, f, conn, "m050", 2)
		require.Len(t, f.pages, pages+1)
		require.Empty(t, f.logged())
	})
}
