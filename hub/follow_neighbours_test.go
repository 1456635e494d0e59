package hub

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/hub/hubtest"
)

// Neighbours below the top are read again after one of them moved, at most once an
// interval. The member's own rank does not wait for that.
func TestNeighboursAreReadOnceAnInterval(t *testing.T) {
	t.Parallel()
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(200)
		_, conn, _ := follow(t, h, 3, "m100", 2)
		_, narrow, _ := follow(t, h, 3, "m100", 1)
		h.FeedSubscribed("b")
		synctest.Wait()
		meHolds(t, f, conn, "m100", 2)
		meHolds(t, f, narrow, "m100", 1)
		require.Equal(t, []int{1}, f.lookups, "both are served by one look-up")
		pass(3 * time.Second)
		conn.take(t)

		h.FeedChanges(f.set("m101", 991)) // the member behind, in its place
		synctest.Wait()
		require.Equal(t, []string{"me"}, conn.take(t))
		meHolds(t, f, conn, "m100", 2)
		require.Len(t, f.lookups, 2)
		for i := range 8 {
			h.FeedChanges(f.set("m101", int64(992+i%2)))
			pass(100 * time.Millisecond)
		}
		require.Len(t, f.lookups, 2)
		h.FeedChanges(f.set("m100", 1002))
		pass(100 * time.Millisecond)
		require.Equal(t, []string{"me"}, conn.take(t))
		require.EqualValues(t, 1002, *conn.board.Me.Score)
		require.Nil(t, conn.board.Me.Around, "they are not known at this moment")
		pass(time.Second)
		require.Equal(t, []string{"me"}, conn.take(t))
		require.Len(t, f.lookups, 3)
		meHolds(t, f, conn, "m100", 2)
		meHolds(t, f, narrow, "m100", 1)

		pass(3 * time.Second)
		conn.take(t)
		h.FeedChanges(f.set("m101", 995)) // begins an interval
		synctest.Wait()
		require.Equal(t, []string{"me"}, conn.take(t))
		h.FeedChanges(f.set("m100", 1003))
		h.FeedChanges(f.set("m100", 1002)) // and back
		pass(3 * time.Second)
		require.Empty(t, conn.take(t), "the neighbours are unchanged")
		lookups := len(f.lookups)
		h.FeedChanges(f.set("m103", 2)) // beyond the shown neighbours
		h.FeedChanges(f.set("m000", 1)) // moves all ranks
		pass(3 * time.Second)
		require.Len(t, f.lookups, lookups, "what is not near needs no look-up")
		meHolds(t, f, conn, "m100", 2)
		conn.take(t)
		h.FeedChanges(f.set("m199", 1))
		pass(3 * time.Second)
		require.Empty(t, conn.take(t), "and nothing is sent")
	})
}

// Neighbours that change while they are read are sent as of the read, and read again an
// interval later.
func TestNeighboursThatChangeWhileTheyAreRead(t *testing.T) {
	t.Parallel()
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(200)
		_, conn, _ := follow(t, h, 3, "m100", 2)
		h.FeedSubscribed("b")
		pass(3 * time.Second)
		var then []hubtest.Entry
		f.onPlaces.set(func() {
			f.onPlaces.clear()
			then = f.around("m100", 2)
			h.FeedChanges(f.set("m101", 993))
		})
		conn.take(t)
		h.FeedChanges(f.set("m101", 991))
		pass(200 * time.Millisecond)
		require.Equal(t, []string{"me"}, conn.take(t))
		require.Equal(t, then, conn.board.Me.Around)
		pass(time.Second)
		require.Equal(t, []string{"me"}, conn.take(t))
		meHolds(t, f, conn, "m100", 2)
	})
}

// A second client follows the same member with another number of neighbours.
func TestFollowersWithDifferentAround(t *testing.T) {
	t.Parallel()
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(200)
		first, _, _ := follow(t, h, 3, "m100", 5)
		h.FeedSubscribed("b")
		pass(time.Second)
		_, fewer, _ := follow(t, h, 3, "m100", 2)
		synctest.Wait()
		require.Equal(t, []string{"snapshot", "me"}, fewer.take(t))
		meHolds(t, f, fewer, "m100", 2)
		require.Len(t, f.lookups, 1, "these are known")
		release := f.hold()
		widest, more, _ := follow(t, h, 3, "m100", 9)
		synctest.Wait()
		require.Equal(t, []string{"snapshot", "me"}, more.take(t), "the rank at once")
		release()
		synctest.Wait()
		require.Equal(t, []string{"me"}, more.take(t), "and all when it was read")
		meHolds(t, f, more, "m100", 9)
		f100 := h.boards["b"].view.Member("m100")
		require.Equal(t, 9, f100.Around())
		h.Leave(widest)
		synctest.Wait()
		require.Equal(t, 5, f100.Around(), "no more neighbours than a follower sees")
		h.Leave(first)
		synctest.Wait()
		require.Equal(t, 2, f100.Around())
	})
}
