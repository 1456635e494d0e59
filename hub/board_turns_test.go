package hub

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking"
)

// A watched board has no goroutine while it is quiet, and nothing of it stays after its last
// client.
func TestQuietBoardRunsNothing(t *testing.T) {
	t.Parallel()
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		c, conn, _ := follow(t, h, 10, "a", 0)
		h.FeedSubscribed("b")
		for range 5 {
			h.FeedChanges(f.set("a", 1))
			pass(time.Minute) // verifications among it
			requireNothingRuns(t, h)
		}
		require.Equal(t, f.top(10), conn.board.Top)
		h.Leave(c)
		synctest.Wait()
		requireNothingRuns(t, h)
		require.Empty(t, h.boards)
		require.Empty(t, h.order)
		require.Empty(t, h.instances)
		require.Zero(t, h.status.unsynced)
		require.Zero(t, h.Followed())
	})
}

// Changes, subscriptions, answers and outages from many goroutines at once never lose a
// change.
func TestTurnsMissNothing(t *testing.T) {
	t.Parallel()
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		_, conn, _ := join(t, h, 10)
		h.FeedSubscribed("b")
		synctest.Wait()
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
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeBoard()
		h := New(f, f, Config{MaxBoards: 2, Shards: 1})
		defer runHub(h)()
		subscribe := func(name string) (*Client, error) {
			c := h.Join(&recordingConn{}, nil)
			_, err := h.Subscribe(c, ranking.Board{Name: name, Instance: name}, Watch{Top: 1}, nil, func() {})
			return c, err
		}
		_, err := subscribe("a")
		require.NoError(t, err)
		b, err := subscribe("b")
		require.NoError(t, err)
		_, err = subscribe("c")
		require.ErrorIs(t, err, ErrTooManyBoards)
		_, err = subscribe("a")
		require.NoError(t, err, "it is watched already")
		require.Equal(t, 2, h.Watched())
		h.Leave(b)
		_, err = subscribe("c")
		require.NoError(t, err)
		require.Equal(t, map[string]int{"a": 1, "c": 1}, f.watched)
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
	synctest.Test(t, func(t *testing.T) {
		s := &turnHook{fakeBoard: newFakeBoard()}
		s.kind = "user"
		h := New(s, s, Config{Shards: 1, Interval: time.Millisecond})
		defer runHub(h)()
		h.FeedUp()
		_, conn, _ := join(t, h, 10)
		h.FeedSubscribed("b")
		pass(time.Second / 2)
		s.do.set(func() {
			s.do.clear()
			h.FeedChanges(s.set("b", 2))
		})
		h.FeedChanges(s.set("a", 1))
		pass(100 * time.Millisecond) // before a seq check could find it
		require.False(t, s.do.isSet())
		require.Equal(t, s.top(10), conn.board.Top)
	})
}
