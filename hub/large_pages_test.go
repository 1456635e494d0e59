package hub

import (
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/hub/view"
	"rankcast/ranking"
	"rankcast/ranking/definition"
)

// A page of many entries waits in line. Clients that want few entries do not wait for it.
func TestSmallPageComesBeforeALargeOne(t *testing.T) {
	withHubFor(t, map[string][]int{"the large one first": {300, 10}, "the small one first": {10, 300}},
		func(t *testing.T, h *Hub, f *fakeBoard, order []int) {
			f.fill(400)
			turn := make(chan struct{})
			f.beforeLarge.set(func() { <-turn })
			conns := make(map[int]*fakeConn)
			for _, top := range order {
				_, conns[top], _ = watchTop(t, h, top)
				confirm(h, 0)
			}
			require.Equal(t, []string{"snapshot"}, conns[10].take(t))
			require.Empty(t, conns[300].take(t))
			deliver(h, f.set("m001", 5000), time.Second)
			require.Equal(t, f.top(10), conns[10].board.Top, "the board goes on meanwhile")
			close(turn)
			pass(time.Second)
			require.Equal(t, f.top(300), conns[300].board.Top)
			require.Equal(t, f.top(10), conns[10].board.Top)
			require.False(t, isStale(h))
		})
}

// Clients that see an old state do not wait until a large page was read.
func TestResyncDoesNotWaitForItsTurn(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(400)
		small := watchTopLive(t, h, 10)
		turn := make(chan struct{})
		f.beforeLarge.set(func() { <-turn })
		_, large, _ := watchTop(t, h, 300)
		synctest.Wait()
		require.Equal(t, []int{300 + 300/8 + 16}, f.largeReads)
		f.set("m001", 5000) // a change that is lost
		deliver(h, f.set("m002", 4000), time.Second)
		require.Equal(t, f.top(10), small.board.Top)
		require.Empty(t, large.take(t))
		close(turn)
		pass(time.Second)
		require.Equal(t, f.top(300), large.board.Top)
	})
}

// A large page that cannot be read makes nobody stale, and does not delay a small one.
func TestLargePageThatFails(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(400)
		small := watchTopLive(t, h, 10)
		f.edit(func() { f.largeErr = errAway })
		_, large, _ := watchTop(t, h, 300)
		pass(5 * time.Second)
		require.False(t, isStale(h))
		require.Empty(t, large.take(t))
		h.FeedChanges(f.set("m001", 5000))
		_, another, _ := watchTop(t, h, 90)
		pass(200 * time.Millisecond) // two intervals
		require.Equal(t, f.top(90), another.board.Top)
		require.Equal(t, f.top(10), small.board.Top)
		f.edit(func() { f.largeErr = nil })
		pass(retryMax)
		require.Equal(t, f.top(300), large.board.Top)
	})
}

// takeLargeReads takes the turns of all large reads, until end is called.
func takeLargeReads(t *testing.T, h *Hub) (end func()) {
	end = func() {}
	for i := range maxLargeReads {
		others := end
		one, ok := h.largeReads.TryAcquire(i, 1)
		require.True(t, ok)
		end = func() { one(); others() }
	}
	return end
}

// A board whose large page waits keeps no changes meanwhile: however many arrive, the page is good
// when it comes.
func TestBusyBoardWaitsForAPermit(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(400)
		end := takeLargeReads(t, h)
		_, conn, _ := watchTop(t, h, 300)
		h.FeedSubscribed("b")
		for i := range 100 {
			deliver(h, f.set("m001", int64(1000+i)), view.MaxBuffering/10)
		}
		require.Empty(t, conn.take(t))
		end()
		synctest.Wait()
		require.Equal(t, []string{"snapshot"}, conn.take(t))
		require.Equal(t, f.top(300), conn.board.Top)
		require.Len(t, f.largeReads, 1)
	})
}

