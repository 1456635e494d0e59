package live_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/hub"
	"rankcast/hub/hubtest"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

// quick is a board whose periods pass while a test waits.
var quick = definition.Board{Name: "quick", Period: "3s", Base: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}

// A rollover while many sockets on two nodes watch a board without further updates: each socket gets
// the final state of the old period, and right after it the first state of the next.
func TestRolloverReachesEverySocket(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	nodes := []*servertest.Node{servertest.Start(t, r.URL(), servertest.Config{}, quick),
		servertest.Start(t, r.URL(), servertest.Config{}, quick)}
	type turn struct{ last, first hubtest.Message }
	var turns [rolloverSockets]turn
	var ready, wg sync.WaitGroup
	ready.Add(rolloverSockets)
	for i := range rolloverSockets {
		s := servertest.Dial(t, nodes[i%2].Addr)
		s.Send(`{"type":"subscribe","id":1,"board":"quick","top":5,"me":"m%d"}`, i%20)
		s.Next("snapshot")
		wg.Go(func() {
			ready.Done()
			for !turns[i].last.Final || *turns[i].last.Period == "" || turns[i].last.Total == 0 {
				m, err := s.Read()
				if err != nil {
					return
				}
				if m.Type == "snapshot" {
					turns[i].last = m
				}
			}
			for turns[i].first.Type != "snapshot" && turns[i].first.Type != "delta" {
				m, err := s.Read()
				if err != nil {
					return
				}
				turns[i].first = m
			}
		})
	}
	redistest.Wait(t, "the end of ready", ready.Wait)
	// All of it in one period: what was written is the only board that is not empty.
	var updates []definition.Update
	for i := range 20 {
		updates = append(updates, definition.Update{Member: fmt.Sprint("m", i), Score: int64(i)})
	}
	outcomes, err := nodes[0].Store.Apply(t.Context(), "quick", updates)
	require.NoError(t, err)
	period := outcomes[0].Result.Period
	redistest.Wait(t, "the callers of the test", wg.Wait)
	final, total := nodes[1].Top("quick@"+period, 5)
	for i, turn := range turns {
		require.True(t, turn.last.Final, "socket %d", i)
		require.Equal(t, period, *turn.last.Period)
		require.Equal(t, total, turn.last.Total)
		require.Equal(t, final, turn.last.Top)
		require.Equal(t, "snapshot", turn.first.Type, "socket %d", i)
		var was, is int
		fmt.Sscan(*turn.last.Period, &was)
		fmt.Sscan(*turn.first.Period, &is)
		require.Equal(t, was+1, is)
		require.Zero(t, turn.first.Total)
		require.False(t, turn.first.Final)
	}
}

// A period of which nothing is kept is shown as it ended all the same.
func TestRolloverOfPeriodWithoutRetention(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, url string) {
		unkept := quick
		unkept.Period, unkept.Keep = "1s", new(0)
		n := servertest.Start(t, url, servertest.Config{}, unkept)
		s := servertest.Dial(t, n.Addr)
		s.Send(`{"type":"subscribe","id":1,"board":"quick","top":5}`)
		s.Next("snapshot")
		outcomes, err := n.Store.Apply(t.Context(), "quick", []definition.Update{{Member: "a", Score: 3}, {Member: "b", Score: 4}})
		require.NoError(t, err)
		period := outcomes[0].Result.Period
		var last hubtest.Message
		for !last.Final || *last.Period != period {
			last = s.Next("snapshot")
		}
		require.EqualValues(t, 2, last.Total)
		require.Equal(t, []hubtest.Entry{{Rank: 1, Member: "b", Score: 4}, {Rank: 2, Member: "a", Score: 3}}, last.Top)
		first := s.Next("snapshot")
		require.False(t, first.Final)
		require.Zero(t, first.Total)
	})
}

// swift is a node that tells all at once, and looks all the time whether there is more.
var swift = servertest.Config{Hub: hub.Config{Interval: time.Millisecond, MeInterval: 2 * time.Millisecond,
	CheckInterval: 20 * time.Millisecond}}

// startWindow starts a node with the board "b", whose window is four minutes. Its clock stands at now until set sets it.
func startWindow(t *testing.T, refresh time.Duration) (n *servertest.Node, now time.Time, set func(time.Time)) {
	url, set := redistest.Clocked(t)
	now = time.Now().Truncate(time.Millisecond)
	set(now)
	return servertest.Start(t, url, swift, definition.Board{Name: "b", Window: 4 * time.Minute, Refresh: refresh}), now, set
}

