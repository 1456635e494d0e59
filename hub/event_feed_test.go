package hub

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// confirmFeed confirms the subscription to a feed, and lets time pass.
func confirmFeed(h *Hub, name string, then time.Duration) {
	h.FeedFollowed(name)
	pass(then)
}

// newItems are n items of the feed "gift", numbered on from the last.
func (f *fakeBoard) newItems(n int) (items [][]byte) {
	for range n {
		f.items++
		items = append(items, fmt.Appendf(nil, `{"at":"2026-11-20T06:30:00.000Z","data":%d}`, f.items))
	}
	return items
}

// addItems sends n items to the feed "gift", and lets time pass.
func (f *fakeBoard) addItems(h *Hub, n int, then time.Duration) {
	h.FeedItems("gift", f.newItems(n))
	pass(then)
}

// takeItems returns the feed frames since the last call: the items, or "live" for a frame
// without any, and the number of skipped items.
func (c *fakeConn) takeItems(t *testing.T) (list []string) {
	t.Helper()
	for _, m := range c.frames {
		if m.Type != "feed" {
			continue
		}
		require.Equal(t, "gift", m.Feed)
		require.NotNil(t, m.Items)
		text := "live"
		for i, item := range m.Items {
			require.Equal(t, "2026-11-20T06:30:00.000Z", item.At)
			if text += " " + string(item.Data); i == 0 {
				text = string(item.Data)
			}
		}
		if m.Skipped > 0 {
			text += fmt.Sprint(" skipped ", m.Skipped)
		}
		list = append(list, text)
	}
	c.take(t)
	return list
}

// The feed sends an item at once after a pause, then a frame an interval, the same frame to
// all clients.
func TestFeedSendsItemsAsTheyArrive(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		_, early, _ := followFeed(t, h, "gift")
		require.NotZero(t, f.followed["gift"])
		pass(time.Second)
		require.Empty(t, early.takeItems(t), "the feed is not subscribed to yet")
		confirmFeed(h, "gift", 0)
		require.Equal(t, []string{"live"}, early.takeItems(t))
		_, late, _ := followFeed(t, h, "gift")
		_, other, _ := followFeed(t, h, "other")
		synctest.Wait()
		require.Equal(t, []string{"live"}, late.takeItems(t))

		f.addItems(h, 1, 0)
		for _, conn := range []*fakeConn{early, late} {
			require.Equal(t, []string{"1"}, conn.takeItems(t))
		}
		for range 9 {
			pass(10 * time.Millisecond)
			f.addItems(h, 1, 0)
		}
		require.Empty(t, late.takeItems(t))
		pass(10 * time.Millisecond)
		for _, conn := range []*fakeConn{early, late} {
			require.Equal(t, []string{"2 3 4 5 6 7 8 9 10"}, conn.takeItems(t))
		}
		pass(time.Second)
		require.Empty(t, other.takeItems(t))
		require.Empty(t, late.takeItems(t))
	})
}

// The feed sends at most FeedRate items in any second. It sends the newest, and counts the
// others.
func TestFeedRate(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		_, conn, _ := followFeed(t, h, "gift")
		confirmFeed(h, "gift", 0)
		conn.take(t)
		var shown []time.Time
		next := 1
		look := func() {
			t.Helper()
			synctest.Wait()
			for _, m := range conn.frames {
				next += int(m.Skipped)
				for _, item := range m.Items {
					require.Equal(t, fmt.Sprint(next), string(item.Data), "each is shown, in order, or counted")
					shown = append(shown, time.Now())
					next++
				}
			}
			conn.frames = nil
		}
		f.addItems(h, 20, 0)
		require.Equal(t, []string{"1 2 3 4 5 6 7 8 9 10"}, conn.takeItems(t), "of a burst half at once")
		next = 11
		for range 10 { // the interval
			shown = append(shown, time.Now())
		}
		for range 50 {
			pass(10 * time.Millisecond)
			look()
		}
		require.Equal(t, 21, next, "and the rest within half a second")
		pass(time.Second)

		start, frames := time.Now(), 0
		for range 1000 { // ten seconds above the rate
			f.addItems(h, 1+rand.IntN(3), 10*time.Millisecond)
			frames += len(conn.frames)
			look()
		}
		require.LessOrEqual(t, frames, 101)
		require.InDelta(t, 200, len(shown)-20, 20, "no second is left unused")
		gap := time.Duration(0)
		for i, at := range shown {
			if at.Sub(start) > 5*time.Second {
				gap = max(gap, at.Sub(shown[i-1]))
			}
			if i >= 20 {
				require.GreaterOrEqual(t, at.Sub(shown[i-20]), time.Second-10*time.Millisecond, "20 in any second, which is looked at a little late")
			}
		}
		require.LessOrEqual(t, gap, 500*time.Millisecond, "and they come evenly")
		pass(time.Second) // and the last items
		look()
		require.Equal(t, f.items+1, next)
	})
}

