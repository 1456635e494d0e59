package hub

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/hub/hubtest"
	"rankcast/ranking/definition"
)

// every is the length of the periods in these tests.
const every = 10 * time.Second

// offset is the time after the start of a period at which the intervals of a test begin that has changes just before the end of the
// period. No interval begins with a period then.
const offset = 50 * time.Millisecond

// lastPlace is the last me frame before the newest snapshot.
func lastPlace(t *testing.T, conn *fakeConn) (last hubtest.Message) {
	t.Helper()
	var before hubtest.Message
	for _, m := range conn.frames {
		if m.Type == "snapshot" {
			last = before
		}
		before = m
	}
	require.Equal(t, "me", last.Type)
	return last
}

// At a rollover each client gets the end of the period and then the next period, without
// any update, and also where both are empty.
func TestRollover(t *testing.T) {
	withPeriods(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(50)
		_, conn := watch(t, h, "b", Watch{Top: 10, Me: "m040"})
		_, narrow := watch(t, h, "b", Watch{Top: 3})
		confirm(h, 0)
		require.Equal(t, []string{"snapshot", "me"}, conn.take(t))
		narrow.take(t)
		shows(t, conn, "0", false, f.top(10))
		require.Equal(t, `"`+f.began.Add(every).UTC().Format(definition.TimeForm)+`"`, string(conn.board.Ends))

		pass(every - 1)
		require.Empty(t, conn.take(t))
		pass(1)
		require.Equal(t, []string{"final", "me", "snapshot", "me"}, conn.take(t))
		require.Equal(t, []string{"final", "snapshot"}, narrow.take(t))
		endsWere(t, f, conn, 10, "0")
		endsWere(t, f, narrow, 3, "0")
		shows(t, conn, "1", false, f.top(10))
		require.Empty(t, conn.board.Top)
		require.Nil(t, conn.board.Me.Rank)
		require.Equal(t, `"`+f.began.Add(2*every).UTC().Format(definition.TimeForm)+`"`, string(conn.board.Ends))
		require.Equal(t, []string{"b", "b@0", "b"}, f.pages)

		pass(every)
		require.Equal(t, []string{"final", "me", "snapshot", "me"}, conn.take(t))
		endsThenShows(t, f, conn, 10, "1", "2")

		pass(time.Second)
		deliver(h, f.set("m7", 7), 0)
		shows(t, conn, "2", false, f.top(10))
		deliver(h, f.set("m8", 8), time.Second)
		require.Equal(t, []string{"snapshot", "me", "delta"}, conn.take(t), "of which the first tells the epoch")
		shows(t, conn, "2", false, f.top(10))
		require.Len(t, f.pages, 5)
		require.Empty(t, f.logged())
	})
}

// Where Redis's clock is set forward into the next period, clients of a quiet board see that period soon.
func TestRolloverBySettingTheClock(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.periods(time.Hour)
		f.fill(50)
		_, conn := watch(t, h, "b", Watch{Top: 10})
		_, last := watch(t, h, "b@-1", Watch{Top: 10})
		confirm(h, 2*time.Second)
		shows(t, conn, "0", false, f.top(10))

		f.setClock(time.Hour)
		pass(h.cfg.CheckInterval + clockJitter + endTimeout + drainTimeout)
		shows(t, conn, "1", false, []hubtest.Entry{})
		endsWere(t, f, conn, 10, "0")
		shows(t, last, "0", true, f.topOf("b@0", 10))
	})
}

// A rollover does not wait for the interval, and contains all changes up to it.
func TestRolloverWithinAnInterval(t *testing.T) {
	withPeriods(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		pass(offset)
		_, conn := watch(t, h, "b", Watch{Top: 10})
		confirm(h, every-30*time.Millisecond-offset)
		deliver(h, f.set("a", 1), 10*time.Millisecond)
		deliver(h, f.set("a", 2), 10*time.Millisecond)
		require.Equal(t, []string{"snapshot", "delta"}, conn.take(t))
		pass(10 * time.Millisecond)
		require.Equal(t, []string{"final", "snapshot"}, conn.take(t))
		endsThenShows(t, f, conn, 10, "0", "1")
	})
}

