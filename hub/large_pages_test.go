package hub

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
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
	t.Parallel()
	for name, order := range map[string][]int{"the large one first": {300, 10}, "the small one first": {10, 300}} {
		t.Run(name, func(t *testing.T) {
			withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
				f.fill(400)
				turn := make(chan struct{})
				f.beforeLarge.set(func() { <-turn })
				conns := make(map[int]*fakeConn)
				for _, top := range order {
					_, conns[top], _ = join(t, h, top)
					h.FeedSubscribed("b")
					synctest.Wait()
				}
				require.Equal(t, []string{"snapshot"}, conns[10].take(t))
				require.Empty(t, conns[300].take(t))
				h.FeedChanges(f.set("m001", 5000))
				pass(time.Second)
				require.Equal(t, f.top(10), conns[10].board.Top, "the board goes on meanwhile")
				close(turn)
				pass(time.Second)
				require.Equal(t, f.top(300), conns[300].board.Top)
				require.Equal(t, f.top(10), conns[10].board.Top)
				require.False(t, isStale(h))
			})
		})
	}
}

// Clients that see an old state do not wait until a large page was read.
func TestResyncDoesNotWaitForItsTurn(t *testing.T) {
	t.Parallel()
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(400)
		_, small, _ := join(t, h, 10)
		h.FeedSubscribed("b")
		synctest.Wait()
		turn := make(chan struct{})
		f.beforeLarge.set(func() { <-turn })
		_, large, _ := join(t, h, 300)
		synctest.Wait()
		require.Equal(t, []int{300 + 300/8 + 16}, f.largeReads)
		f.set("m001", 5000) // a change that is lost
		h.FeedChanges(f.set("m002", 4000))
		pass(time.Second)
		require.Equal(t, f.top(10), small.board.Top)
		require.Empty(t, large.take(t))
		close(turn)
		pass(time.Second)
		require.Equal(t, f.top(300), large.board.Top)
	})
}

// A large page that cannot be read makes nobody stale, and does not delay a small one.
func TestLargePageThatFails(t *testing.T) {
	t.Parallel()
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(400)
		_, small, _ := join(t, h, 10)
		h.FeedSubscribed("b")
		synctest.Wait()
		f.setLargeErr(errors.New("waited for too long"))
		_, large, _ := join(t, h, 300)
		pass(5 * time.Second)
		require.False(t, isStale(h))
		require.Empty(t, large.take(t))
		small.take(t)
		h.FeedChanges(f.set("m001", 5000))
		_, another, _ := join(t, h, 90)
		pass(200 * time.Millisecond) // two intervals
		require.Equal(t, f.top(90), another.board.Top)
		require.Equal(t, f.top(10), small.board.Top)
		f.setLargeErr(nil)
		pass(retryMax)
		require.Equal(t, f.top(300), large.board.Top)
	})
}

// takeLargeReads takes the turns of all large reads, until end is called.
func takeLargeReads(t *testing.T, h *Hub) (end func()) {
	var ends []func()
	for i := range maxLargeReads {
		one, ok := h.largeReads.TryAcquire(i, 1)
		require.True(t, ok)
		ends = append(ends, one)
	}
	return func() {
		for _, one := range ends {
			one()
		}
	}
}

// A board whose large page waits keeps no changes meanwhile: however many arrive, the page is good
// when it comes.
func TestBusyBoardWaitsForAPermit(t *testing.T) {
	t.Parallel()
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(400)
		end := takeLargeReads(t, h)
		_, conn, _ := join(t, h, 300)
		h.FeedSubscribed("b")
		for i := range view.MaxBuffered + 10 {
			h.FeedChanges(f.set("m001", int64(1000+i)))
		}
		pass(time.Second)
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
	t.Parallel()
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(400)
		_, conn, _ := join(t, h, 300)
		h.FeedSubscribed("b")
		pass(time.Second)
		require.Equal(t, []string{"snapshot"}, conn.take(t))
		pass(time.Minute)
		require.GreaterOrEqual(t, len(f.largeReads), 2)
		require.Len(t, f.pages, len(f.largeReads), "there was no other page")
		defer takeLargeReads(t, h)()
		before := len(f.pages)
		pass(time.Minute)
		require.Len(t, f.pages, before)
		h.FeedChanges(f.set("m001", 5000))
		pass(time.Second)
		require.Equal(t, f.top(300), conn.board.Top, "the board goes on meanwhile")
	})
}

