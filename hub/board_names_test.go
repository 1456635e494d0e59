package hub

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
)

// All names of an instance share its changes. Each shows its own period, and moves on when
// it means another.
func TestNamesOfOneInstance(t *testing.T) {
	t.Parallel()
	withPeriods(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.set("a", 5)
		pass(every)
		f.set("b", 6)
		now, conn := watch(t, h, "b", Watch{Top: 10})
		h.FeedSubscribed("b")
		pass(time.Second)
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
		h.FeedChanges(f.set("c", 7))
		pass(time.Second)
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
		h.FeedChanges(f.set("d", 8))
		pass(every)
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
		require.Empty(t, h.instances)
		require.Empty(t, f.logged())
	})
}

// A board that is first watched during an outage of the feed is read after its instance is
// subscribed to. The outage lasts until then.
func TestBoardWatchedDuringAnOutage(t *testing.T) {
	t.Parallel()
	withPeriods(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		pass(every)
		_, conn := watch(t, h, "b", Watch{Top: 10})
		h.FeedSubscribed("b")
		pass(time.Second)
		h.FeedDown(time.Now())
		_, before := watch(t, h, "b@-1", Watch{Top: 10})
		pass(time.Second)
		require.Equal(t, []string{"status true"}, before.take(t))
		h.FeedUp()
		_, late := watch(t, h, "b@1", Watch{Top: 10})
		pass(time.Second)
		require.Empty(t, before.take(t))
		f.set("a", 5) // the message is lost
		h.FeedSubscribed("b")
		pass(time.Second)
		require.Equal(t, []string{"final", "status false"}, before.take(t))
		require.Equal(t, []string{"snapshot", "status true", "snapshot", "status false"}, conn.take(t))
		shows(t, conn, "1", false, f.top(10))
		shows(t, late, "1", false, f.top(10))
		require.False(t, isStale(h))
	})
}

// An activity closes, stays as it was, and opens again when its end is moved.
func TestPeriodBoundsWithoutRollover(t *testing.T) {
	t.Parallel()
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.ends = time.Now().Add(every)
		_, conn := watch(t, h, "b", Watch{Top: 10, Me: "a"})
		h.FeedSubscribed("b")
		pass(every - 1)
		h.FeedChanges(f.set("a", 5))
		pass(1)
		require.Equal(t, []string{"snapshot", "me", "delta", "me", "final", "me"}, conn.take(t))
		shows(t, conn, "", true, f.top(10))
		meHolds(t, f, conn, "a", 0)
		require.Equal(t, []string{"b", "b"}, f.pages)
		pass(20 * time.Second)
		require.Len(t, f.pages, 2, "nothing more is due")
		require.Empty(t, conn.take(t))

		f.ends = time.Now().Add(every) // as a new definition does
		h.FeedChanges(f.set("a", 6))
		pass(time.Second)
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
	t.Parallel()
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.ends = time.Now().Add(time.Hour)
		_, conn := watch(t, h, "b", Watch{Top: 10})
		h.FeedSubscribed("b")
		pass(time.Second)
		held := conn.board
		f.ends = time.Now().Add(2 * time.Hour)
		pass(40 * time.Second) // a verification
		require.Equal(t, []string{"snapshot", "snapshot"}, conn.take(t))
		require.Equal(t, `"`+f.ends.UTC().Format(definition.TimeForm)+`"`, string(conn.board.Ends))

		resume := func() *fakeConn {
			back := &fakeConn{board: held}
			_, err := h.Subscribe(h.Join(back, nil), theBoard, Watch{Top: 10, Resume: Position{held.Life, held.Seq}}, nil, func() {})
			require.NoError(t, err)
			synctest.Wait()
			return back
		}
		require.Equal(t, []string{"snapshot"}, resume().take(t))

		held = conn.board
		h.FeedDown(time.Now())
		f.ends = time.Now().Add(3 * time.Hour)
		h.FeedUp()
		h.FeedSubscribed("b")
		pass(time.Second)
		require.Equal(t, []string{"snapshot"}, resume().take(t), "also after an outage")
		h.FeedChanges(f.set("a", 1))
		pass(time.Second)
		held = conn.board
		require.Equal(t, []string{"delta"}, resume().take(t))
	})
}