// A change of the next period shows the rollover before the clock does.
func TestRolloverFoundByAChange(t *testing.T) {
	withPeriods(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.leftError = time.Hour
		_, conn := watch(t, h, "b", Watch{Top: 10})
		_, before := watch(t, h, "b@-1", Watch{Top: 10})
		confirm(h, time.Second)
		shows(t, before, "", true, []hubtest.Entry{})
		pass(every)
		require.Equal(t, []string{"snapshot"}, conn.take(t))
		deliver(h, f.set("a", 1), 0)
		require.Equal(t, []string{"final", "snapshot"}, conn.take(t))
		endsThenShows(t, f, conn, 10, "0", "1")
		pass(time.Second)
		shows(t, before, "0", true, f.topOf("b@0", 10))

		pass(every)
		deliver(h, f.set("a", 1), 0)
		endsThenShows(t, f, conn, 10, "1", "2")
		shows(t, before, "1", true, f.topOf("b@1", 10))
		pages := len(f.pages)
		for i := range 50 {
			deliver(h, f.set("a", int64(i)), 10*time.Millisecond)
		}
		require.Len(t, f.pages, pages, "each period is looked for once")
	})
}

// When the node expects a rollover too early, it waits for it.
func TestRolloverReadTooEarly(t *testing.T) {
	withPeriods(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.leftError = -3 * time.Second
		_, conn := watch(t, h, "b", Watch{Top: 10})
		confirm(h, time.Second)
		f.leftError = 0
		conn.take(t)
		pass(every - time.Second - 1)
		require.Equal(t, []string{"b", "b@0"}, f.pages)
		require.Empty(t, conn.take(t))
		pass(1)
		require.Equal(t, []string{"final", "snapshot"}, conn.take(t))
		endsWere(t, f, conn, 10, "0")
	})
}

// A client that was slow during rollovers gets the end of its period, or, if it missed
// whole periods, of the latest closed one. It gets no end twice.
func TestSlowClientGetsTheLastEnd(t *testing.T) {
	withPeriods(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		conns := make(map[*fakeConn]*Client)
		stalled := func(room int) *fakeConn {
			c, conn := watch(t, h, "b", Watch{Top: 10, Me: "low0"})
			conn.room = room
			conns[conn] = c
			return conn
		}
		old, atEnd, atPlace, never := stalled(2), stalled(4), stalled(5), stalled(0)
		never.setFull(true)
		confirm(h, every/2)
		deliver(h, f.set("a", 1), every/2)
		again := func() {
			t.Helper()
			for conn, c := range conns {
				free(c, conn)
				shows(t, conn, f.name, false, f.top(10))
				meHolds(t, f, conn, "low0", 0)
			}
		}
		for i := range 3 {
			deliver(h, f.set("a", int64(i)), 200*time.Millisecond)
		}
		require.Equal(t, []string{"snapshot", "me"}, old.take(t))
		require.Equal(t, []string{"snapshot", "me", "delta", "me"}, atEnd.take(t))
		require.Equal(t, []string{"snapshot", "me", "delta", "me", "final"}, atPlace.take(t))
		require.Empty(t, never.take(t))
		again()
		require.Equal(t, []string{"final", "snapshot", "me"}, old.take(t))
		endsWere(t, f, old, 10, "0")
		require.Equal(t, []string{"final", "snapshot", "me"}, atEnd.take(t))
		require.Equal(t, []string{"snapshot", "me"}, atPlace.take(t))
		require.Equal(t, []string{"snapshot", "me"}, never.take(t))

		for conn := range conns {
			conn.setFull(true)
		}
		pass(3 * every)
		atEnd.ends, atPlace.ends, never.ends = nil, nil, nil
		again()
		for conn := range conns {
			require.Equal(t, []string{"final", "snapshot", "me"}, conn.take(t))
			endsWere(t, f, conn, 10, "3")
		}
	})
}

// The end of a period is sent also where the next period is published before a shard looks.
func TestRolloverSeenLateByAShard(t *testing.T) {
	withPeriods(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		c, conn := watch(t, h, "b", Watch{Top: 10, Me: "low0"})
		confirm(h, 0)
		conn.take(t)
		busy := make(chan struct{})
		go c.shard.do(func() { <-busy })
		pass(every)
		deliver(h, f.set("low0", 1), time.Second)
		require.Empty(t, conn.take(t))
		close(busy)
		synctest.Wait()
		require.Equal(t, []string{"final", "snapshot", "me"}, conn.take(t))
		endsThenShows(t, f, conn, 10, "0", "1")
		meHolds(t, f, conn, "low0", 0)
	})
}

// No me frame of a period precedes its snapshot, also where the connection refused the
// snapshot and has room again.
func TestMeOfAPeriodComesAfterItsSnapshot(t *testing.T) {
	withPeriods(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		c, conn := watch(t, h, "b", Watch{Top: 10, Me: "low0"})
		confirm(h, time.Second)
		conn.take(t)
		conn.room = 2 // the end and the place in it
		pass(every)
		require.Equal(t, []string{"final", "me"}, conn.take(t))
		pass(time.Second)
		deliver(h, f.set("low0", 5), time.Second)
		conn.setFull(false) // and its Ready has not arrived yet
		c.shard.do(func() { c.deliveries[2].send(); conn.Flush() })
		require.Empty(t, conn.take(t))
		c.Ready()
		synctest.Wait()
		require.Equal(t, []string{"snapshot", "me"}, conn.take(t))
		meHolds(t, f, conn, "low0", 0)
	})
}

