package hub

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/hub/hubtest"
	"rankcast/ranking"
	"rankcast/ranking/definition"
)

func TestSeqCheckFindsLostMessages(t *testing.T) {
	t.Parallel()
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		_, conn, _ := join(t, h, 10)
		h.FeedSubscribed("b")
		synctest.Wait()
		h.FeedChanges(f.set("a", 1))
		f.set("a", 2)
		h.FeedChanges(f.set("a", 3))
		pass(500 * time.Millisecond)
		require.Equal(t, f.top(10), conn.board.Top, "a gap shows with the next message")

		f.set("a", 4)
		pass(2500 * time.Millisecond)
		require.Equal(t, f.top(10), conn.board.Top, "a lost last message shows by the seq check")

		pages := len(f.pages)
		f.mu.Lock()
		f.state.Seq -= 2
		f.scores["a"] = 1
		f.mu.Unlock()
		pass(2500 * time.Millisecond)
		require.Equal(t, f.top(10), conn.board.Top, "a seq that went back is Redis's truth")
		require.Equal(t, pages+1, len(f.pages))

		f.mu.Lock()
		f.state, f.scores = ranking.State{}, map[string]int64{}
		f.mu.Unlock()
		pass(2500 * time.Millisecond)
		require.Empty(t, conn.board.Top, "so is a board that is gone")
		conn.take(t)
		h.FeedChanges(f.set("z", 1))
		pass(500 * time.Millisecond)
		require.Equal(t, f.top(10), conn.board.Top)
		require.Equal(t, []string{"snapshot"}, conn.take(t), "another life of a board never comes as a delta")
	})
}

// After a failover seq may go back. Then Redis is the truth: for snapshots, for followers,
// and for clients that resume from a state that is lost.
func TestSeqCheckFindsRegression(t *testing.T) {
	t.Parallel()
	for name, notice := range map[string]func(h *Hub, f *fakeBoard){
		"by the check": func(*Hub, *fakeBoard) { pass(5 * time.Second) },
		"by a change": func(h *Hub, f *fakeBoard) {
			h.FeedChanges(f.set("m180", 25))
			pass(5 * time.Second)
		},
	} {
		t.Run(name, func(t *testing.T) {
			withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
				f.fill(200)
				_, conn, _ := follow(t, h, 10, "m100", 0)
				h.FeedSubscribed("b")
				pass(time.Second)
				again := f.saveState()
				var held []hubtest.Board // by clients that lose their connection
				for i := range 5 {
					h.FeedChanges(f.set("m150", int64(1005+i)))
					pass(time.Second)
					h.FeedChanges(f.set("m007", int64(1945-i)))
					pass(2 * time.Second)
					held = append(held, conn.board)
				}
				meHolds(t, f, conn, "m100", 0)
				again()
				notice(h, f)
				require.Equal(t, f.top(10), conn.board.Top)
				meHolds(t, f, conn, "m100", 0)

				for i := range 20 { // past the seq of the regression
					h.FeedChanges(f.set("m020", int64(10+i)))
					h.FeedChanges(f.set("m000", int64(3000+i)))
					pass(time.Second)
					for _, has := range held {
						back := &fakeConn{board: has}
						c := h.Join(back, nil)
						_, err := h.Subscribe(c, theBoard, Watch{Top: 10, Resume: Position{has.Life, has.Seq}}, nil, func() {})
						require.NoError(t, err)
						synctest.Wait()
						back.take(t)
						require.Equal(t, f.top(10), back.board.Top)
						h.Leave(c)
					}
				}
				conn.take(t)
				meHolds(t, f, conn, "m100", 0)
			})
		})
	}
}

// statesOf is a Source and a Feed of any number of empty boards. It records the calls of
// States.
type statesOf struct {
	*fakeBoard
	mu      sync.Mutex
	times   map[time.Time]bool // of the calls
	largest int                // most boards in a call
	names   map[string]int     // how often each was read
}

func (s *statesOf) Page(_ context.Context, board string, _ int64, _ int) (ranking.Page, error) {
	return ranking.Page{Period: "p", Order: definition.Desc}, nil
}

func (s *statesOf) States(_ context.Context, boards []string) []ranking.BoardState {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.times[time.Now()] = true
	s.largest = max(s.largest, len(boards))
	for _, name := range boards {
		s.names[name]++
	}
	return make([]ranking.BoardState, len(boards))
}

// A seq check reads at most 256 boards in a call, spread over the interval, and more than
// 5,000 boards take longer than an interval.
func TestSeqCheckGoesInPieces(t *testing.T) {
	t.Parallel()
	for _, boards := range []int{10, 600, 10_000} {
		synctest.Test(t, func(t *testing.T) {
			s := &statesOf{fakeBoard: newFakeBoard(), times: make(map[time.Time]bool), names: make(map[string]int)}
			h := New(s, s, Config{Shards: 1})
			defer runHub(h)()
			h.FeedUp()
			c := h.Join(&recordingConn{}, nil)
			for i := range boards {
				name := fmt.Sprint("b", i)
				_, err := h.Subscribe(c, ranking.Board{Name: name, Instance: name}, Watch{}, nil, func() {})
				require.NoError(t, err)
				h.FeedSubscribed(name)
			}
			synctest.Wait()
			pass(6500 * time.Millisecond) // the checks begin at 1 s
			require.LessOrEqual(t, s.largest, checkPiece)
			require.Len(t, s.names, boards)
			rounds := map[int]int{10: 6, 600: 6, 10_000: 3}[boards]
			for name, n := range s.names {
				require.InDelta(t, rounds, n, 1, name)
			}
			pieces := (boards + checkPiece - 1) / checkPiece
			require.GreaterOrEqual(t, len(s.times), (rounds-1)*pieces, "one call at a time")
		})
	}
}

// Boards that do not exist are read again in turn, about 256 of them in a seq check.
func TestMissingBoardsAreReadInTurn(t *testing.T) {
	t.Parallel()
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.missing = true
		c := h.Join(&recordingConn{}, nil)
		const boards = 2000
		for i := range boards {
			name := fmt.Sprint("b", i)
			_, err := h.Subscribe(c, ranking.Board{Name: name, Instance: name}, Watch{}, nil, func() {})
			require.NoError(t, err)
			h.FeedSubscribed(name)
		}
		pass(3500 * time.Millisecond) // the first seq check does not know yet that so many are missing
		before := len(f.pages)
		pass(10 * time.Second)
		require.InDelta(t, 10*missingChecks, len(f.pages)-before, 3*missingChecks)
	})
}
