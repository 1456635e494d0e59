package hub

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
)

func TestOneFrameAnIntervalAfterTheFirstChange(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.set("a", 1)
		f.set("b", 0)
		conn := watchTopLive(t, h, 10)
		deliver(h, f.set("b", 5), 0)
		require.Equal(t, []string{"delta"}, conn.take(t), "after a quiet time at once")
		for i := range 9 {
			pass(10 * time.Millisecond)
			h.FeedChanges(f.set("a", int64(i)))
		}
		synctest.Wait()
		require.Empty(t, conn.take(t), "within the interval nothing")
		pass(10 * time.Millisecond)
		require.Equal(t, []string{"delta"}, conn.take(t), "then all in one frame")
		require.Equal(t, f.top(10), conn.board.Top)
		require.Equal(t, 1, len(f.pages), "a steady board costs no reads")
	})
}

func TestChangeBelowTheTopSendsNoFrame(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		for i := range 20 {
			f.set(fmt.Sprintf("m%02d", i), int64(100-i))
		}
		conn := watchTopLive(t, h, 5)
		deliver(h, f.set("m19", 82), time.Second)
		require.Empty(t, conn.take(t))
		deliver(h, f.set("m01", 101), time.Second)
		require.Equal(t, []string{"delta"}, conn.take(t))
		require.Equal(t, f.top(5), conn.board.Top)
		deliver(h, f.set("new", 1), time.Second)
		require.Equal(t, []string{"delta"}, conn.take(t), "the total is shown")
		require.EqualValues(t, 25, conn.board.Total)
	})
}

// A view that has too few entries publishes nothing until it has been read again.
func TestIncompleteTopIsNotPublished(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(200)
		conn := watchTopLive(t, h, 20)
		f.setReadErr(errAway)
		for i := 10; i < 50; i++ { // all entries of the view behind the first ten
			deliver(h, f.set(fmt.Sprintf("m%03d", i), int64(-1000-i)), 150*time.Millisecond)
			require.Len(t, conn.board.Top, 20)
		}
		deliver(h, f.set("m001", 3000), 5*time.Second) // among the entries that are left
		require.Equal(t, "m000", conn.board.Top[0].Member)
		f.setReadErr(nil)
		pass(5 * time.Second)
		require.Equal(t, f.top(20), conn.board.Top)
	})
}

func TestUnwatchedBoardLeavesNothing(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		for range 3 {
			a, _, _ := watchTop(t, h, 10)
			b, _, sub := watchTop(t, h, 10)
			confirm(h, 0)
			require.Equal(t, 1, h.Watched())
			require.NotZero(t, f.watched["b"])
			h.Unsubscribe(sub)
			require.Equal(t, 1, h.Watched())
			h.Leave(b)
			h.Leave(a)
			synctest.Wait()
			require.Zero(t, h.Watched())
			require.Empty(t, f.watched)
			requireNothingStays(t, h)
		}
	})
}

// A watched board has no goroutine while it is quiet, and nothing of it stays after its last
// client.
func TestQuietBoardRunsNothing(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		c, conn, _ := watchMember(t, h, 10, "a", 0)
		h.FeedSubscribed("b")
		for range 5 {
			deliver(h, f.set("a", 1), time.Minute) // verifications among it
			requireNothingRuns(t, h)
		}
		require.Equal(t, f.top(10), conn.board.Top)
		h.Leave(c)
		synctest.Wait()
		requireNothingStays(t, h)
		require.Empty(t, h.boards)
		require.Empty(t, h.order)
		require.Empty(t, h.channels)
		require.Zero(t, h.status.unsynced)
		require.Zero(t, h.Followed())
	})
}

// Changes, subscriptions, answers and outages from many goroutines at once never lose a
// change.
func TestTurnsMissNothing(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		_, conn, _ := watchTop(t, h, 10)
		confirm(h, 0)
		var wg sync.WaitGroup
		wg.Go(func() {
			for i := range 500 {
				h.FeedChanges(f.set(fmt.Sprint("m", i%20), int64(i)))
				if i%50 == 0 {
					h.FeedSubscribed("b")
				}
			}
		})
		for range 4 {
			wg.Go(func() {
				for i := range 100 {
					c := h.Join(&recordingConn{}, nil)
					_, err := h.Subscribe(c, theBoard, Watch{Top: i % 30, Me: fmt.Sprint("m", i%20)}, nil, func() {})
					require.NoError(t, err)
					h.Leave(c)
				}
			})
		}
		wg.Wait()
		pass(500 * time.Millisecond) // before a seq check could repair anything
		require.Equal(t, f.top(10), conn.board.Top)
		require.Zero(t, h.Followed())
		require.NoError(t, conn.foldErr)
	})
}

// A board beyond MaxBoards is refused. Others, and further clients of watched boards, are
// not.
func TestWatchedBoardsAreLimited(t *testing.T) {
	withManyBoards(t, Config{MaxBoards: 2}, func(t *testing.T, h *Hub, m *manyBoards, watch watchBoard) {
		join := func() *Client { return h.Join(&recordingConn{}, nil) }
		watch(join(), "a", 1, nil)
		b := join()
		watch(b, "b", 1, nil)
		watch(join(), "c", 1, ErrTooManyBoards)
		watch(join(), "a", 1, nil) // it is watched already
		require.Equal(t, 2, h.Watched())
		h.Leave(b)
		watch(join(), "c", 1, nil)
		require.Equal(t, map[string]int{"a": 1, "c": 1}, m.watched)
	})
}

