package hub

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// addPeriods sends items of the feed "periods" about boards.
func addPeriods(h *Hub, boards ...string) {
	var items [][]byte
	for _, b := range boards {
		items = append(items, fmt.Appendf(nil, `{"at":"2026-11-20T06:30:00.000Z","data":{"board":%q}}`, b))
	}
	h.FeedItems("periods", items)
}

// takeBoards returns the feed frames since the last call: the boards of the items, and the number of skipped
// ones.
func (c *fakeConn) takeBoards() (list []string) {
	for _, m := range c.frames {
		var boards []string
		for _, item := range m.Items {
			boards = append(boards, strings.NewReplacer(`{"board":"`, "", `"}`, "").Replace(string(item.Data)))
		}
		if m.Skipped > 0 {
			boards = append(boards, fmt.Sprint("skipped ", m.Skipped))
		}
		if len(boards) > 0 {
			list = append(list, strings.Join(boards, " "))
		}
	}
	c.frames = nil
	return list
}

// A client with a filter gets the items that the filter accepts at that moment, no other ones, and no frame
// without any.
func TestFeedFilter(t *testing.T) {
	t.Parallel()
	withHub(t, func(t *testing.T, h *Hub, _ *fakeBoard) {
		var granted atomic.Value
		granted.Store("a")
		filtered, all := &fakeConn{}, &fakeConn{}
		client := h.Join(filtered, nil)
		_, err := h.Follow(client, "periods", func(board string) bool {
			return strings.Contains(granted.Load().(string), board) &&
				board != ""
		}, func() {})
		require.NoError(t, err)
		_, err = h.Follow(h.Join(all, nil), "periods", nil, func() {})
		require.NoError(t, err)
		h.FeedFollowed("periods")
		synctest.Wait()
		send := func(boards ...string) {
			addPeriods(h, boards...)
			pass(time.Second)
		}
		send("a", "b", "a")
		send("b", "b")
		require.Len(t, filtered.frames, 2, "the empty one and one more")
		send("a")
		require.Equal(t, []string{"a a", "a"}, filtered.takeBoards())
		require.Equal(t, []string{"a b a", "b b", "a"}, all.takeBoards())
		granted.Store("b")
		send("a", "b")
		h.FeedItems("periods", [][]byte{[]byte(`{"at":"x","data":7}`)})
		pass(time.Second)
		require.Equal(t, []string{"b"}, filtered.takeBoards())

		filtered.setFull(true)
		send("b", "a")
		send("a", "a")
		filtered.setFull(false)
		client.Ready() // the newest items are of another board, so no frame goes out
		synctest.Wait()
		require.Empty(t, filtered.takeBoards())
		send("b")
		require.Equal(t, []string{"b skipped 2"}, filtered.takeBoards(), "what was skipped is counted once")
		send("b")
		require.Equal(t, []string{"b"}, filtered.takeBoards())
	})
}

// A client whose filter accepts all items gets the frame of all others.
func TestFeedFilterSharesFrames(t *testing.T) {
	t.Parallel()
	withHub(t, func(t *testing.T, h *Hub, _ *fakeBoard) {
		var conns []*recordingConn
		for i := range 4 {
			k := &recordingConn{}
			filter := []Filter{nil, func(string) bool { return true }}[i%2]
			_, err := h.Follow(h.Join(k, nil), "periods", filter, func() {})
			require.NoError(t, err)
			conns = append(conns, k)
		}
		h.FeedFollowed("periods")
		synctest.Wait()
		addPeriods(h, "a", "b")
		pass(time.Second)
		for _, n := range sentTimes(conns) {
			require.Equal(t, 4, n)
		}
	})
}
