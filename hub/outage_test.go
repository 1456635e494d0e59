package hub

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"rankcast/ranking/definition"

	"github.com/stretchr/testify/require"
)

func TestOutageStatusAndRecovery(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.set("a", 1)
		conn := watchTopLive(t, h, 10)

		asOf := time.Now()
		pass(time.Second)
		h.FeedDown(asOf)
		synctest.Wait()
		require.Equal(t, asOf.UTC().Format(definition.TimeForm), conn.frames[0].AsOf)
		require.Equal(t, []string{"status true"}, conn.take(t))

		_, late, _ := watchTop(t, h, 10)
		synctest.Wait()
		require.Equal(t, []string{"status true", "snapshot"}, late.take(t), "a new client is told, and gets what there is")

		f.set("a", 2) // the message is lost
		f.setReadErr(errAway)
		h.FeedUp()
		confirm(h, 5*time.Second)
		require.Empty(t, conn.take(t), "still stale while the board can't be read")
		f.setReadErr(nil)
		pass(5 * time.Second)
		require.Equal(t, []string{"delta", "status false"}, conn.take(t))
		require.Equal(t, []string{"delta", "status false"}, late.take(t))
		require.Equal(t, f.top(10), conn.board.Top)

		_, fresh, _ := watchTop(t, h, 10)
		synctest.Wait()
		require.Equal(t, []string{"snapshot"}, fresh.take(t))
	})
}

// The feed loses its subscription to one board: clients are told, and a board of another instance goes on. The outage
// ends when the hub has read the board after the new subscription.
func TestOutageOfOneBoard(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.set("a", 1)
		first, conn, _ := watchTop(t, h, 10)
		_, other := watch(t, h, "b2", Watch{Top: 3})
		h.FeedSubscribed("b")
		h.FeedSubscribed("b2")
		pass(time.Second)
		conn.take(t)
		other.take(t)
		reads := func() int {
			return len(slices.DeleteFunc(slices.Clone(f.pages), func(name string) bool { return name != "b" }))
		}
		before := reads()

		asOf := time.Now()
		pass(time.Second)
		h.FeedUnsubscribed("b", asOf)
		synctest.Wait()
		require.Equal(t, asOf.UTC().Format(definition.TimeForm), conn.frames[0].AsOf)
		require.Equal(t, []string{"status true"}, conn.take(t))
		require.Equal(t, []string{"status true"}, other.take(t))
		require.True(t, h.Up())
		require.False(t, h.ReceivesAll())
		f.set("a", 2) // the message is lost
		pass(5 * time.Second)
		require.Equal(t, before, reads(), "nothing is read before the new subscription")
		require.True(t, isStale(h))
		require.Equal(t, []string{"delta"}, other.take(t), "its seq check goes on")

		lateClient, late, _ := watchTop(t, h, 10)
		pass(time.Second)
		require.Equal(t, []string{"status true", "snapshot"}, late.take(t))
		h.FeedSubscribed("b")
		h.FeedUnsubscribed("b", time.Now()) // again, before the board has been read
		pass(time.Second)
		require.True(t, isStale(h))
		confirm(h, time.Second)
		require.Equal(t, []string{"delta", "status false"}, conn.take(t))
		require.Equal(t, f.top(10), conn.board.Top)
		require.Equal(t, []string{"status false"}, other.take(t))
		require.True(t, h.ReceivesAll())

		h.FeedUnsubscribed("b", time.Now())
		h.Leave(first)
		require.False(t, h.ReceivesAll())
		h.Leave(lateClient)
		require.True(t, h.ReceivesAll(), "nobody watches the board")
	})
}

