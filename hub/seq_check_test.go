package hub

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/hub/hubtest"
	"rankcast/ranking"
	"rankcast/ranking/definition"
)

func TestSeqCheckFindsLostMessages(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		conn := watchTopLive(t, h, 10)
		h.FeedChanges(f.set("a", 1))
		f.set("a", 2)
		deliver(h, f.set("a", 3), 500*time.Millisecond)
		require.Equal(t, f.top(10), conn.board.Top, "a gap shows with the next message")

		f.set("a", 4)
		pass(2500 * time.Millisecond)
		require.Equal(t, f.top(10), conn.board.Top, "a lost last message shows by the seq check")

		pages := len(f.pages)
		f.edit(func() { f.state.Seq, f.scores["a"] = f.state.Seq-2, 1 })
		pass(2500 * time.Millisecond)
		require.Equal(t, f.top(10), conn.board.Top, "a seq that went back is Redis's truth")
		require.Equal(t, pages+1, len(f.pages))

		f.edit(func() { f.state, f.scores = ranking.State{}, map[string]int64{} })
		pass(2500 * time.Millisecond)
		require.Empty(t, conn.board.Top, "so is a board that is gone")
		conn.take(t)
		deliver(h, f.set("z", 1), 500*time.Millisecond)
		require.Equal(t, f.top(10), conn.board.Top)
		require.Equal(t, []string{"snapshot"}, conn.take(t), "another life of a board never comes as a delta")
	})
}

// After a failover seq may go back. Then Redis is the truth: for snapshots, for followers,
// and for clients that resume from a state that is lost.
func TestSeqCheckFindsRegression(t *testing.T) {
	withHubFor(t, map[string]func(h *Hub, f *fakeBoard){
		"by the check": func(*Hub, *fakeBoard) { pass(5 * time.Second) },
		"by a change":  func(h *Hub, f *fakeBoard) { deliver(h, f.set("m180", 25), 5*time.Second) },
	}, func(t *testing.T, h *Hub, f *fakeBoard, notice func(h *Hub, f *fakeBoard)) {
		f.fill(200)
		_, conn, _ := watchMember(t, h, 10, "m100", 0)
		confirm(h, time.Second)
		again := f.saveState()
		var held []hubtest.Board // by clients that lose their connection
		for i := range 5 {
			deliver(h, f.set("m150", int64(1005+i)), time.Second)
			deliver(h, f.set("m007", int64(1945-i)), 2*time.Second)
			held = append(held, conn.board)
		}
		meHolds(t, f, conn, "m100", 0)
		again()
		notice(h, f)
		require.Equal(t, f.top(10), conn.board.Top)
		meHolds(t, f, conn, "m100", 0)

		for i := range 20 { // past the seq of the regression
			h.FeedChanges(f.set("m020", int64(10+i)))
			deliver(h, f.set("m000", int64(3000+i)), time.Second)
			for _, has := range held {
				c, back := resume(t, h, has, Watch{Top: 10})
				synctest.Wait()
				require.Equal(t, f.top(10), back.board.Top)
				h.Leave(c)
			}
		}
		conn.take(t)
		meHolds(t, f, conn, "m100", 0)
	})
}

// A seq check reads at most 256 boards in a call, spread over the interval, and more than
// 5,000 boards take longer than an interval.
func TestSeqCheckGoesInPieces(t *testing.T) {
	t.Parallel()
	for boards, rounds := range map[int]int{10: 6, 600: 6, 10_000: 3} {
		m := newManyBoards()
		withHubOf(t, m, Config{Shards: 1}, func(t *testing.T, h *Hub) {
			watchMany(t, h, boards)
			pass(6500 * time.Millisecond) // the checks begin at 1 s
			require.LessOrEqual(t, m.largest, checkPiece)
			require.Len(t, m.checks, boards)
			for name, n := range m.checks {
				require.InDelta(t, rounds, n, 1, name)
			}
			pieces := (boards + checkPiece - 1) / checkPiece
			require.GreaterOrEqual(t, len(m.times), (rounds-1)*pieces, "one call at a time")
		})
	}
}