// ago sends a score that was so long ago by a clock that stands still.
func ago(t testing.TB, n *servertest.Node, board, member string, score int64, at time.Time) {
	t.Helper()
	outcomes, err := n.Store.Apply(t.Context(), board, []definition.Update{{Member: member, Score: score, At: at}})
	require.NoError(t, err)
	require.NoError(t, outcomes[0].Err)
}

// untilShows reads until a board has just these entries, "a10 b5".
func untilShows(s *servertest.Socket, board, want string) {
	s.Until(board, want, func(b *hubtest.Board) bool { return rowsOf(b) == want && b.Total == int64(len(b.Top)) })
}

func rowsOf(b *hubtest.Board) (rows string) {
	for i, e := range b.Top {
		if i > 0 {
			rows += " "
		}
		rows += fmt.Sprint(e.Member, e.Score)
	}
	return rows
}

// nowhere waits until a socket was told that whom it follows is not on the board.
func nowhere(s *servertest.Socket, board string) {
	s.Until(board, "nowhere", func(b *hubtest.Board) bool { return b.Me != nil && b.Me.Rank == nil && b.Me.Score == nil })
}

// Points fall out of a live window one by one, at their times, while nobody sends or
// reads anything: who watches sees the board change, and who is followed is told of its
// own points and of its place when those of others go, until it is not on the board.
func TestWatchersOfLiveWindow(t *testing.T) {
	t.Parallel()
	n, now, set := startWindow(t, definition.Live)
	ago(t, n, "b", "a", 10, now.Add(-3*time.Minute))
	ago(t, n, "b", "b", 5, now.Add(-2*time.Minute))
	ago(t, n, "b", "c", 3, now.Add(-time.Minute))
	ago(t, n, "b", "a", 1, now)
	all := servertest.Dial(t, n.Addr)
	all.Subscribe("b", 10)
	untilShows(all, "b", "a11 b5 c3")
	a, b, c := servertest.Dial(t, n.Addr), servertest.Dial(t, n.Addr), servertest.Dial(t, n.Addr)
	a.Send(`{"type":"subscribe","id":1,"board":"b","top":1,"me":"a"}`)
	b.Send(`{"type":"subscribe","id":1,"board":"b","top":10,"me":"b"}`)
	c.Send(`{"type":"subscribe","id":1,"board":"b","top":0,"me":"c","around":1}`)
	meIs(a, "b", 1, 11)
	meIs(b, "b", 2, 5)
	meIs(c, "b", 3, 3)

	set(now.Add(time.Minute - time.Millisecond))
	top, _ := n.Top("b", 1)
	require.EqualValues(t, 11, top[0].Score, "all counts until its time is over")
	set(now.Add(time.Minute))
	untilShows(all, "b", "b5 c3 a1")
	meIs(a, "b", 3, 1) // its own points
	meIs(b, "b", 1, 5) // those of another
	meIs(c, "b", 2, 3)
	c.Until("b", "its neighbours", func(b *hubtest.Board) bool { return rowsOf(&hubtest.Board{Top: b.Me.Around}) == "b5 c3 a1" })
	a.Until("b", "the first", func(b *hubtest.Board) bool { return rowsOf(b) == "b5" })

	set(now.Add(2 * time.Minute))
	untilShows(all, "b", "c3 a1")
	meIs(a, "b", 2, 1)
	nowhere(b, "b")
	meIs(c, "b", 1, 3)

	// On the board again, for as long as the others.
	ago(t, n, "b", "b", 2, now.Add(-time.Minute))
	untilShows(all, "b", "c3 b2 a1")
	meIs(b, "b", 2, 2)
	set(now.Add(3 * time.Minute))
	untilShows(all, "b", "a1")
	meIs(a, "b", 1, 1)
	nowhere(b, "b")
	nowhere(c, "b")

	set(now.Add(4 * time.Minute))
	untilShows(all, "b", "")
	nowhere(a, "b")
	a.Until("b", "nobody", func(b *hubtest.Board) bool { return b.Total == 0 && len(b.Top) == 0 })
}