// A slow client gets the newest items, and the number of all that it missed.
func TestFeedSlowClientCountsSkippedItems(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		slow, conn, _ := followFeed(t, h, "gift")
		_, quick, _ := followFeed(t, h, "gift")
		confirmFeed(h, "gift", 0)
		f.addItems(h, 2, time.Second)
		require.Equal(t, []string{"live", "1 2"}, conn.takeItems(t))
		conn.setFull(true)
		for range 5 {
			f.addItems(h, 3, time.Second)
		}
		require.Equal(t, []string{"live", "1 2", "3 4 5", "6 7 8", "9 10 11", "12 13 14", "15 16 17"}, quick.takeItems(t))
		free(slow, conn)
		require.Equal(t, []string{"15 16 17 skipped 12"}, conn.takeItems(t))
		f.addItems(h, 1, time.Second)
		require.Equal(t, []string{"18"}, conn.takeItems(t))

		conn.setFull(true)
		f.addItems(h, 30, time.Second)
		conn.setFull(false)
		f.addItems(h, 1, time.Second) // and its Ready has not arrived yet
		require.Equal(t, []string{"49 skipped 30"}, conn.takeItems(t))
		require.Len(t, quick.takeItems(t), 7)
		slow.Ready()
		pass(time.Second)
		require.Empty(t, conn.takeItems(t))
	})
}

// A new client gets no item from before it joined.
func TestFeedLateClientGetsNewItemsOnly(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		_, first, _ := followFeed(t, h, "gift")
		confirmFeed(h, "gift", 0)
		f.addItems(h, 100, 0)
		require.Equal(t, []string{"live", "81 82 83 84 85 86 87 88 89 90 skipped 80"}, first.takeItems(t))
		pass(10 * time.Millisecond)
		f.addItems(h, 7, 0) // not yet published
		_, late, _ := followFeed(t, h, "gift")
		synctest.Wait()
		f.addItems(h, 4, 2*time.Second)
		require.Equal(t, []string{"92 93 94 95 96 skipped 1", "97 98 99", "100", "101", "102 103 104 105 106", "107 108 109 110 111"},
			first.takeItems(t))
		require.Equal(t, []string{"live", "108 109 110 111"}, late.takeItems(t), "what has happened since")
	})
}

// A frame is encoded once for all clients that have the version before.
func TestFeedFramesAreShared(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		conns := recordFeed(t, h, "gift", slices.Repeat([]Filter{nil}, 40))
		confirmFeed(h, "gift", 0)
		for range 3 {
			f.addItems(h, 7, time.Second)
		}
		distinct := sentTimes(conns)
		require.Len(t, distinct, 4, "the empty one and three more")
		for _, n := range distinct {
			require.Equal(t, 40, n)
		}
	})
}

// recordFeed joins a connection that follows a feed for each filter.
func recordFeed(t *testing.T, h *Hub, name string, filters []Filter) (conns []*recordingConn) {
	for _, filter := range filters {
		k := &recordingConn{}
		_, err := h.Follow(h.Join(k, nil), name, filter, func() {})
		require.NoError(t, err)
		conns = append(conns, k)
	}
	return conns
}