// Nobody waits for the verification of a large page, so it needs a permit too.
func TestVerificationOfALargePageNeedsAPermit(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(400)
		conn := watchTopLive(t, h, 300)
		pass(time.Minute)
		require.GreaterOrEqual(t, len(f.largeReads), 2)
		require.Len(t, f.pages, len(f.largeReads), "there was no other page")
		defer takeLargeReads(t, h)()
		before := len(f.pages)
		pass(time.Minute)
		require.Len(t, f.pages, before)
		deliver(h, f.set("m001", 5000), time.Second)
		require.Equal(t, f.top(300), conn.board.Top, "the board goes on meanwhile")
	})
}

// watchBoard subscribes a client to the first entries of a board, or fails with an error.
type watchBoard func(c *Client, board string, top int, want error) *Subscription

// withManyBoards runs a test beside others, with a hub of manyBoards on simulated time.
func withManyBoards(t *testing.T, cfg Config, test func(t *testing.T, h *Hub, m *manyBoards, watch watchBoard)) {
	t.Parallel()
	m := newManyBoards()
	cfg.Log, cfg.Shards = slog.New(&m.logs), 1
	withHubOf(t, m, cfg, func(t *testing.T, h *Hub) {
		test(t, h, m, func(c *Client, board string, top int, want error) *Subscription {
			t.Helper()
			h.mu.Lock()
			_, watched := h.boards[board]
			h.mu.Unlock()
			sub, err := h.Subscribe(c, ranking.Board{Name: board, Instance: board}, Watch{Top: top}, nil, func() {})
			require.ErrorIs(t, err, want)
			if !watched { // a feed confirms a board once; a second time makes the hub read it again
				h.FeedSubscribed(board)
			}
			synctest.Wait()
			return sub
		})
		pass(time.Second)
		require.Zero(t, h.largeReads.Keys())
	})
}

// A client that asks for many large pages does not delay a client of another address by more than a page.
// Pages that nobody waits for any more are not read.
func TestLargePagesTakeTurnsByAddress(t *testing.T) {
	withManyBoards(t, Config{}, func(t *testing.T, h *Hub, m *manyBoards, watch watchBoard) {
		many, again := h.Join(&recordingConn{}, "198.51.100.1"), h.Join(&recordingConn{}, "198.51.100.1")
		var last *Subscription
		for i := range 5 {
			last = watch(many, fmt.Sprint("many", i), 1000, nil)
		}
		watch(again, "again", 1000, nil)
		watch(h.Join(&recordingConn{}, "198.51.100.2"), "few", 1000, nil)
		h.Unsubscribe(last)
		pass(time.Second)
		require.Equal(t, []string{"many0", "few", "many1", "many2", "many3", "again"}, m.order)
	})
}

// A client does not wait in the line of another address that has asked for the same board before, with
// many others.
func TestLargePageOfABoardThatOthersWaitFor(t *testing.T) {
	withManyBoards(t, Config{}, func(t *testing.T, h *Hub, m *manyBoards, watch watchBoard) {
		many := h.Join(&recordingConn{}, "198.51.100.1")
		for i := range 20 {
			watch(many, fmt.Sprint("many", i), 1000, nil)
		}
		watch(h.Join(&recordingConn{}, "198.51.100.2"), "many19", 500, nil)
		pass(time.Second)
		require.Equal(t, []string{"many0", "many19", "many1"}, m.order[:3])
		require.Len(t, m.order, 20, "each once")
	})
}

// Clients without an address do not wait for each other's pages either.
func TestLargePagesTakeTurnsByClient(t *testing.T) {
	withManyBoards(t, Config{}, func(t *testing.T, h *Hub, m *manyBoards, watch watchBoard) {
		many := h.Join(&recordingConn{}, nil)
		for i := range 3 {
			watch(many, fmt.Sprint("many", i), 1000, nil)
		}
		watch(h.Join(&recordingConn{}, nil), "few", 1000, nil)
		pass(time.Second)
		require.Equal(t, []string{"many0", "few", "many1", "many2"}, m.order)
	})
}