// manyBoards is a Source of any number of empty boards. It records the pages that wait in line.
type manyBoards struct {
	*fakeBoard
	mu    sync.Mutex
	order []string
}

func (m *manyBoards) Page(context.Context, string, int64, int) (ranking.Page, error) {
	return ranking.Page{Period: "p", Order: definition.Desc}, nil
}

func (m *manyBoards) Read(ctx context.Context, board string, _ ranking.Query) (ranking.Page, error) {
	m.mu.Lock()
	m.order = append(m.order, board)
	m.mu.Unlock()
	time.Sleep(time.Millisecond)
	return m.Page(ctx, board, 1, 1)
}

func (m *manyBoards) States(_ context.Context, boards []string) []ranking.BoardState {
	return make([]ranking.BoardState, len(boards))
}

// withManyBoards runs a test with a hub of manyBoards on simulated time. watch subscribes a client to
// a board.
func withManyBoards(t *testing.T, cfg Config,
	test func(h *Hub, m *manyBoards, watch func(c *Client, board string, top int) (*Subscription, error))) {
	synctest.Test(t, func(t *testing.T) {
		m := &manyBoards{fakeBoard: newFakeBoard()}
		cfg.Log, cfg.Shards = slog.New(&m.logs), 1
		h := New(m, m, cfg)
		defer runHub(h)()
		h.FeedUp()
		synctest.Wait()
		defer func() {
			pass(time.Second)
			require.Zero(t, h.largeReads.Keys())
		}()
		test(h, m, func(c *Client, board string, top int) (*Subscription, error) {
			sub, err := h.Subscribe(c, ranking.Board{Name: board, Instance: board}, Watch{Top: top}, nil, func() {})
			h.FeedSubscribed(board)
			return sub, err
		})
	})
}

// A client that asks for many large pages does not delay a client of another address by more than a page.
// Pages that nobody waits for any more are not read.
func TestLargePagesTakeTurnsByAddress(t *testing.T) {
	t.Parallel()
	withManyBoards(t, Config{}, func(h *Hub, m *manyBoards, watch func(*Client, string, int) (*Subscription, error)) {
		many, again, few := h.Join(&recordingConn{}, "198.51.100.1"), h.Join(&recordingConn{}, "198.51.100.1"),
			h.Join(&recordingConn{}, "198.51.100.2")
		var last *Subscription
		for i := range 5 {
			var err error
			last, err = watch(many, fmt.Sprint("many", i), 1000)
			require.NoError(t, err)
			synctest.Wait()
		}
		for _, c := range []struct {
			*Client
			board string
		}{{again, "again"}, {few, "few"}} {
			_, err := watch(c.Client, c.board, 1000)
			require.NoError(t, err)
			synctest.Wait()
		}
		h.Unsubscribe(last)
		pass(time.Second)
		require.Equal(t, []string{"many0", "few", "many1", "many2", "many3", "again"}, m.order)
	})
}

// A client does not wait in the line of another address that has asked for the same board before, with
// many others.
func TestLargePageOfABoardThatOthersWaitFor(t *testing.T) {
	t.Parallel()
	withManyBoards(t, Config{}, func(h *Hub, m *manyBoards, watch func(*Client, string, int) (*Subscription, error)) {
		many, few := h.Join(&recordingConn{}, "198.51.100.1"), h.Join(&recordingConn{}, "198.51.100.2")
		for i := range 20 {
			_, err := watch(many, fmt.Sprint("many", i), 1000)
			require.NoError(t, err)
			synctest.Wait()
		}
		_, err := h.Subscribe(few, ranking.Board{Name: "many19", Instance: "many19"}, Watch{Top: 500}, nil, func() {})
		require.NoError(t, err)
		pass(time.Second)
		require.Equal(t, []string{"many0", "many19", "many1"}, m.order[:3])
		require.Len(t, m.order, 20, "each once")
	})
}

// Clients without an address do not wait for each other's pages either.
func TestLargePagesTakeTurnsByClient(t *testing.T) {
	t.Parallel()
	withManyBoards(t, Config{}, func(h *Hub, m *manyBoards, watch func(*Client, string, int) (*Subscription, error)) {
		many, few := h.Join(&recordingConn{}, nil), h.Join(&recordingConn{}, nil)
		for i := range 3 {
			_, err := watch(many, fmt.Sprint("many", i), 1000)
			require.NoError(t, err)
			synctest.Wait()
		}
		_, err := watch(few, "few", 1000)
		require.NoError(t, err)
		pass(time.Second)
		require.Equal(t, []string{"many0", "few", "many1", "many2"}, m.order)
	})
}

