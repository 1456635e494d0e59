package hub

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"rankcast/hub/hubtest"
	"rankcast/ranking/definition"
)

// All names of an instance share its changes. Each shows its own period, and moves on when
// it means another.
func TestNamesOfOneInstance(t *testing.T) {
	withPeriods(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.set("a", 5)
		pass(every)
		f.set("b", 6)
		now, conn := watch(t, h, "b", Watch{Top: 10})
		confirm(h, time.Second)
		// Later names are read although the feed confirms no subscription for them.
		beforeC, before := watch(t, h, "b@-1", Watch{Top: 10, Me: "a"})
		oldC, old := watch(t, h, "b@0", Watch{Top: 10})
		thisC, this := watch(t, h, "b@1", Watch{Top: 10})
		pass(time.Second)
		require.Equal(t, 4, h.Watched())
		require.Equal(t, []string{"snapshot"}, conn.take(t))
		require.Equal(t, []string{"final", "me"}, before.take(t))
		require.Equal(t, []string{"final"}, old.take(t))
		require.Equal(t, []string{"snapshot"}, this.take(t))
		for _, c := range []*fakeConn{before, old} {
			shows(t, c, "0", true, f.topOf("b@0", 10))
		}
		deliver(h, f.set("c", 7), time.Second)
		require.Equal(t, []string{"delta"}, conn.take(t))
		require.Equal(t, []string{"delta"}, this.take(t))
		require.Empty(t, before.take(t))
		require.Empty(t, old.take(t))

		pass(every)
		require.Equal(t, []string{"final", "snapshot"}, conn.take(t))
		require.Equal(t, []string{"final"}, this.take(t), "an absolute name stays")
		require.Equal(t, []string{"final", "me"}, before.take(t), "what is final is shown once")
		require.Empty(t, old.take(t))
		shows(t, this, "1", true, f.topOf("b@1", 10))
		shows(t, before, "1", true, f.topOf("b@1", 10))
		deliver(h, f.set("d", 8), every)
		require.Equal(t, []string{"snapshot", "final", "snapshot"}, conn.take(t))
		require.Empty(t, this.take(t))
		require.Empty(t, old.take(t))
		shows(t, before, "2", true, f.topOf("b@2", 10))

		require.NotZero(t, f.watched["b"])
		h.Leave(now)
		h.Leave(oldC)
		h.Leave(beforeC)
		require.NotZero(t, f.watched["b"], "one of them is still watched")
		h.Leave(thisC)
		require.Empty(t, f.watched)
		require.Zero(t, h.Watched())
		require.Empty(t, h.channels)
		require.Empty(t, f.logged())
	})
}

// A board that is first watched during an outage of the feed is read after its instance is
// subscribed to. The outage lasts until then.
func TestBoardWatchedDuringAnOutage(t *testing.T) {
	withPeriods(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		pass(every)
		_, conn := watch(t, h, "b", Watch{Top: 10})
		confirm(h, time.Second)
		h.FeedDown(time.Now())
		_, before := watch(t, h, "b@-1", Watch{Top: 10})
		pass(time.Second)
		require.Equal(t, []string{"status true"}, before.take(t))
		h.FeedUp()
		_, late := watch(t, h, "b@1", Watch{Top: 10})
		pass(time.Second)
		require.Empty(t, before.take(t))
		f.set("a", 5) // the message is lost
		confirm(h, time.Second)
		require.Equal(t, []string{"final", "status false"}, before.take(t))
		require.Equal(t, []string{"snapshot", "status true", "snapshot", "status false"}, conn.take(t))
		shows(t, conn, "1", false, f.top(10))
		shows(t, late, "1", false, f.top(10))
		require.False(t, isStale(h))
	})
}

// An activity closes, stays as it was, and opens again when its end is moved.
func TestPeriodBoundsWithoutRollover(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.ends = time.Now().Add(every)
		_, conn := watch(t, h, "b", Watch{Top: 10, Me: "a"})
		confirm(h, every-1)
		deliver(h, f.set("a", 5), 1)
		require.Equal(t, []string{"snapshot", "me", "delta", "me", "final", "me"}, conn.take(t))
		shows(t, conn, "", true, f.top(10))
		meHolds(t, f, conn, "a", 0)
		require.Equal(t, []string{"b", "b"}, f.pages)
		pass(20 * time.Second)
		require.Len(t, f.pages, 2, "nothing more is due")
		require.Empty(t, conn.take(t))

		f.ends = time.Now().Add(every) // as a new definition does
		deliver(h, f.set("a", 6), time.Second)
		require.Equal(t, []string{"snapshot", "me"}, conn.take(t))
		shows(t, conn, "", false, f.top(10))
		pass(every)
		require.Equal(t, []string{"final", "me"}, conn.take(t))
		require.Empty(t, f.logged())
		require.EqualValues(t, 1, testutil.ToFloat64(h.metrics.resyncs[resyncReopened]))
	})
}

