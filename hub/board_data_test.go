package hub

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Each frame shows the data of an entry: snapshots, deltas, resumed rows and me frames. A
// change of data alone is a change of the entry.
func TestDataInFrames(t *testing.T) {
	t.Parallel()
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(200)
		f.setData("m002", `{"car":"44"}`)
		f.setData("m101", `[1]`)
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

		h.FeedChanges(f.setData("m004", `"x"`))
		pass(2 * time.Second)
		require.Equal(t, []string{"delta"}, conn.take(t), "a row, though no member moved")
		require.Equal(t, f.top(5), conn.board.Top)
		require.Equal(t, []string{"me"}, three.take(t), "it is around the one, and not in the first three")
		meHolds(t, f, three, "m003", 2)

		h.FeedChanges(f.setData("m002", ""))
		pass(2 * time.Second)
		require.Equal(t, []string{"delta"}, conn.take(t))
		require.Equal(t, f.top(5), conn.board.Top)
		require.Equal(t, []string{"delta", "me"}, three.take(t))
		meHolds(t, f, three, "m003", 2)

		lookups := len(f.lookups)
		for _, neighbour := range []string{"m098", "m102", "m100"} {
			h.FeedChanges(f.setData(neighbour, `"`+neighbour+`"`))
			pass(2 * time.Second)
			require.Equal(t, []string{"me"}, conn.take(t), neighbour)
			meHolds(t, f, conn, "m100", 2)
			lookups++
			require.Len(t, f.lookups, lookups)
		}
		h.FeedChanges(f.setData("m103", `"far"`))
		h.FeedChanges(f.set("m002", 2105)) // the first, with its data
		pass(2 * time.Second)
		require.Equal(t, f.top(5), conn.board.Top)
		require.Len(t, f.lookups, lookups, "what is not near needs no look-up")
		require.Len(t, f.pages, pages)
	})
}
