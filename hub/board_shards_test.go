package hub

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking"
)

// withShards runs a test on a board with three shards and some members, and one client. The node did not know of the shards when the
// client came.
func withShards(t *testing.T, w Watch, test func(t *testing.T, h *Hub, f *fakeBoard, conn *fakeConn)) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.divide(3)
		f.fill(200)
		c, conn := watch(t, h, "b", w)
		confirm(h, time.Second)
		for _, name := range ranking.ShardNames("b", 3) {
			require.Equal(t, 1, f.watched[name])
		}
		require.Empty(t, conn.take(t), "no page is complete before the changes of all shards arrive")
		for i, name := range ranking.ShardNames("b", 3) {
			require.Empty(t, conn.take(t), "before shard %d", i)
			h.FeedSubscribed(name)
			pass(time.Second)
		}
		require.Equal(t, "snapshot", conn.take(t)[0])
		test(t, h, f, conn)
		h.Leave(c)
		synctest.Wait()
		require.Empty(t, f.watched)
		requireNothingStays(t, h)
	})
}

// The feed loses one shard, or two of them one after another: clients are stale until it delivers the changes of all, and a page has
// been read since.
func TestOutageOfOneShard(t *testing.T) {
	withShards(t, Watch{Top: 10}, func(t *testing.T, h *Hub, f *fakeBoard, conn *fakeConn) {
		names := ranking.ShardNames("b", 3)
		for _, lost := range [][]string{names[1:2], {names[0], names[2]}} {
			for _, name := range lost {
				h.FeedUnsubscribed(name, time.Now())
				pass(time.Second)
			}
			f.set("m199", 5000+int64(len(f.pages))) // the message is lost
			pass(time.Second)
			require.Equal(t, []string{"status true"}, conn.take(t))
			require.False(t, h.ReceivesAll())
			for _, name := range lost {
				require.True(t, isStale(h))
				h.FeedSubscribed(name)
				pass(time.Second)
			}
			require.Equal(t, []string{"delta", "status false"}, conn.take(t), "after the loss of %v", lost)
			require.Equal(t, f.top(10), conn.board.Top)
			require.True(t, h.ReceivesAll())
		}
	})
}

// A follower that its own changes move beyond the top is counted once an interval.
func TestMovedMembersAreCountedOnceAnInterval(t *testing.T) {
	withShards(t, Watch{Top: 3, Me: "m150"}, func(t *testing.T, h *Hub, f *fakeBoard, conn *fakeConn) {
		lookups := len(f.lookups)
		for i := range 100 {
			deliver(h, f.set("m150", int64(500+i)), 10*time.Millisecond)
		}
		pass(time.Second)
		require.LessOrEqual(t, len(f.lookups)-lookups, 12)
		meHolds(t, f, conn, "m150", 0)
		frames := slices.DeleteFunc(conn.take(t), func(kind string) bool { return kind != "me" })
		require.GreaterOrEqual(t, len(frames), 9, "and is shown so")
	})
}

// A board that is defined anew with other shards, or without any, while clients watch it.
func TestBoardGetsOtherShards(t *testing.T) {
	withShards(t, Watch{Top: 3, Me: "m150", Around: 1}, func(t *testing.T, h *Hub, f *fakeBoard, conn *fakeConn) {
		for _, shards := range []int{16, 2, 0, 3} {
			old := f.set("m150", int64(100*shards))
			h.FeedChanges(old)
			if shards > 0 {
				f.divide(shards)
			} else {
				f.edit(func() { f.shards, f.state.Epoch, f.state.Seq = nil, "undivided", 0 })
			}
			f.set("m151", int64(900+shards))
			pass(3 * time.Second) // two seq checks
			want := map[string]int{}
			for _, name := range ranking.ShardNames("b", shards) {
				want[name] = 1
				h.FeedSubscribed(name)
			}
			h.FeedChanges(old) // late
			require.Equal(t, want, f.watched)
			pass(3 * time.Second)
			deliver(h, f.set("m150", int64(700+shards)), 3*time.Second)
			require.Equal(t, f.top(3), conn.board.Top, fmt.Sprint("with ", shards))
			meHolds(t, f, conn, "m150", 1)
			require.False(t, isStale(h))
			conn.take(t)
		}
	})
}

// While a board waits for its turn, changes of a second are kept, whatever their number, and a bounded number of later ones.
func TestChangesWaitForATurn(t *testing.T) {
	withShards(t, Watch{Top: 3}, func(t *testing.T, h *Hub, f *fakeBoard, conn *fakeConn) {
		b := h.boards["b"]
		wait := func(every time.Duration) (kept int) {
			b.mu.Lock()
			b.running = true // elsewhere
			b.mu.Unlock()
			for i := range 3 * boardChanges {
				c := f.set("m150", int64(i))
				c.Received = time.Duration(i) * every
				h.FeedChanges(c)
			}
			b.mu.Lock()
			b.running, kept = false, len(b.work.changes)
			b.mu.Unlock()
			b.wake(urgent)
			pass(3 * time.Second)
			require.True(t, b.view.Valid())
			require.Equal(t, f.top(3), conn.board.Top)
			return kept
		}
		pages := len(f.pages)
		require.Equal(t, 3*boardChanges, wait(boardDelay/(3*boardChanges)))
		require.Len(t, f.pages, pages, "none is missing")
		require.Equal(t, boardChanges, wait(boardDelay/boardChanges+1))
	})
}