// turnHook calls do in a turn.
type turnHook struct {
	*fakeBoard
	do hook
}

func (s *turnHook) Profiled(kind string) bool {
	s.do.call()
	return s.fakeBoard.Profiled(kind)
}

// What arrives during a turn gets a turn of its own.
func TestChangeDuringATurn(t *testing.T) {
	t.Parallel()
	s := &turnHook{fakeBoard: newFakeBoard()}
	s.kind = "user"
	withHubOf(t, s, Config{Shards: 1, Interval: time.Millisecond}, func(t *testing.T, h *Hub) {
		_, conn, _ := watchTop(t, h, 10)
		confirm(h, time.Second/2)
		s.do.once(func() {
			h.FeedChanges(s.set("b", 2))
		})
		deliver(h, s.set("a", 1), 100*time.Millisecond) // before a seq check could find it
		require.False(t, s.do.isSet())
		require.Equal(t, s.top(10), conn.board.Top)
	})
}

// Each frame shows the data of an entry: snapshots, deltas, resumed rows and me frames. A
// change of data alone is a change of the entry.
func TestDataInFrames(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(200)
		f.setData("m002", `{"car":"44"}`)
		f.setData("m101", `[1]`)
		_, conn, _ := watchMember(t, h, 5, "m100", 2)
		_, three, _ := watchMember(t, h, 3, "m003", 2)
		confirm(h, 3*time.Second)
		require.Equal(t, f.top(5), conn.board.Top)
		require.EqualValues(t, `{"car":"44"}`, conn.board.Top[2].Data)
		require.EqualValues(t, `[1]`, conn.board.Me.Around[3].Data)
		meHolds(t, f, conn, "m100", 2)
		meHolds(t, f, three, "m003", 2)
		conn.take(t)
		three.take(t)
		pages := len(f.pages)

		deliver(h, f.setData("m004", `"x"`), 2*time.Second)
		require.Equal(t, []string{"delta"}, conn.take(t), "a row, though no member moved")
		require.Equal(t, f.top(5), conn.board.Top)
		require.Equal(t, []string{"me"}, three.take(t), "it is around the one, and not in the first three")
		meHolds(t, f, three, "m003", 2)

		deliver(h, f.setData("m002", ""), 2*time.Second)
		require.Equal(t, []string{"delta"}, conn.take(t))
		require.Equal(t, f.top(5), conn.board.Top)
		require.Equal(t, []string{"delta", "me"}, three.take(t))
		meHolds(t, f, three, "m003", 2)

		lookups := len(f.lookups)
		for _, neighbour := range []string{"m098", "m102", "m100"} {
			deliver(h, f.setData(neighbour, `"`+neighbour+`"`), 2*time.Second)
			require.Equal(t, []string{"me"}, conn.take(t), neighbour)
			meHolds(t, f, conn, "m100", 2)
			lookups++
			require.Len(t, f.lookups, lookups)
		}
		h.FeedChanges(f.setData("m103", `"far"`))
		deliver(h, f.set("m002", 2105), 2*time.Second) // the first, with its data
		require.Equal(t, f.top(5), conn.board.Top)
		require.Len(t, f.lookups, lookups, "what is not near needs no look-up")
		require.Len(t, f.pages, pages)
	})
}

// A delta contains the ranks that a change moved by ties alone.
func TestDeltaHasRanksThatTiesMoved(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.ties = definition.Dense
		for i, score := range []int64{90, 80, 80, 70, 60, 50, 40, 30} {
			f.set(string(rune('a'+i)), score)
		}
		_, conn, _ := watchTop(t, h, 8)
		_, me, _ := watchMember(t, h, 1, "g", 0)
		confirm(h, 0)
		conn.take(t)
		me.take(t)
		require.EqualValues(t, 2, f.top(8)[2].Rank)
		deliver(h, f.set("e", 70), 2*time.Second) // only e moves, and no member has 60 any more
		require.Equal(t, []string{"delta"}, conn.take(t))
		require.Equal(t, f.top(8), conn.board.Top)
		require.Equal(t, []string{"me"}, me.take(t))
		meHolds(t, f, me, "g", 0)
	})
}

// A replaced board is sent as a snapshot of another epoch, and followers get their place
// again.
func TestReplacedBoardIsSentAsSnapshot(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		conn := fillAndWatchMember(t, h, f, "m050", 2)
		pages := len(f.pages)
		deliver(h, f.replace(map[string]int64{"m050": 1, "m051": 2, "m001": 3, "x": 4}), resyncJitter)
		require.Equal(t, []string{"snapshot", "me"}, conn.take(t))
		require.Len(t, f.pages, pages+1)
		require.Equal(t, f.top(3), conn.board.Top)
		meHolds(t, f, conn, "m050", 2)
		deliver(h, f.set("m001", 0), 2*time.Second)
		require.Equal(t, f.top(3), conn.board.Top)
		meHolds(t, f, conn, "m050", 2)
		require.Len(t, f.pages, pages+1)
		require.Empty(t, f.logged())
	})
}