// A client that subscribes after a rollover sees nothing of the old period.
func TestSubscribeAfterRollover(t *testing.T) {
	withPeriods(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		watch(t, h, "b", Watch{Top: 10})
		confirm(h, every)
		_, conn := watch(t, h, "b", Watch{Top: 10})
		_, other := watch(t, h, "b", Watch{Top: 5, Me: "m"})
		pass(time.Second)
		require.Equal(t, []string{"snapshot"}, conn.take(t))
		require.Equal(t, []string{"snapshot", "me"}, other.take(t))
	})
}

// Late changes of the old period and early changes of the new one do not affect the other
// period.
func TestChangesAroundRollover(t *testing.T) {
	withPeriods(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(200)
		_, conn := watch(t, h, "b", Watch{Top: 10, Me: "m150"})
		confirm(h, every-1)
		late := f.set("m001", 5000)
		hold, held := make(chan struct{}), make(chan struct{})
		f.onPage.once(func() {
			close(held)
			<-hold
		})
		conn.take(t)
		pass(1)
		<-held // the page of the old period: read, not yet answered
		for i := range 30 {
			h.FeedChanges(f.set(fmt.Sprintf("m%03d", 149+i), int64(1000-i)))
		}
		pass(50 * time.Millisecond)
		require.Empty(t, conn.take(t), "of the new period nothing before the end of the old")
		close(hold)
		pass(50 * time.Millisecond)
		require.Empty(t, conn.take(t), "the end waits for what leads there")
		deliver(h, late, 0)
		require.Equal(t, []string{"final", "me", "snapshot", "me"}, conn.take(t))
		endsThenShows(t, f, conn, 10, "0", "1")
		meHolds(t, f, conn, "m150", 0)
		pages := len(f.pages)
		late.Seq++
		deliver(h, late, time.Second) // of the old period, as from another node
		require.Empty(t, conn.take(t))
		deliver(h, f.set("m150", 3000), time.Second)
		require.Equal(t, []string{"delta", "me"}, conn.take(t))
		shows(t, conn, "1", false, f.top(10))
		meHolds(t, f, conn, "m150", 0)
		require.Len(t, f.pages, pages)
		require.Empty(t, f.logged())
	})
}

// When the last changes of a period are lost, its end is still right, and arrives soon.
func TestPeriodEndWithLostChanges(t *testing.T) {
	withPeriods(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(200)
		_, conn := watch(t, h, "b", Watch{Top: 10, Me: "m150"})
		confirm(h, every-1)
		f.set("m001", 5000)
		f.set("m160", 5001)
		conn.take(t)
		pass(900 * time.Millisecond)
		require.EqualValues(t, 152, *lastPlace(t, conn).Rank)
		require.Equal(t, []string{"final", "me", "snapshot", "me"}, slices.Compact(conn.take(t)))
		endsThenShows(t, f, conn, 10, "0", "1")
	})
}

// Followers get their final places, with the neighbours, as far as they have changed since
// the last notification. Then they get their places in the next period.
func TestFollowersGetTheirFinalPlaces(t *testing.T) {
	withPeriods(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(200)
		pass(offset)
		_, conn := watch(t, h, "b", Watch{Top: 3, Me: "m100"})
		_, wide := watch(t, h, "b", Watch{Top: 3, Me: "m110", Around: 2})
		_, still := watch(t, h, "b", Watch{Top: 3, Me: "m010"})
		confirm(h, every-500*time.Millisecond-offset)
		deliver(h, f.set("m150", 1005), 200*time.Millisecond) // begins an interval
		h.FeedChanges(f.set("m151", 1006))
		deliver(h, f.set("m111", 895), 200*time.Millisecond)
		for _, c := range []*fakeConn{conn, wide, still} {
			c.take(t)
		}
		f.onPlaces.once(func() { time.Sleep(100 * time.Millisecond) })
		pass(101 * time.Millisecond)
		deliver(h, f.set("m050", 1), 898*time.Millisecond)
		meHolds(t, f, conn, "m100", 0)
		require.Equal(t, f.topOf("b@0", 115)[110:], lastPlace(t, wide).Around)
		for c, rank := range map[*fakeConn]int{conn: 103, wide: 113, still: 11} {
			require.EqualValues(t, rank, *lastPlace(t, c).Rank)
			require.Equal(t, []string{"final", "me", "snapshot", "me"}, slices.Compact(c.take(t)))
		}
	})
}