// Clients are told when the end of the shown period is moved, also clients that resume.
func TestEndTimeChanges(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.ends = time.Now().Add(time.Hour)
		_, conn := watch(t, h, "b", Watch{Top: 10})
		confirm(h, time.Second)
		held := conn.board
		f.ends = time.Now().Add(2 * time.Hour)
		pass(40 * time.Second) // a verification
		require.Equal(t, []string{"snapshot", "snapshot"}, conn.take(t))
		require.Equal(t, `"`+f.ends.UTC().Format(definition.TimeForm)+`"`, string(conn.board.Ends))

		again := func() *fakeConn {
			_, back := resume(t, h, held, Watch{Top: 10})
			synctest.Wait()
			return back
		}
		require.Equal(t, []string{"snapshot"}, again().take(t))

		held = conn.board
		h.FeedDown(time.Now())
		f.ends = time.Now().Add(3 * time.Hour)
		h.FeedUp()
		confirm(h, time.Second)
		require.Equal(t, []string{"snapshot"}, again().take(t), "also after an outage")
		deliver(h, f.set("a", 1), time.Second)
		held = conn.board
		require.Equal(t, []string{"delta"}, again().take(t))
	})
}

// A deleted board is shown empty, and shows again once it is defined again. The seq check
// looks for it, and the node logs the deletion once.
func TestDeletedBoard(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(200)
		_, conn := watch(t, h, "b", Watch{Top: 10, Me: "m100", Around: 1})
		confirm(h, time.Second)
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
		deliver(h, f.set("m100", 5), 100*time.Millisecond)
		require.Equal(t, []string{"snapshot", "me"}, conn.take(t), "a change is a sign of life")
		meHolds(t, f, conn, "m100", 1)
	})
}

// A period that was deleted before any client saw it is skipped.
func TestUnpublishedPeriodIsSkipped(t *testing.T) {
	withPeriods(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.keptPeriods = 0
		pass(every / 2)
		f.onPage.once(func() {
			for _, c := range f.overflow() { // more than the view buffers
				h.FeedChanges(c)
			}
			time.Sleep(every)
		})
		_, conn := watch(t, h, "b", Watch{Top: 10, Me: "a"})
		confirm(h, every+time.Second)
		require.Equal(t, []string{"snapshot", "me"}, conn.take(t))
		shows(t, conn, "1", false, f.top(10))
		require.Equal(t, []string{"b", "b@0", "b"}, f.pages)
	})
}

// A change shows that a deleted board exists again, with or without periods.
func TestBoardIsCreatedAgain(t *testing.T) {
	withPeriods(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		_, conn := watch(t, h, "b", Watch{Top: 10})
		_, this := watch(t, h, "b@0", Watch{Top: 10})
		confirm(h, time.Second)
		f.missing = true
		pass(3100 * time.Millisecond)
		f.missing = false
		deliver(h, f.set("a", 5), 100*time.Millisecond)
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
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(200)
		_, conn := watch(t, h, "b", Watch{Top: 3})
		confirm(h, 3*time.Second)
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
		confirm(h, time.Second)
		require.Equal(t, []string{"status true", "final", "status false"}, conn.take(t))
		require.Empty(t, f.logged())
	})
}

// A period that is deleted while clients watch it stays missing.
func TestDeletedPeriod(t *testing.T) {
	withPeriods(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.keptPeriods = 1
		_, old := watch(t, h, "b@0", Watch{Top: 10})
		_, before := watch(t, h, "b@-1", Watch{Top: 10})
		confirm(h, every+time.Second)
		require.Equal(t, []string{"snapshot", "final"}, old.take(t))
		shows(t, before, "0", true, f.topOf("b@0", 10))
		deliver(h, f.set("a", 1), every+4*time.Second)
		require.Equal(t, []string{"final"}, old.take(t))
		shows(t, old, "", true, []hubtest.Entry{})
		shows(t, before, "1", true, f.topOf("b@1", 10))
		f.logged()
		pages := len(f.pages)
		for range 50 {
			deliver(h, f.set("a", 2), 20*time.Millisecond)
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
				confirm(h, every-50*time.Millisecond)
				deliver(h, f.set("a", 1), 10*time.Millisecond)
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
			})
		})
	}
}

// A client that was slow while a board was deleted and defined again does not see the
// deletion.
func TestSlowClientMissesADeletion(t *testing.T) {
	withPeriods(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		c, conn := watch(t, h, "b", Watch{Top: 10})
		confirm(h, time.Second)
		conn.take(t)
		conn.setFull(true)
		f.missing = true
		pass(every)
		f.missing = false
		pass(2 * time.Second)
		free(c, conn)
		require.Equal(t, "1", conn.board.Period)
		require.Len(t, conn.frames, 1)
		require.False(t, conn.frames[0].Final)
		require.ErrorContains(t, conn.foldErr, `period "1" is shown before the end of "0"`, "which it got no end of")
		conn.foldErr = nil
	})
}