// watchMany subscribes a client to many boards.
func watchMany(t *testing.T, h *Hub, boards int) {
	c := h.Join(&recordingConn{}, nil)
	for i := range boards {
		name := fmt.Sprint("b", i)
		_, err := h.Subscribe(c, ranking.Board{Name: name, Instance: name}, Watch{}, nil, func() {})
		require.NoError(t, err)
		h.FeedSubscribed(name)
	}
	synctest.Wait()
}

// Boards that do not exist are read again in turn, about 256 of them in a seq check.
func TestMissingBoardsAreReadInTurn(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.missing = true
		watchMany(t, h, 2000)
		pass(3500 * time.Millisecond) // the first seq check does not know yet that so many are missing
		before := len(f.pages)
		pass(10 * time.Second)
		require.InDelta(t, 10*missingChecks, len(f.pages)-before, 3*missingChecks)
	})
}

// A verification reads entries, their data, and the ranks of members, and repairs them.
func TestVerificationRepairsTheView(t *testing.T) {
	type test struct {
		wrong func(f *fakeBoard) // makes the view wrong at its seq
		sent  []string
	}
	withHubFor(t, map[string]test{
		"a score": {func(f *fakeBoard) { f.scores["m002"] = 2007 }, []string{"delta"}},
		"data":    {func(f *fakeBoard) { f.data["m001"] = "5" }, []string{"delta"}},
		"a rank":  {func(f *fakeBoard) { f.scores["m150"] = 1005 }, []string{"me"}},
	}, func(t *testing.T, h *Hub, f *fakeBoard, c test) {
		conn := fillAndWatchMember(t, h, f, "m100", 0)
		f.edit(func() { c.wrong(f) })
		pass(40 * time.Second)
		require.Equal(t, f.top(3), conn.board.Top)
		meHolds(t, f, conn, "m100", 0)
		require.Equal(t, c.sent, conn.take(t))
		require.Equal(t, []string{"the view differs from Redis at the same seq; the node resyncs the board"}, f.logged())
	})
}

// A failed verification is retried after a backoff, as the read of any page.
func TestFailedVerificationIsRetried(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		conn := watchTopLive(t, h, 10)
		f.edit(func() { f.pageErr = errAway })
		pass(60 * time.Second)
		require.Greater(t, len(f.pages), 10)
		require.Less(t, len(f.pages), 60)
		require.True(t, isStale(h))
		f.edit(func() { f.pageErr = nil })
		pass(3 * time.Second)
		require.False(t, isStale(h))
		require.Equal(t, []string{"status true", "status false"}, conn.take(t))
	})
}

// A verification finds that a board was deleted. After that no member is looked up.
func TestVerificationOfADeletedBoard(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		conn := fillAndWatchMember(t, h, f, "m100", 2)
		f.edit(func() { f.pageErr = fmt.Errorf("wrapped: %w", definition.ErrUnknownBoard) })
		pass(40 * time.Second)
		require.Equal(t, []string{"final", "me"}, conn.take(t))
		shows(t, conn, "", true, []hubtest.Entry{})
		require.NotContains(t, f.lookedUp, "")
		require.Empty(t, f.logged())
	})
}

// The page of a verification may be ahead of the first change of a board. All followers are still
// notified of later changes, and so are new ones.
func TestFirstChangeOverlapsAVerification(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.state, f.scores = ranking.State{}, map[string]int64{}
		_, conn, _ := watchMember(t, h, 3, "u1", 0)
		for i := range 2 * verifiedMembers {
			watchMember(t, h, 3, fmt.Sprint("w", i), 0)
		}
		confirm(h, time.Second)
		require.Equal(t, []string{"snapshot", "me"}, conn.take(t))
		f.beforeRead.once(func() {
			first := f.set("other", 5)
			go func() {
				time.Sleep(time.Millisecond)
				h.FeedChanges(first)
			}()
		})
		pass(35 * time.Second)
		require.False(t, f.beforeRead.isSet())
		require.Equal(t, []string{"snapshot", "me"}, conn.take(t))
		_, late, _ := watchMember(t, h, 3, "u1", 0)
		pass(time.Second)
		require.Equal(t, []string{"snapshot", "me"}, late.take(t))
	})
}