// On a cluster the feed loses items and changes of profiles alone: boards go on, and show the right names afterwards.
func TestOutageWithoutBoards(t *testing.T) {
	withProfiles(t, func(t *testing.T, h *Hub, f *fakeBoard, conn *fakeConn) {
		_, feeds, _ := followFeed(t, h, "gift")
		confirmFeed(h, "gift", time.Second)
		conn.take(t)
		feeds.take(t)
		reads := len(f.pages)
		h.FeedUnfollowed(time.Now())
		synctest.Wait()
		require.Equal(t, []string{"status true"}, conn.take(t))
		require.False(t, h.Up())
		deliver(h, f.set("b", 9), time.Second)
		require.Equal(t, []string{"delta"}, conn.take(t), "the board goes on")
		require.Equal(t, f.withProfiles(f.top(10)), conn.board.Top)
		f.setProfile("a", "Anna") // the message is lost
		h.FeedUp()
		pass(time.Second)
		require.Equal(t, []string{"delta"}, conn.take(t))
		require.Equal(t, "Anna", conn.board.Top[1].Name)
		require.True(t, isStale(h), "items may still be lost")
		confirmFeed(h, "gift", time.Second)
		require.Equal(t, []string{"status false"}, conn.take(t))
		require.Equal(t, reads, len(f.pages), "nothing was missing on the board")
	})
}

// The feed may lose its subscription while a page is about to end an earlier outage.
func TestOutageOfOneBoardWhileItRecovers(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		watchTop(t, h, 10)
		confirm(h, time.Second)
		h.FeedUnsubscribed("b", time.Now())
		h.status.syncedAfter(&h.boards["b"].mark, 0) // by a turn that does not know of it yet
		require.True(t, isStale(h))
		pass(time.Second)
		confirm(h, time.Second)
		require.False(t, isStale(h))
	})
}

// A board that is first watched during an outage is read before the outage ends. A board
// that loses its last watcher does not delay the end.
func TestOutageEndsWhenAllBoardsAreRead(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		h.FeedDown(time.Now())
		require.True(t, isStale(h))
		first, conn, _ := watchTop(t, h, 10)
		synctest.Wait()
		require.Equal(t, []string{"status true"}, conn.take(t))
		h.FeedUp()
		pass(time.Second)
		require.True(t, isStale(h), "the board has not been read")
		confirm(h, time.Second)
		require.Equal(t, []string{"snapshot", "status false"}, conn.take(t))
		require.False(t, isStale(h))

		h.FeedDown(time.Now())
		h.Leave(first)
		h.FeedUp()
		pass(time.Second)
		require.False(t, isStale(h), "the board has no watcher")
	})
}

// Reads may fail while the feed is up, as on a cluster.
func TestFailedReadsMakeClientsStale(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		conn := watchTopLive(t, h, 10)
		f.setReadErr(errAway)
		pass(1100 * time.Millisecond)
		require.Equal(t, []string{"status true"}, conn.take(t))
		f.set("a", 5)
		f.setReadErr(nil)
		pass(5 * time.Second)
		require.Equal(t, f.top(10), conn.board.Top)
		require.False(t, isStale(h))
		types := conn.take(t)
		require.Equal(t, "status false", types[len(types)-1])
	})
}

// When Redis hangs, a read fails seconds later. Clients learn a time at which their boards were current still, and not
// more than two intervals of the seq check before the hang. So no change that they miss is older.
func TestStaleAsOfIsBeforeTheHang(t *testing.T) {
	type test struct {
		before  func(h *Hub, f *fakeBoard)               // since the last seq check, until the hang
		after   func(t *testing.T, h *Hub, f *fakeBoard) // reads at once after it
		missing bool                                     // the board does not exist
	}
	withHubFor(t, map[string]test{
		"a seq check fails": {},
		"a seq check of a busy board fails": {before: func(h *Hub, f *fakeBoard) {
			for range 5 { // each seq check finds a change that arrives after it
				c := f.set("a", time.Now().UnixMilli())
				pass(time.Second)
				h.FeedChanges(c)
			}
			pass(200 * time.Millisecond) // clients have the last one
		}},
		"a page fails":   {after: func(t *testing.T, h *Hub, _ *fakeBoard) { watchTop(t, h, 100) }},
		"a lookup fails": {after: func(t *testing.T, h *Hub, _ *fakeBoard) { watchMember(t, h, 3, "m150", 0) }},
		"the first page of another board fails": {after: func(t *testing.T, h *Hub, _ *fakeBoard) {
			watch(t, h, "b2", Watch{Top: 3})
			h.FeedSubscribed("b2")
		}},
		"a board that does not exist": {missing: true},
		"a lost subscription": {after: func(_ *testing.T, h *Hub, _ *fakeBoard) {
			pass(100 * time.Millisecond)
			h.FeedUnsubscribed("b", time.Now())
		}},
	}, func(t *testing.T, h *Hub, f *fakeBoard, c test) {
		f.fill(200)
		f.missing = c.missing
		_, conn, _ := watchTop(t, h, 10)
		confirm(h, 5500*time.Millisecond)
		if c.before != nil {
			c.before(h, f)
		}
		require.False(t, isStale(h))
		conn.take(t)

		hang := time.Now()
		f.setReadErr(errors.New("no answer"))
		silence := func() { time.Sleep(2 * time.Second) }
		f.beforeRead.set(silence)
		f.onStates.set(silence)
		f.set("a", 1) // elsewhere
		if c.after != nil {
			c.after(t, h, f)
		}
		pass(4 * time.Second)
		require.NotEmpty(t, conn.frames)
		asOf, err := time.Parse(definition.TimeForm, conn.frames[0].AsOf)
		require.NoError(t, err)
		require.False(t, asOf.After(hang), "%s after the hang", asOf.Sub(hang))
		require.LessOrEqual(t, hang.Sub(asOf), 2*h.cfg.CheckInterval)
		require.Equal(t, []string{"status true"}, conn.take(t))
	})
}

