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

// frozenJSON is a freeze as frames show it.
func frozenJSON(f *ranking.Frozen) hubtest.Raw {
	return hubtest.Raw(fmt.Sprintf(`{"since":"%s","reveals":"%s"}`, f.Since.UTC().Format(definition.TimeForm), f.Reveals))
}

// byHost is a freeze that a moderator has begun now.
func byHost() *ranking.Frozen {
	return &ranking.Frozen{Since: time.Now().UTC(), Reveals: definition.RevealHost}
}

// Clients are told when a board freezes and when the freeze ends, before the next difference, and keep their list. Those who resume are
// told what they do not know.
func TestFreezeWithinALife(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(50)
		conn := watchTopLive(t, h, 10)
		before := conn.board
		is := byHost()
		deliver(h, f.freeze(is), time.Second)
		require.Equal(t, []string{"board", "delta"}, conn.take(t))
		require.Equal(t, frozenJSON(is), conn.board.Frozen)
		require.Equal(t, f.top(10), conn.board.Top)

		during := conn.board
		_, fresh := watch(t, h, "b", Watch{Top: 5})
		_, back := resume(t, h, before, Watch{Top: 10})
		_, again := resume(t, h, during, Watch{Top: 10})
		synctest.Wait()
		require.Equal(t, []string{"snapshot"}, fresh.take(t))
		require.Equal(t, []string{"board", "delta"}, back.take(t))
		require.NotContains(t, again.take(t), "snapshot")
		for _, c := range []*fakeConn{fresh, back, again} {
			require.Equal(t, frozenJSON(is), c.board.Frozen)
		}

		deliver(h, f.set("m003", 5000), time.Second) // a member is revealed
		require.Equal(t, []string{"delta"}, conn.take(t))
		deliver(h, f.freeze(nil), time.Second)
		require.Equal(t, []string{"board", "delta"}, conn.take(t))
		require.Empty(t, conn.board.Frozen)
		_, back = resume(t, h, during, Watch{Top: 10})
		synctest.Wait()
		require.Equal(t, []string{"board", "delta"}, back.take(t))
		require.Empty(t, back.board.Frozen)
		require.Empty(t, f.logged())
	})
}

// A client that was slow while its board froze is told so by the state that it skips to. One whose connection takes no more than the
// board frame is told again.
func TestFreezeOfSlowClients(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(50)
		slow, late, _ := watchTop(t, h, 10)
		one, narrow, _ := watchTop(t, h, 10)
		confirm(h, time.Second)
		late.take(t)
		narrow.take(t)
		late.setFull(true)
		narrow.room = 1
		is := byHost()
		deliver(h, f.freeze(is), time.Second)
		require.Equal(t, []string{"board"}, narrow.take(t))
		free(one, narrow)
		require.Equal(t, []string{"board", "delta"}, narrow.take(t))
		require.Zero(t, narrow.wasted)
		deliver(h, f.set("m007", 5000), time.Second)
		free(slow, late)
		require.Equal(t, []string{"snapshot"}, late.take(t))
		require.Equal(t, frozenJSON(is), late.board.Frozen)
	})
}

// A page that was read before a board froze, and arrives after the message of that, does not hide it.
func TestFreezeMessageOvertakesAPage(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		is := byHost()
		f.onPage.once(func() { h.FeedChanges(f.freeze(is)) })
		_, conn, _ := watchTop(t, h, 10)
		confirm(h, time.Second)
		require.Equal(t, frozenJSON(is), conn.board.Frozen)
		require.Len(t, f.pages, 2)

		hold := make(chan struct{})
		f.onPage.once(func() { <-hold })
		f.edit(func() { f.pages = nil })
		h.FeedChanges(f.freeze(nil))
		synctest.Wait()
		h.FeedChanges(f.freeze(is)) // while the page of the state before is on its way
		synctest.Wait()
		close(hold)
		pass(time.Second)
		require.Equal(t, frozenJSON(is), conn.board.Frozen)
		require.Len(t, f.pages, 2)
	})
}

// A period freezes by the clock, without any message. At its end the board stays on it until all is revealed, and reads nothing
// meanwhile. Then it shows the final result and the next period.
func TestFreezeAtTheEndOfAPeriod(t *testing.T) {
	withPeriods(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.freezes = 3 * time.Second
		f.fill(50)
		_, conn := watch(t, h, "b", Watch{Top: 10, Me: "m040"})
		_, fixed := watch(t, h, "b@0", Watch{Top: 10})
		confirm(h, every-f.freezes-1)
		require.Equal(t, []string{"snapshot", "me"}, conn.take(t))
		fixed.take(t)
		pass(1)
		is := ranking.Frozen{Since: f.began.Add(every - f.freezes), Reveals: definition.RevealAuto}
		for _, c := range []*fakeConn{conn, fixed} {
			require.Equal(t, []string{"board", "delta"}, c.take(t))
			require.Equal(t, frozenJSON(&is), c.board.Frozen)
		}

		held := f.fakePeriod
		held.frozen = &is // an update is pending
		pass(f.freezes)
		f.edit(func() { f.pages = nil })
		pass(5 * time.Second)
		require.Empty(t, conn.take(t))
		require.Empty(t, fixed.take(t))
		require.Empty(t, f.pages)
		_, before := watch(t, h, "b@-1", Watch{Top: 10})
		pass(time.Second)
		shows(t, before, "0", false, held.top(10))
		require.Equal(t, frozenJSON(&is), before.board.Frozen)

		deliver(h, held.change("m040", 5000, ""), time.Second)
		deliver(h, held.freeze(nil), time.Second)
		require.Equal(t, []string{"delta", "me", "final", "me", "snapshot", "me"}, conn.take(t))
		endsThenShows(t, f, conn, 10, "0", "1")
		for _, c := range []*fakeConn{fixed, before} {
			shows(t, c, "0", true, held.top(10))
			require.Empty(t, c.board.Frozen)
		}
		require.Empty(t, f.logged())
	})
}

// A period with nothing pending is final as soon as it ends.
func TestNothingIsPendingAtTheEnd(t *testing.T) {
	withPeriods(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.freezes = 3 * time.Second
		_, conn := watch(t, h, "b", Watch{Top: 10})
		confirm(h, every)
		require.Equal(t, []string{"snapshot", "board", "delta", "final", "snapshot"}, conn.take(t))
		endsThenShows(t, f, conn, 10, "0", "1")
		require.Empty(t, conn.board.Frozen)
		pass(every)
		require.Equal(t, []string{"board", "delta", "final", "snapshot"}, conn.take(t))
	})
}
