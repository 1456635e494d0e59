package hub

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/hub/hubtest"
	"rankcast/hub/view"
)

// A deleted board is shown empty, and shows again once it is defined again. The seq check
// looks for it, and the node logs the deletion once.
func TestDeletedBoard(t *testing.T) {
	t.Parallel()
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(200)
		_, conn := watch(t, h, "b", Watch{Top: 10, Me: "m100", Around: 1})
		h.FeedSubscribed("b")
		pass(time.Second)
		require.Equal(t, []string{"snapshot", "me"}, conn.take(t))
		f.missing = true
		pass(3 * time.Second) // two checks
		require.Equal(t, []string{"final", "me"}, conn.take(t))
		shows(t, conn, "", true, []hubtest.Entry{})
		require.Nil(t, conn.board.Me.Rank)
		require.Zero(t, conn.board.Total)
		require.Len(t, f.logged(), 1, "that the view is not where Redis is")

		_, late := watch(t, h, "b", Watch{Top: 5, Me: "m100"})
		pages := len(f.pages)
		pass(60 * time.Second)
		require.Equal(t, []string{"final", "me"}, late.take(t))
		require.Empty(t, conn.take(t))
		require.InDelta(t, 60, len(f.pages)-pages, 1)
		require.False(t, isStale(h))
		require.Empty(t, f.logged())

		f.missing = false
		pass(1100 * time.Millisecond)
		require.Equal(t, []string{"snapshot", "me"}, conn.take(t))
		shows(t, conn, "", false, f.top(10))
		meHolds(t, f, conn, "m100", 1)
		meHolds(t, f, late, "m100", 0)
		pages = len(f.pages)
		pass(20 * time.Second)
		require.Len(t, f.pages, pages)

		f.missing = true
		pass(3 * time.Second)
		require.Equal(t, []string{"final", "me"}, conn.take(t))
		f.missing = false
		pass(500 * time.Millisecond) // shorter than the time since the last check
		h.FeedChanges(f.set("m100", 5))
		pass(100 * time.Millisecond)
		require.Equal(t, []string{"snapshot", "me"}, conn.take(t), "a change is a sign of life")
		meHolds(t, f, conn, "m100", 1)
	})
}

// A period that was deleted before any client saw it is skipped.
func TestUnpublishedPeriodIsSkipped(t *testing.T) {
	t.Parallel()
	withPeriods(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.keptPeriods = 0
		pass(every / 2)
		c := f.set("a", 1)
		for i := range int64(view.MaxBuffered + 1) {
			c.List = append(c.List, f.set("a", i%7).List...)
		}
		f.onPage.set(func() {
			f.onPage.clear()
			h.FeedChanges(c) // more than the view buffers
			time.Sleep(every)
		})
		_, conn := watch(t, h, "b", Watch{Top: 10, Me: "a"})
		h.FeedSubscribed("b")
		pass(every + time.Second)
		require.Equal(t, []string{"snapshot", "me"}, conn.take(t))
		shows(t, conn, "1", false, f.top(10))
		require.Equal(t, []string{"b", "b@0", "b"}, f.pages)
	})
}

// A change shows that a deleted board exists again, with or without periods.
func TestBoardIsCreatedAgain(t *testing.T) {
	t.Parallel()
	withPeriods(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		_, conn := watch(t, h, "b", Watch{Top: 10})
		_, this := watch(t, h, "b@0", Watch{Top: 10})
		h.FeedSubscribed("b")
		pass(time.Second)
		f.missing = true
		pass(3100 * time.Millisecond)
		f.missing = false
		h.FeedChanges(f.set("a", 5))
		pass(100 * time.Millisecond)
		for _, c := range []*fakeConn{conn, this} {
			require.Equal(t, []string{"snapshot", "final", "snapshot"}, c.take(t))
			shows(t, c, "0", false, f.top(10))
		}
		pass(every)
		require.Equal(t, []string{"final", "snapshot"}, conn.take(t))
		require.Equal(t, []string{"final"}, this.take(t))
	})
}