// The clients of an address are the first watchers of half of the boards at most. They may watch any
// board of others.
func TestAddressWatchesHalfOfTheBoards(t *testing.T) {
	withManyBoards(t, Config{MaxBoards: 4}, func(t *testing.T, h *Hub, _ *manyBoards, watch watchBoard) {
		one, two := h.Join(&recordingConn{}, "198.51.100.1"), h.Join(&recordingConn{}, "198.51.100.1")
		other, local := h.Join(&recordingConn{}, "198.51.100.2"), h.Join(&recordingConn{}, nil)
		first := watch(one, "a", 1, nil)
		watch(two, "b", 1, nil)
		watch(two, "c", 1, ErrAddressBoards)
		watch(other, "c", 1, nil)
		watch(two, "c", 1, nil) // it is another address's board
		watch(local, "d", 1, nil)
		h.Unsubscribe(first)
		watch(one, "e", 1, nil)
		for _, c := range []*Client{one, two, other, local} {
			h.Leave(c)
		}
		synctest.Wait()
		require.Empty(t, h.started)
	})
}

// A board whose result has yet to be built makes no client stale, holds no place among the reads
// for long, and is shown once it is built.
func TestBoardThatIsNotBuilt(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(50)
		began := time.Now()
		f.beforeRead.set(func() {
			f.edit(func() {
				f.pageErr = nil
				if time.Since(began) < 10*time.Second {
					f.pageErr = fmt.Errorf("%w: wait", definition.ErrNotBuilt)
				}
			})
		})
		_, conn, _ := watchTop(t, h, 10)
		confirm(h, 9*time.Second)
		require.False(t, isStale(h))
		require.Empty(t, f.logged())
		pass(4 * time.Second)
		require.Equal(t, []string{"snapshot"}, conn.take(t))
	})
}

// A read that takes long gives its place to others after a few seconds.
func TestReadEndsAfterAWhile(t *testing.T) {
	withManyBoards(t, Config{}, func(t *testing.T, h *Hub, m *manyBoards, watch watchBoard) {
		h.fetches.limit, m.hangs = 1, "slow"
		watch(h.Join(&fakeConn{}, nil), "slow", 10, nil)
		conn := &fakeConn{}
		watch(h.Join(conn, nil), "fast", 10, nil)
		require.Empty(t, conn.take(t))
		pass(fetchTimeout)
		require.Contains(t, conn.take(t), "snapshot")
	})
}

// A client of a large top comes while the board grows beyond what it holds. The last publication has all
// that the client asks for, so the board shows it at once, and has to read on by itself.
func TestLargeTopOfABoardThatGrows(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		_, few, _ := watchTop(t, h, 10)
		confirm(h, time.Second)
		for i := range 200 {
			h.FeedChanges(f.set(fmt.Sprintf("m%03d", i), -int64(i)))
		}
		_, many, _ := watchTop(t, h, 300)
		pass(time.Second)
		require.Equal(t, f.top(300), many.board.Top)
		require.Equal(t, f.top(10), few.board.Top)
	})
}

// A board waits in the lines of the first two and the latest two of those who watch it, and counts for the first.
func TestCallersOfABoard(t *testing.T) {
	t.Parallel()
	var c callers
	c.init("a")
	for _, caller := range []any{"a", "b", "c", "a", "d", "e", "f"} {
		c.add(caller)
	}
	require.Equal(t, []any{"a", "b", "e", "f"}, c.inLines())
	require.True(t, c.remove("a"))
	require.Equal(t, "a", c.first(), "it has another watch")
	for _, caller := range []any{"a", "f", "e"} {
		require.True(t, c.remove(caller))
	}
	require.Equal(t, []any{"b"}, c.inLines())
	require.True(t, c.remove("b"))
	require.Len(t, c.inLines(), 1)
	require.Contains(t, []any{"c", "d"}, c.first(), "those that are left")
	require.True(t, c.remove("c"))
	require.Equal(t, "d", c.first())
	require.False(t, c.remove("d"))
	require.Equal(t, "d", c.first(), "for the last turn of the board")
}
