package hub

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking"
)

// What is with an entry is shown wherever the entry is: in pages, deltas, resumed
// rows and around a member; and where it alone changes, the entry is.
func TestDataIsShown(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(200)
		f.tag("m002", `{"car":"44"}`)
		f.tag("m101", `[1]`)
		_, conn, _ := follow(t, h, 5, "m100", 2)
		_, three, _ := follow(t, h, 3, "m003", 2)
		h.FeedSubscribed("b")
		pass(3 * time.Second)
		require.Equal(t, f.top(5), conn.board.Top)
		require.EqualValues(t, `{"car":"44"}`, conn.board.Top[2].Data)
		require.EqualValues(t, `[1]`, conn.board.Me.Around[3].Data)
		meHolds(t, f, conn, "m100", 2)
		meHolds(t, f, three, "m003", 2)
		conn.take(t)
		three.take(t)
		pages := len(f.pages)

		h.FeedChanges(f.tag("m004", `"x"`))
		pass(2 * time.Second)
		require.Equal(t, []string{"delta"}, conn.take(t), "a row, though nobody moved")
		require.Equal(t, f.top(5), conn.board.Top)
		require.Equal(t, []string{"me"}, three.take(t), "it is around the one, and not in the first three")
		meHolds(t, f, three, "m003", 2)

		h.FeedChanges(f.tag("m002", ""))
		pass(2 * time.Second)
		require.Equal(t, []string{"delta"}, conn.take(t))
		require.Equal(t, f.top(5), conn.board.Top)
		require.Equal(t, []string{"delta", "me"}, three.take(t))
		meHolds(t, f, three, "m003", 2)

		lookups := len(f.lookups)
		for _, neighbour := range []string{"m098", "m102", "m100"} {
			h.FeedChanges(f.tag(neighbour, `"`+neighbour+`"`))
			pass(2 * time.Second)
			require.Equal(t, []string{"me"}, conn.take(t), neighbour)
			meHolds(t, f, conn, "m100", 2)
			lookups++
			require.Len(t, f.lookups, lookups)
		}
		h.FeedChanges(f.tag("m103", `"far"`))
		h.FeedChanges(f.set("m002", 2105)) // the first, with what is with it
		pass(2 * time.Second)
		require.Equal(t, f.top(5), conn.board.Top)
		require.Len(t, f.lookups, lookups, "what is not near needs no look-up")
		require.Len(t, f.pages, pages)
	})
}

// Who resumes is sent the rows of which only what is with them has changed.
func TestResumeWithData(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(50)
		_, stays, _ := join(t, h, 10)
		h.FeedSubscribed("b")
		synctest.Wait()
		held := stays.board
		h.FeedChanges(f.tag("m007", `7`))
		pass(time.Second)
		back := &fakeConn{board: held}
		_, err := h.Subscribe(h.Join(back), theBoard, Watch{Top: 10, Resume: ranking.State{Epoch: held.Epoch, Seq: held.Seq}}, nil, func() {})
		require.NoError(t, err)
		synctest.Wait()
		require.Equal(t, []string{"delta"}, back.take(t))
		require.Equal(t, f.top(10), back.board.Top)
	})
}

// An audit compares what is with the entries too.
func TestAuditRepairsData(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		_, conn, _ := join(t, h, 10)
		h.FeedSubscribed("b")
		synctest.Wait()
		f.mu.Lock()
		f.data["low1"] = "5" // as if a view had gone wrong at this seq
		f.mu.Unlock()
		pass(40 * time.Second)
		require.Equal(t, f.top(10), conn.board.Top)
		require.Equal(t, []string{"snapshot", "delta"}, conn.take(t))
		require.Equal(t, []string{"view differed from Redis at the same seq"}, f.logged())
	})
}

// How times, the end of a period and what is with an entry look on the wire.
func TestSnapshotOnTheWire(t *testing.T) {
	t.Parallel()
	s := &shown{period: "2026-W47", state: ranking.State{Epoch: "k3f9", Seq: 120}, total: 9821, top: []ranking.Entry{
		{Rank: 1, Member: "s17", Score: 321, Data: `{"a":"\u2028"}`}, {Rank: 2, Member: "s3", Score: -5},
	}}
	head := `{"type":"snapshot","board":"stars@-1","period":"2026-W47","epoch":"k3f9","seq":120,"total":9821,"ends":`
	top := `"top":[{"rank":1,"member":"s17","score":321,"data":{"a":"\u2028"}},{"rank":2,"member":"s3","score":-5}]}`
	require.Equal(t, head+`null,`+top, string(snapshotFrame("stars@-1", s, 10).JSON()))
	s.ends = time.Date(2026, 11, 23, 0, 0, 0, 123456, time.FixedZone("", 8*3600))
	require.Equal(t, head+`"2026-11-22T16:00:00.000Z",`+top, string(snapshotFrame("stars@-1", s, 10).JSON()))
	end := s.atEnd()
	require.Equal(t, head+`"2026-11-22T16:00:00.000Z","final":true,`+top, string(snapshotFrame("stars@-1", end, 10).JSON()))
}
