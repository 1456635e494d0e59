package hub

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// A connection that takes the end and no further frame gets the end once.
func TestEndIsSentOnce(t *testing.T) {
	withPeriods(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		c, conn := watch(t, h, "b", Watch{Top: 10, Me: "low0"})
		conn.room = 2
		confirm(h, 2*every)
		conn.take(t)
		for _, want := range [][]string{{"final"}, {"snapshot"}, {"me"}, nil} {
			conn.full, conn.room = false, 1
			c.Ready()
			synctest.Wait()
			require.Equal(t, want, conn.take(t))
		}
		endsWere(t, f, conn, 10, "1")
	})
}

// While the end of a period was read, clients subscribed to more entries than the page has.
// The view is read again before the next period is shown.
func TestEndWithTooFewEntries(t *testing.T) {
	withPeriods(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(300)
		_, small := watch(t, h, "b", Watch{Top: 10})
		c, _ := watch(t, h, "b", Watch{Top: 90})
		confirm(h, every-1)
		h.Leave(c) // its 90 entries are still published, but not watched any more
		synctest.Wait()
		var conn *fakeConn
		f.onPage.once(func() {
			time.Sleep(time.Millisecond)
			_, conn = watch(t, h, "b", Watch{Top: 90})
			time.Sleep(time.Millisecond)
		})
		pass(time.Second)
		endsWere(t, f, small, 10, "0")
		endsWere(t, f, conn, 90, "0")
		require.Equal(t, []string{"snapshot", "final", "snapshot"}, conn.take(t))
		require.Equal(t, []string{"b", "b@0", "b@0", "b"}, f.pages)
	})
}

// Too many changes arrive while the end is read: the page is discarded and read again at
// once.
func TestEndWhenTheBufferOverflows(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.ends = time.Now().Add(every)
		_, conn := watch(t, h, "b", Watch{Top: 10})
		confirm(h, every-time.Millisecond)
		f.onPage.once(func() {
			for _, c := range f.overflow() {
				h.FeedChanges(c)
			}
			time.Sleep(time.Millisecond)
		})
		pass(5 * time.Millisecond)
		require.Equal(t, []string{"snapshot", "delta", "final"}, conn.take(t))
		shows(t, conn, "", true, f.top(10))
	})
}

// A late change of the old period, after a rollover found by the clock, causes no read.
func TestLateChangeAfterRollover(t *testing.T) {
	withPeriods(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		_, conn := watch(t, h, "b", Watch{Top: 10})
		confirm(h, every-1)
		late := f.set("a", 1)
		pass(time.Second)
		conn.take(t)
		pages := len(f.pages)
		deliver(h, late, time.Second)
		require.Empty(t, conn.take(t))
		require.Len(t, f.pages, pages)
	})
}

// Changes of the current period, however many, cause no read of a view of another period.
func TestChangesOfOtherPeriodsAreIgnored(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"b@0", "b@-1"} {
		t.Run(name, func(t *testing.T) {
			withPeriods(t, func(t *testing.T, h *Hub, f *fakeBoard) {
				f.set("a", 1)
				pass(every)
				f.onPage.once(func() {
					for _, c := range f.overflow() {
						h.FeedChanges(c)
					}
					time.Sleep(time.Millisecond)
				})
				_, conn := watch(t, h, name, Watch{Top: 10})
				confirm(h, time.Second)
				require.Equal(t, []string{"final"}, conn.take(t))
				require.Equal(t, []string{name}, f.pages)
				deliver(h, f.set("b", 2), time.Second)
				require.LessOrEqual(t, len(f.pages), 2)
				shows(t, conn, "0", true, f.topOf("b@0", 10))
			})
		})
	}
}

// A slow lookup in the old period does not delay lookups in the new one.
func TestLookupDuringRollover(t *testing.T) {
	withPeriods(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(200)
		watch(t, h, "b", Watch{Top: 3})
		confirm(h, every-time.Second)
		f.onPlaces.once(func() { time.Sleep(5 * time.Second) })
		_, conn := watch(t, h, "b", Watch{Top: 3, Me: "m100"})
		f.beforeRead.set(func() {
			if f.reading == "b" {
				f.beforeRead.clear()
				f.fill(200) // in the new period
			}
		})
		pass(2 * time.Second)
		require.Equal(t, []string{"snapshot", "final", "snapshot", "me"}, conn.take(t))
		meHolds(t, f, conn, "m100", 0)
		require.Equal(t, []string{"b@0", "b@1"}, f.lookedUp)
		pass(10 * time.Second)
	})
}

// Followers get their place after a regression, also where the entries are the same as
// before.
func TestMeAfterRegression(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		conn := fillAndWatchMember(t, h, f, "m100", 0)
		again := f.saveState()
		deliver(h, f.set("m150", 1005), 3*time.Second)
		require.EqualValues(t, 102, *conn.board.Me.Rank)
		again()
		pass(5 * time.Second)
		meHolds(t, f, conn, "m100", 0)
	})
}