// A lookup may be the first read to find that a board was deleted, and so may the first
// read after an outage.
func TestDeletedBoardIsFoundBySeqCheck(t *testing.T) {
	t.Parallel()
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(200)
		_, conn := watch(t, h, "b", Watch{Top: 3})
		h.FeedSubscribed("b")
		pass(3 * time.Second)
		conn.take(t)
		f.missing = true
		watch(t, h, "b", Watch{Top: 3, Me: "m100"})
		pass(200 * time.Millisecond)
		require.Equal(t, []string{"final"}, conn.take(t))
		f.missing = false
		pass(2 * time.Second)
		require.Equal(t, []string{"snapshot"}, conn.take(t))

		h.FeedDown(time.Now())
		f.missing = true
		pass(time.Second)
		h.FeedUp()
		h.FeedSubscribed("b")
		pass(time.Second)
		require.Equal(t, []string{"status true", "final", "status false"}, conn.take(t))
		require.Empty(t, f.logged())
	})
}

// A period that is deleted while clients watch it stays missing.
func TestDeletedPeriod(t *testing.T) {
	t.Parallel()
	withPeriods(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.keptPeriods = 1
		_, old := watch(t, h, "b@0", Watch{Top: 10})
		_, before := watch(t, h, "b@-1", Watch{Top: 10})
		h.FeedSubscribed("b")
		pass(every + time.Second)
		require.Equal(t, []string{"snapshot", "final"}, old.take(t))
		shows(t, before, "0", true, f.topOf("b@0", 10))
		h.FeedChanges(f.set("a", 1))
		pass(every + 4*time.Second)
		require.Equal(t, []string{"final"}, old.take(t))
		shows(t, old, "", true, []hubtest.Entry{})
		shows(t, before, "1", true, f.topOf("b@1", 10))
		f.logged()
		pages := len(f.pages)
		for range 50 {
			h.FeedChanges(f.set("a", 2))
			pass(20 * time.Millisecond)
		}
		require.LessOrEqual(t, len(f.pages)-pages, 2)
		require.Empty(t, f.logged())
	})
}

// A period that is not kept ends with the last state that the board knew.
func TestPeriodBeyondRetention(t *testing.T) {
	t.Parallel()
	for name, received := range map[string]bool{"with all received changes": true, "as last published": false} {
		t.Run(name, func(t *testing.T) {
			withPeriods(t, func(t *testing.T, h *Hub, f *fakeBoard) {
				f.keptPeriods = 0
				_, conn := watch(t, h, "b", Watch{Top: 10, Me: "low1"})
				h.FeedSubscribed("b")
				pass(every - 50*time.Millisecond)
				h.FeedChanges(f.set("a", 1))
				pass(10 * time.Millisecond)
				shown := f.top(10)
				h.FeedChanges(f.set("a", 2))
				last := f.top(10)
				if !received {
					f.set("a", 3)
					f.setReadErr(errAway) // and the view is invalid
					h.FeedChanges(f.set("a", 4))
					last = shown
				}
				pass(40 * time.Millisecond)
				f.setReadErr(nil)
				pass(10 * time.Second / 4)
				ends := conn.ends
				require.Len(t, ends, 1)
				require.Equal(t, "0", ends[0].Period)
				require.Equal(t, last, ends[0].Top)
				shows(t, conn, "1", false, f.top(10))
				require.Nil(t, conn.board.Me.Rank)
				require.False(t, isStale(h))
				conn.take(t)
			})
		})
	}
}

// A client that was slow while a board was deleted and defined again does not see the
// deletion.
func TestSlowClientMissesADeletion(t *testing.T) {
	t.Parallel()
	withPeriods(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		c, conn := watch(t, h, "b", Watch{Top: 10})
		h.FeedSubscribed("b")
		pass(time.Second)
		conn.take(t)
		conn.setFull(true)
		f.missing = true
		pass(every)
		f.missing = false
		pass(2 * time.Second)
		conn.setFull(false)
		c.Ready()
		synctest.Wait()
		require.Equal(t, "1", conn.board.Period)
		require.Len(t, conn.frames, 1)
		require.False(t, conn.frames[0].Final)
	})
}