// The clients of an address are the first watchers of half of the boards at most. They may watch any
// board of others.
func TestAddressWatchesHalfOfTheBoards(t *testing.T) {
	t.Parallel()
	withManyBoards(t, Config{MaxBoards: 4}, func(h *Hub, _ *manyBoards, watch func(*Client, string, int) (*Subscription, error)) {
		one, two := h.Join(&recordingConn{}, "198.51.100.1"), h.Join(&recordingConn{}, "198.51.100.1")
		other, local := h.Join(&recordingConn{}, "198.51.100.2"), h.Join(&recordingConn{}, nil)
		first, err := watch(one, "a", 1)
		require.NoError(t, err)
		_, err = watch(two, "b", 1)
		require.NoError(t, err)
		_, err = watch(two, "c", 1)
		require.ErrorIs(t, err, ErrAddressBoards)
		_, err = watch(other, "c", 1)
		require.NoError(t, err)
		_, err = watch(two, "c", 1)
		require.NoError(t, err, "it is another address's board")
		_, err = watch(local, "d", 1)
		require.NoError(t, err)
		h.Unsubscribe(first)
		_, err = watch(one, "e", 1)
		require.NoError(t, err)
		h.Leave(one)
		h.Leave(two)
		h.Leave(other)
		h.Leave(local)
		synctest.Wait()
		require.Empty(t, h.started)
	})
}

// A board whose result has yet to be built makes no client stale, holds no place among the reads
// for long, and is shown once it is built.
func TestBoardThatIsNotBuilt(t *testing.T) {
	t.Parallel()
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(50)
		began := time.Now()
		f.beforeRead.set(func() {
			f.mu.Lock()
			f.pageErr = nil
			if time.Since(began) < 10*time.Second {
				f.pageErr = fmt.Errorf("%w: wait", ranking.ErrNotBuilt)
			}
			f.mu.Unlock()
		})
		_, conn, _ := join(t, h, 10)
		h.FeedSubscribed("b")
		pass(9 * time.Second)
		require.False(t, isStale(h))
		require.Empty(t, f.logged())
		pass(4 * time.Second)
		require.Equal(t, []string{"snapshot"}, conn.take(t))
	})
}

// blockingPages never answers before its context ends.
type blockingPages struct{ *manyBoards }

func (b blockingPages) Page(ctx context.Context, board string, _ int64, _ int) (ranking.Page, error) {
	if board == "slow" {
		<-ctx.Done()
		return ranking.Page{}, errors.New("too slow")
	}
	return ranking.Page{Period: "p", Order: definition.Desc}, nil
}

// A read that takes long gives its place to others after a few seconds.
func TestReadEndsAfterAWhile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := blockingPages{&manyBoards{fakeBoard: newFakeBoard()}}
		h := New(b, b, Config{Log: slog.New(&b.logs), Shards: 1})
		h.fetches.limit = 1
		defer runHub(h)()
		h.FeedUp()
		conns := []*fakeConn{{}, {}}
		for i, board := range []string{"slow", "fast"} {
			_, err := h.Subscribe(h.Join(conns[i], nil), ranking.Board{Name: board, Instance: board}, Watch{Top: 10}, nil, func() {})
			require.NoError(t, err)
			h.FeedSubscribed(board)
			synctest.Wait()
		}
		require.Empty(t, conns[1].take(t))
		pass(fetchTimeout)
		require.Contains(t, conns[1].take(t), "snapshot")
	})
}

// A client of a large top comes while the board grows beyond what it holds. The last publication has all
// that the client asks for, so the board shows it at once, and has to read on by itself.
func TestLargeTopOfABoardThatGrows(t *testing.T) {
	t.Parallel()
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		_, few, _ := join(t, h, 10)
		h.FeedSubscribed("b")
		pass(time.Second)
		for i := range 200 {
			h.FeedChanges(f.set(fmt.Sprintf("m%03d", i), -int64(i)))
		}
		_, many, _ := join(t, h, 300)
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
