package hub

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/hub/hubtest"
	"rankcast/ranking"
	"rankcast/ranking/feed"
)

// Members that are followed at the same time are looked up together, in calls that are bounded by members and by rows.
func TestLookupsAreBatched(t *testing.T) {
	type test struct {
		first, followed, around int
		lookups                 []int
	}
	withHubFor(t, map[string]test{
		// Half of them are on the board, 27 of these in the view.
		"by members": {0, 600, 0, []int{ranking.MaxLookups, ranking.MaxLookups, 600 - 27 - 2*ranking.MaxLookups}},
		"by rows":    {100, 60, MaxAround, []int{24, 24, 12}},
	}, func(t *testing.T, h *Hub, f *fakeBoard, c test) {
		f.fill(300)
		conns := make([]*fakeConn, c.followed)
		member := func(i int) string { return fmt.Sprintf("m%03d", c.first+i) }
		for i := range conns {
			_, conns[i], _ = watchMember(t, h, 10, member(i), c.around)
		}
		confirm(h, 0)
		for i, conn := range conns {
			require.Equal(t, []string{"snapshot", "me"}, conn.take(t))
			meHolds(t, f, conn, member(i), c.around)
		}
		require.Equal(t, 1, len(f.pages))
		require.Equal(t, c.lookups, f.lookups)
	})
}

// A member among the entries needs no lookup, and neither does any member of a board that
// is all in the view.
func TestTopMembersNeedNoLookup(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		_, in, _ := watchMember(t, h, 10, "low2", 1)
		_, out, _ := watchMember(t, h, 10, "absent", 1)
		confirm(h, 0)
		meHolds(t, f, in, "low2", 1)
		meHolds(t, f, out, "absent", 1)
		pass(time.Second)
		deliver(h, f.set("absent", -11), 0)
		meHolds(t, f, in, "low2", 1)
		meHolds(t, f, out, "absent", 1)
		require.Empty(t, f.lookups)
	})
}

// A lookup may be older than the last notification of the member's own change. The older
// place is not sent.
func TestOldLookupIsNotSentAfterANewerChange(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		conn := fillAndWatchMember(t, h, f, "m100", 2)
		f.onPlaces.once(func() {
			h.FeedChanges(f.set("m100", 1500))
			time.Sleep(200 * time.Millisecond)
		})
		deliver(h, f.set("m101", 991), 150*time.Millisecond)
		require.Equal(t, []string{"me"}, conn.take(t))
		require.EqualValues(t, 1500, *conn.board.Me.Score)
		pass(200 * time.Millisecond)
		require.Empty(t, conn.take(t))
		pass(time.Second)
		require.Equal(t, []string{"me"}, conn.take(t))
		meHolds(t, f, conn, "m100", 2)
	})
}

// An answer may be ahead of the feed. It is held, and the changes that it contains are not
// applied twice.
func TestAnswersAheadOfTheFeedAreHeld(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(200)
		_, other, _ := watchMember(t, h, 3, "m120", 0)
		for i := range 100 { // more than a verification compares
			watchMember(t, h, 3, fmt.Sprintf("m%03d", 101+i), 0)
		}
		confirm(h, time.Second)
		var late *feed.Changes
		f.beforeRead.set(func() { late = f.set("m150", 1005+f.state.Seq) })
		_, conn, _ := watchMember(t, h, 3, "m100", 1)
		pass(50 * time.Millisecond)
		require.Equal(t, []string{"snapshot"}, conn.take(t), "its place is known as of a moment that is still to come")
		deliver(h, late, 0)
		require.Equal(t, []string{"me"}, conn.take(t))
		meHolds(t, f, conn, "m100", 1)

		f.beforeRead.set(func() {
			late = f.set("m151", 1005+f.state.Seq)
			f.beforeRead.clear()
			go func() {
				time.Sleep(50 * time.Millisecond)
				h.FeedChanges(late)
			}()
		})
		lookups := len(f.lookups)
		pass(35 * time.Second) // a verification
		require.False(t, f.beforeRead.isSet())
		meHolds(t, f, conn, "m100", 1)
		meHolds(t, f, other, "m120", 0)
		require.Equal(t, []int{verifiedMembers}, f.lookups[lookups:], "some were compared, and no member had to be looked up again")
		require.NotContains(t, other.take(t)[1:], "snapshot")
	})
}

// Neighbours below the top are read again after one of them moved, at most once an
// interval. The member's own rank does not wait for that.
func TestNeighboursAreReadOnceAnInterval(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(200)
		_, conn, _ := watchMember(t, h, 3, "m100", 2)
		_, narrow, _ := watchMember(t, h, 3, "m100", 1)
		confirm(h, 0)
		meHolds(t, f, conn, "m100", 2)
		meHolds(t, f, narrow, "m100", 1)
		require.Equal(t, []int{1}, f.lookups, "both are served by one look-up")
		pass(3 * time.Second)
		conn.take(t)

		deliver(h, f.set("m101", 991), 0) // the member behind, in its place
		require.Equal(t, []string{"me"}, conn.take(t))
		meHolds(t, f, conn, "m100", 2)
		require.Len(t, f.lookups, 2)
		for i := range 8 {
			deliver(h, f.set("m101", int64(992+i%2)), 100*time.Millisecond)
		}
		require.Len(t, f.lookups, 2)
		deliver(h, f.set("m100", 1002), 100*time.Millisecond)
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
		deliver(h, f.set("m101", 995), 0) // begins an interval
		require.Equal(t, []string{"me"}, conn.take(t))
		h.FeedChanges(f.set("m100", 1003))
		deliver(h, f.set("m100", 1002), 3*time.Second) // and back
		require.Empty(t, conn.take(t), "the neighbours are unchanged")
		lookups := len(f.lookups)
		h.FeedChanges(f.set("m103", 2))             // beyond the shown neighbours
		deliver(h, f.set("m000", 1), 3*time.Second) // moves all ranks
		require.Len(t, f.lookups, lookups, "what is not near needs no look-up")
		meHolds(t, f, conn, "m100", 2)
		conn.take(t)
		deliver(h, f.set("m199", 1), 3*time.Second)
		require.Empty(t, conn.take(t), "and nothing is sent")
	})
}

// Neighbours that change while they are read are sent as of the read, and read again an
// interval later.
func TestNeighboursThatChangeWhileTheyAreRead(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		conn := fillAndWatchMember(t, h, f, "m100", 2)
		var then []hubtest.Entry
		f.onPlaces.once(func() {
			then = f.around("m100", 2)
			h.FeedChanges(f.set("m101", 993))
		})
		deliver(h, f.set("m101", 991), 200*time.Millisecond)
		require.Equal(t, []string{"me"}, conn.take(t))
		require.Equal(t, then, conn.board.Me.Around)
		pass(time.Second)
		require.Equal(t, []string{"me"}, conn.take(t))
		meHolds(t, f, conn, "m100", 2)
	})
}

// A second client follows the same member with another number of neighbours.
func TestFollowersWithDifferentAround(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(200)
		first, _, _ := watchMember(t, h, 3, "m100", 5)
		confirm(h, time.Second)
		_, fewer, _ := watchMember(t, h, 3, "m100", 2)
		synctest.Wait()
		require.Equal(t, []string{"snapshot", "me"}, fewer.take(t))
		meHolds(t, f, fewer, "m100", 2)
		require.Len(t, f.lookups, 1, "these are known")
		release := f.hold()
		widest, more, _ := watchMember(t, h, 3, "m100", 9)
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