// Many points that are over at once go in pieces, and a window of which nothing is left
// begins anew: those who watch end right, as do those who are followed.
func TestWatchersOfLiveWindowWithManyExpiries(t *testing.T) {
	t.Parallel()
	n, now, set := startWindow(t, definition.Live)
	many := func(at time.Time) {
		updates := make([]definition.Update, 500)
		for i := range updates {
			updates[i] = definition.Update{Member: fmt.Sprint("m", i), Score: int64(i + 1), At: at}
		}
		outcomes, err := n.Store.Apply(t.Context(), "b", updates)
		require.NoError(t, err)
		for _, o := range outcomes {
			require.NoError(t, o.Err)
		}
	}
	many(now.Add(-time.Minute))
	ago(t, n, "b", "last", 7, now)
	ago(t, n, "b", "m9", 5, now)
	all, me := servertest.Dial(t, n.Addr), servertest.Dial(t, n.Addr)
	all.Subscribe("b", 600)
	me.Send(`{"type":"subscribe","id":1,"board":"b","top":1,"me":"m9"}`)
	meIs(me, "b", 487, 15)
	set(now.Add(3 * time.Minute))
	untilShows(all, "b", "last7 m95")
	meIs(me, "b", 2, 5)

	many(now.Add(3 * time.Minute))
	all.Until("b", "all", func(b *hubtest.Board) bool { return b.Total == 501 && len(b.Top) == 501 })
	meIs(me, "b", 486, 15)
	was := all.Boards["b"].Epoch
	set(now.Add(8 * time.Minute))
	untilShows(all, "b", "")
	nowhere(me, "b")
	require.NotEqual(t, was, all.Boards["b"].Epoch)
	ago(t, n, "b", "m9", 3, now.Add(8*time.Minute))
	untilShows(all, "b", "m93")
	meIs(me, "b", 1, 3)
}

// The result of a window is built anew for those who watch, while nobody reads it, before
// it is older than its refresh; they are told of it as a whole when it is swapped in.
func TestWatchersOfCachedWindow(t *testing.T) {
	t.Parallel()
	n, now, set := startWindow(t, 0)
	ago(t, n, "b", "a", 10, now.Add(-3*time.Minute))
	ago(t, n, "b", "b", 5, now)
	all, a, b := servertest.Dial(t, n.Addr), servertest.Dial(t, n.Addr), servertest.Dial(t, n.Addr)
	all.Subscribe("b", 10)
	untilShows(all, "b", "a10 b5")
	a.Send(`{"type":"subscribe","id":1,"board":"b","top":1,"me":"a"}`)
	b.Send(`{"type":"subscribe","id":1,"board":"b","top":1,"me":"b","around":1}`)
	meIs(a, "b", 1, 10)
	meIs(b, "b", 2, 5)
	ago(t, n, "b", "c", 7, now)
	was := all.Boards["b"].Epoch

	set(now.Add(55 * time.Second))
	require.Equal(t, "snapshot", all.Next("snapshot", "delta").Type)
	require.Equal(t, "a10 c7 b5", rowsOf(all.Boards["b"]))
	require.NotEqual(t, was, all.Boards["b"].Epoch, "nobody goes on from what it was")
	meIs(a, "b", 1, 10)
	meIs(b, "b", 3, 5)

	// What is over goes with the next.
	set(now.Add(110 * time.Second))
	untilShows(all, "b", "c7 b5")
	nowhere(a, "b")
	meIs(b, "b", 2, 5)
	set(now.Add(5 * time.Minute))
	untilShows(all, "b", "")
	nowhere(b, "b")
}

// Windows run by the clock of whatever engine there is: what was sent shows, and goes.
func TestWindowsExpire(t *testing.T) {
	servertest.With(swift,
		definition.Board{Name: "live", Window: 4 * time.Second, Refresh: definition.Live},
		definition.Board{Name: "built", Window: 4 * time.Second, Refresh: time.Second}).OnEngines(t, func(t *testing.T, n *servertest.Node) {
		sockets := make(map[string]*servertest.Socket)
		for _, board := range []string{"live", "built"} {
			s := servertest.Dial(t, n.Addr)
			s.Send(`{"type":"subscribe","id":1,"board":%q,"top":10,"me":"a"}`, board)
			nowhere(s, board)
			update(t, n, board, "a", 7)
			update(t, n, board, "b", 5)
			sockets[board] = s
		}
		for board, s := range sockets {
			meIs(s, board, 1, 7)
			nowhere(s, board)
			untilShows(s, board, "")
		}
	})
}