// During an outage clients are stale, until the feed is subscribed to again. Items sent
// meanwhile are not counted. A new client waits for the end of the outage.
func TestFeedOutage(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		_, conn, _ := followFeed(t, h, "gift")
		require.False(t, isStale(h))
		confirmFeed(h, "gift", time.Second)
		f.addItems(h, 1, 10*time.Millisecond)
		f.addItems(h, 1, 0)
		require.Equal(t, []string{"live", "1"}, conn.takeItems(t))
		h.FeedDown(time.Now())
		pass(time.Second)
		require.Equal(t, []string{"2"}, conn.takeItems(t), "the items that arrived are sent")
		_, late, _ := followFeed(t, h, "gift")
		_, another, _ := followFeed(t, h, "other")
		pass(time.Second)
		require.Equal(t, []string{"status true"}, late.take(t))
		f.items += 5 // the message is lost
		h.FeedUp()
		pass(time.Second)
		require.True(t, isStale(h))
		confirmFeed(h, "gift", time.Second)
		require.Equal(t, []string{"feed"}, late.take(t))
		require.True(t, isStale(h), "the other feed is not subscribed to yet")
		confirmFeed(h, "other", time.Second)
		require.Equal(t, []string{"status false"}, late.take(t))
		require.Equal(t, []string{"status true", "feed", "status false"}, another.take(t))
		f.addItems(h, 1, 0)
		require.Equal(t, []string{"8"}, conn.takeItems(t))
		require.Equal(t, []string{"8"}, late.takeItems(t))
	})
}

// The feed may go down before the hub learns that it was subscribed to.
func TestFeedOutageRightAfterSubscription(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		followFeed(t, h, "gift")
		confirmFeed(h, "gift", 0)
		h.FeedDown(time.Now())
		h.status.synced(&h.feeds["gift"].mark, h.feeds["gift"].live.Load)
		h.FeedUp()
		require.True(t, isStale(h))
		confirmFeed(h, "gift", 0)
		require.False(t, isStale(h))
	})
}

// A feed without clients is unsubscribed from, whichever way they leave.
func TestUnfollowedFeedLeavesNothing(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		for range 3 {
			a, conn, sub := followFeed(t, h, "gift")
			b, _, _ := followFeed(t, h, "gift")
			confirmFeed(h, "gift", 0)
			require.Equal(t, 1, h.Feeds())
			h.Unsubscribe(sub)
			h.Unsubscribe(sub)
			require.Equal(t, 1, h.Feeds())
			conn.take(t)
			f.addItems(h, 1, time.Second)
			require.Empty(t, conn.take(t))
			h.FeedDown(time.Now())
			h.FeedUp()
			require.True(t, isStale(h))
			h.Leave(b)
			require.False(t, isStale(h), "no client waits for it")
			h.Leave(a)
			synctest.Wait()
			require.Zero(t, h.Feeds())
			require.Empty(t, f.followed)
			requireNothingStays(t, h)
			h.FeedItems("gift", [][]byte{[]byte(`{}`)})
			h.FeedFollowed("gift")
		}
		_, err := h.Follow(func() *Client { c := h.Join(&fakeConn{}, nil); h.Leave(c); return c }(), "gift", nil, func() {})
		require.ErrorIs(t, err, ErrClosed)
		require.Zero(t, h.Feeds())
	})
}

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
		confirmFeed(h, "periods", 0)
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
	withHub(t, func(t *testing.T, h *Hub, _ *fakeBoard) {
		conns := recordFeed(t, h, "periods", slices.Repeat([]Filter{nil, func(string) bool { return true }}, 2))
		confirmFeed(h, "periods", 0)
		addPeriods(h, "a", "b")
		pass(time.Second)
		for _, n := range sentTimes(conns) {
			require.Equal(t, 4, n)
		}
	})
}
