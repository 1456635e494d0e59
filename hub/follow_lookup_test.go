package hub

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking"
	"rankcast/ranking/feed"
)

// Members that are followed at the same time are looked up together.
func TestLookupsAreBatched(t *testing.T) {
	t.Parallel()
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(300)
		var conns []*fakeConn
		for i := range 600 { // half of them are on the board, 27 of these in the view
			_, conn, _ := follow(t, h, 10, fmt.Sprintf("m%03d", i), 0)
			conns = append(conns, conn)
		}
		h.FeedSubscribed("b")
		synctest.Wait()
		for i, conn := range conns {
			require.Equal(t, []string{"snapshot", "me"}, conn.take(t))
			meHolds(t, f, conn, fmt.Sprintf("m%03d", i), 0)
		}
		require.Equal(t, 1, len(f.pages))
		require.Equal(t, []int{ranking.MaxLookups, ranking.MaxLookups, 600 - 27 - 2*ranking.MaxLookups}, f.lookups)
	})
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) { // with neighbours: bounded by rows
		f.fill(300)
		var conns []*fakeConn
		for i := range 60 {
			_, conn, _ := follow(t, h, 10, fmt.Sprintf("m%03d", 100+i), MaxAround)
			conns = append(conns, conn)
		}
		h.FeedSubscribed("b")
		synctest.Wait()
		for i, conn := range conns {
			meHolds(t, f, conn, fmt.Sprintf("m%03d", 100+i), MaxAround)
		}
		require.Equal(t, []int{24, 24, 12}, f.lookups)
	})
}

// A member among the entries needs no lookup, and neither does any member of a board that
// is all in the view.
func TestTopMembersNeedNoLookup(t *testing.T) {
	t.Parallel()
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		_, in, _ := follow(t, h, 10, "low2", 1)
		_, out, _ := follow(t, h, 10, "absent", 1)
		h.FeedSubscribed("b")
		synctest.Wait()
		meHolds(t, f, in, "low2", 1)
		meHolds(t, f, out, "absent", 1)
		pass(time.Second)
		h.FeedChanges(f.set("absent", -11))
		synctest.Wait()
		meHolds(t, f, in, "low2", 1)
		meHolds(t, f, out, "absent", 1)
		require.Empty(t, f.lookups)
	})
}

// A lookup may be older than the last notification of the member's own change. The older
// place is not sent.
func TestOldLookupIsNotSentAfterANewerChange(t *testing.T) {
	t.Parallel()
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(200)
		_, conn, _ := follow(t, h, 3, "m100", 2)
		h.FeedSubscribed("b")
		pass(3 * time.Second)
		conn.take(t)
		f.onPlaces.set(func() {
			f.onPlaces.clear()
			h.FeedChanges(f.set("m100", 1500))
			time.Sleep(200 * time.Millisecond)
		})
		h.FeedChanges(f.set("m101", 991))
		pass(150 * time.Millisecond)
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
	t.Parallel()
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(200)
		_, other, _ := follow(t, h, 3, "m120", 0)
		for i := range 100 { // more than a verification compares
			follow(t, h, 3, fmt.Sprintf("m%03d", 101+i), 0)
		}
		h.FeedSubscribed("b")
		pass(time.Second)
		var late *feed.Changes
		f.beforeRead.set(func() { late = f.set("m150", 1005+f.state.Seq) })
		_, conn, _ := follow(t, h, 3, "m100", 1)
		pass(50 * time.Millisecond)
		require.Equal(t, []string{"snapshot"}, conn.take(t), "its place is known as of a moment that is still to come")
		h.FeedChanges(late)
		synctest.Wait()
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