// After a failed page the clients are stale until a page is read, also when the view does
// not need the page any more.
func TestStaleEndsWhenTheFailedPageIsNotNeeded(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(200)
		c, conn, sub := watchTop(t, h, 10)
		confirm(h, time.Second)
		f.edit(func() { f.pageErr = errAway })
		sub, err := h.Subscribe(c, theBoard, Watch{Top: 100}, sub, func() {})
		require.NoError(t, err)
		pass(100 * time.Millisecond)
		require.True(t, isStale(h))
		_, err = h.Subscribe(c, theBoard, Watch{Top: 10}, sub, func() {})
		require.NoError(t, err)
		f.edit(func() { f.pageErr = nil })
		pass(3 * time.Second)
		require.False(t, isStale(h))
		require.Equal(t, f.top(10), conn.board.Top)
	})
}

// After an outage clients are current only once each followed member is known again.
func TestOutageEndsWhenFollowersAreRecovered(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		conn := fillAndWatchMember(t, h, f, "m100", 0)
		h.FeedDown(time.Now())
		f.set("m150", 1005) // the message is lost
		f.edit(func() { f.lookupErr = errAway })
		h.FeedUp()
		confirm(h, 5*time.Second)
		require.Equal(t, []string{"status true"}, conn.take(t))
		require.Less(t, len(f.lookups), 20, "with pauses")
		f.edit(func() { f.lookupErr = nil })
		pass(5 * time.Second)
		require.Equal(t, []string{"me", "status false"}, conn.take(t))
		meHolds(t, f, conn, "m100", 0)
	})
}

// A failed lookup that no client needs any more does not keep the clients stale.
func TestStaleEndsWhenTheFailedLookupIsNotNeeded(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(200)
		conn := watchTopLive(t, h, 3)
		f.edit(func() { f.lookupErr = errAway })
		c, _, _ := watchMember(t, h, 3, "m100", 0)
		pass(3 * time.Second)
		require.True(t, isStale(h))
		h.Leave(c)
		pass(3 * time.Second)
		require.False(t, isStale(h))
		require.Equal(t, []string{"status true", "status false"}, conn.take(t))
		require.Equal(t, 1, len(f.pages))
	})
}

// An outage ends once the read entries are published, whatever else fails.
func TestOutageEndsOnceTheTopIsPublished(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(200)
		conn := watchTopLive(t, h, 3)
		f.edit(func() { f.lookupErr = errAway })
		c, _, _ := watchMember(t, h, 3, "m100", 0)
		pass(5 * time.Second)
		require.Equal(t, []string{"status true"}, conn.take(t))
		deliver(h, f.set("m000", 3000), 0) // begins an interval
		conn.take(t)
		f.set("m002", 5000) // the message is lost
		deliver(h, f.set("m001", 4000), 0)
		h.Leave(c)
		pass(time.Second)
		types := conn.take(t)
		require.Len(t, types, 2)
		require.Equal(t, "status false", types[1])
		require.Equal(t, f.top(3), conn.board.Top)
	})
}
