package hub

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/hub/hubtest"
	"rankcast/ranking"
	"rankcast/ranking/feed"
)

var errAway = errors.New("away")

// A rollover during an outage of Redis or of the feed shows after the outage: first the end
// of the shown period, then the current period, however many rollovers there were. Clients
// are stale until then.
func TestRolloverDuringAnOutage(t *testing.T) {
	t.Parallel()
	for name, outage := range map[string]func(h *Hub, f *fakeBoard) (over func()){
		"of Redis": func(_ *Hub, f *fakeBoard) func() {
			f.setReadErr(errAway)
			return func() { f.setReadErr(nil) }
		},
		"of the feed": func(h *Hub, _ *fakeBoard) func() {
			h.FeedDown(time.Now())
			return func() { h.FeedUp(); h.FeedSubscribed("b") }
		},
		"of one master": func(h *Hub, f *fakeBoard) func() {
			h.FeedUnsubscribed("b", time.Now())
			f.setReadErr(errAway)
			return func() { f.setReadErr(nil); h.FeedSubscribed("b") }
		},
		"of both": func(h *Hub, f *fakeBoard) func() {
			h.FeedDown(time.Now())
			f.setReadErr(errAway)
			return func() { h.FeedUp(); h.FeedSubscribed("b"); pass(time.Second); f.setReadErr(nil) }
		},
	} {
		for turns := range 4 {
			t.Run(fmt.Sprint(name, " over ", turns), func(t *testing.T) {
				withPeriods(t, func(t *testing.T, h *Hub, f *fakeBoard) {
					f.fill(200)
					_, conn := watch(t, h, "b", Watch{Top: 10, Me: "m100"})
					_, before := watch(t, h, "b@-1", Watch{Top: 10})
					confirm(h, 2*time.Second)
					conn.take(t)
					over := outage(h, f)
					f.set("m150", 5000) // the message is lost
					pass(2*time.Second + time.Duration(turns)*every)
					if turns > 0 {
						f.set("m100", 10)
						f.set("m101", 20)
					}
					require.Equal(t, []string{"status true"}, conn.take(t))
					over()
					pass(4500 * time.Millisecond)
					types := conn.take(t)
					require.Equal(t, "status false", types[len(types)-1], "%v", types)
					require.False(t, isStale(h))
					shows(t, conn, fmt.Sprint(turns), false, f.top(10))
					meHolds(t, f, conn, "m100", 0)
					if turns > 0 {
						shows(t, before, fmt.Sprint(turns-1), true, f.topOf("b@-1", 10))
						require.Equal(t, "0", conn.ends[0].Period)
					}
					for _, end := range conn.ends {
						require.Equal(t, f.topOf("b@"+end.Period, 10), append([]hubtest.Entry{}, end.Top...))
					}
				})
			})
		}
	}
}

// Slow pages and lookups are under way at one rollover or over several.
func TestRolloverWhileReading(t *testing.T) {
	t.Parallel()
	for _, long := range []time.Duration{time.Millisecond, 100 * time.Millisecond, 900 * time.Millisecond, 2500 * time.Millisecond,
		5 * time.Second} {
		for name, hooked := range map[string]func(f *fakeBoard) []*hook{
			"before": func(f *fakeBoard) []*hook { return []*hook{&f.beforeRead} },
			"after":  func(f *fakeBoard) []*hook { return []*hook{&f.onPage, &f.onPlaces} },
			"states": func(f *fakeBoard) []*hook { return []*hook{&f.onStates} },
		} {
			t.Run(fmt.Sprint(name, " ", long), func(t *testing.T) {
				withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
					f.periods(2 * time.Second)
					for _, hook := range hooked(f) {
						hook.set(func() { time.Sleep(long) })
					}
					_, conn := watch(t, h, "b", Watch{Top: 10, Me: "m100", Around: 1})
					h.FeedSubscribed("b")
					for i := range 300 {
						deliver(h, f.set(fmt.Sprintf("m%03d", i%120), int64(i)), 70*time.Millisecond)
					}
					for _, hook := range hooked(f) {
						hook.clear()
					}
					pass(7 * time.Second)
					pass(time.Until(f.began.Add(f.every*time.Duration(len(f.closed)+1))) + time.Second) // the middle of a period
					shows(t, conn, fmt.Sprint(len(f.closed)), false, f.top(10))
					meHolds(t, f, conn, "m100", 1)
					for _, end := range conn.ends {
						require.Equal(t, f.topOf("b@"+end.Period, 10), append([]hubtest.Entry{}, end.Top...))
					}
					require.Greater(t, len(conn.ends), 2)
					require.NotContains(t, f.logged(), "the view is not at the state of Redis; the node resyncs the board")
				})
			})
		}
	}
}

// The seq check does not report a lost message at a rollover.
func TestSeqCheckIsQuietAtRollover(t *testing.T) {
	t.Parallel()
	for _, slow := range []time.Duration{0, 300 * time.Millisecond, 1300 * time.Millisecond} {
		t.Run(slow.String(), func(t *testing.T) {
			withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
				f.periods(2 * time.Second)
				if slow > 0 {
					f.onStates.set(func() { time.Sleep(slow) })
				}
				_, conn := watch(t, h, "b", Watch{Top: 10})
				watch(t, h, "b@-1", Watch{Top: 10})
				h.FeedSubscribed("b")
				for i := range 2000 {
					deliver(h, f.set("a", int64(i)), 11*time.Millisecond)
				}
				require.Empty(t, f.logged())
				require.Len(t, conn.ends, len(f.closed))
				require.False(t, isStale(h))
			})
		})
	}
}

// A view that was behind in one period is not behind in the next.
func TestSeqCheckIsQuietAcrossPeriods(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.periods(9500 * time.Millisecond)
		_, conn := watch(t, h, "b", Watch{Top: 10})
		h.FeedSubscribed("b")
		for _, late := range []time.Duration{8900 * time.Millisecond, 800 * time.Millisecond} {
			pass(late)
			c := f.set("a", 1)
			pass(200 * time.Millisecond) // the check finds the view behind
			h.FeedChanges(c)
		}
		pass(3 * time.Second)
		require.Empty(t, f.logged())
		require.Equal(t, []string{"snapshot", "delta", "final", "snapshot", "snapshot"}, conn.take(t))
	})
}

// A page that is read for more entries at the end of a period counts as the period's end.
func TestRolloverOfAViewWithTooFewEntries(t *testing.T) {
	withPeriods(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(300)
		c, conn, sub := watchTop(t, h, 10)
		confirm(h, every-time.Second)
		f.pageErr = errAway
		_, err := h.Subscribe(c, theBoard, Watch{Top: 200}, sub, func() { conn.board = hubtest.Board{} })
		require.NoError(t, err)
		_, small := watch(t, h, "b", Watch{Top: 10})
		pass(2 * time.Second)
		conn.take(t)
		require.Empty(t, conn.board.Top)
		f.pageErr = nil
		pass(5 * time.Second)
		endsWere(t, f, small, 10, "0")
		shows(t, conn, "1", false, f.top(200))
		shows(t, small, "1", false, f.top(10))
	})
}

// With periods of two seconds, many clients watch all names, stall and resubscribe;
// messages are lost, reads are slow, and outages happen. Each client gets the right ends,
// each before a later period, and in the end the current state.
func TestEveryClientGetsTheEnds(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.periods(2 * time.Second)
		type viewer struct {
			*watcher
			name string
		}
		var viewers []*viewer
		subscribe := func(v *viewer) {
			v.watch = Watch{Top: rand.IntN(12), Me: fmt.Sprint("m", rand.IntN(60)), Around: max(0, rand.IntN(5)-2)}
			var err error
			named := ranking.Board{Name: v.name, Instance: "b"}
			v.sub, err = h.Subscribe(v.Client, named, v.watch, v.sub, func() {
				v.conn.mu.Lock()
				defer v.conn.mu.Unlock()
				v.conn.board = hubtest.Board{} // the client expects nothing more of the old subscription
				v.conn.ends = nil
			})
			require.NoError(t, err)
		}
		come := func() {
			v := &viewer{watcher: &watcher{conn: &fakeConn{}}, name: []string{"b", "b", "b", "b@-1", fmt.Sprint("b@", f.name)}[rand.IntN(5)]}
			v.Client = h.Join(v.conn, nil)
			subscribe(v)
			viewers = append(viewers, v)
		}
		for range 25 {
			come()
		}
		slow := func() { time.Sleep(time.Duration(rand.IntN(30)) * time.Millisecond) }
		f.beforeRead.set(slow)
		f.onPage.set(slow)
		f.onPlaces.set(slow)
		h.FeedSubscribed("b")
		var late []*feed.Changes
		for range rounds(12) {
			for range 150 {
				c := f.randomChange(fmt.Sprint("m", rand.IntN(60)), 1000)
				switch rand.IntN(60) {
				case 0: // the message is lost
				case 1, 2, 3:
					late = append(late, c) // later changes arrive behind it
				default:
					if late == nil {
						h.FeedChanges(c)
					} else if late = append(late, c); rand.IntN(3) == 0 {
						for _, c := range late {
							h.FeedChanges(c)
						}
						late = nil
					}
				}
				one := viewers[rand.IntN(len(viewers))]
				switch rand.IntN(20) {
				case 0, 1:
					one.conn.setFull(true)
				case 2, 3:
					one.conn.setFull(false)
					one.Ready()
				case 4:
					one.conn.mu.Lock()
					one.conn.room = 1 + rand.IntN(4)
					one.conn.mu.Unlock()
				case 5:
					subscribe(one)
				case 6:
					if rand.IntN(10) == 0 {
						come()
					}
				case 7:
					if rand.IntN(6) == 0 {
						h.FeedDown(time.Now())
						h.FeedUp()
						h.FeedSubscribed("b")
						late = nil
					}
				case 8:
					if rand.IntN(6) == 0 {
						f.setReadErr(errAway)
						pass(time.Duration(rand.IntN(3000)) * time.Millisecond)
						f.setReadErr(nil)
					}
				}
				pass(time.Duration(rand.IntN(40)) * time.Millisecond)
			}
			for _, c := range late {
				h.FeedChanges(c)
			}
			late = nil
			for _, v := range viewers {
				v.conn.mu.Lock()
				v.conn.room = 0
				v.conn.mu.Unlock()
				v.conn.setFull(false)
				v.Ready()
			}
			pass(7 * time.Second)
			f.edit(func() { f.rollOver() })
			pass(time.Until(f.began.Add(f.every*time.Duration(len(f.closed)+1))) + 1900*time.Millisecond)
			for _, v := range viewers {
				v.conn.take(t)
				f.mu.Lock()
				is, p, err := f.find(v.name)
				f.mu.Unlock()
				require.NoError(t, err)
				shows(t, v.conn, is.name, p.Final, is.top(v.watch.Top))
				if me := v.conn.board.Me; is == f.fakePeriod {
					require.NotNil(t, me)
					meHolds(t, f, v.conn, v.watch.Me, v.watch.Around)
				}
				last := -1
				for _, end := range v.conn.ends {
					if end.Period == "" {
						continue // there was no period before the first
					}
					number, err := strconv.Atoi(end.Period)
					require.NoError(t, err)
					require.Greater(t, number, last, "each once, in order")
					last = number
					require.Equal(t, f.topOf("b@"+end.Period, v.watch.Top), append([]hubtest.Entry{}, end.Top...))
				}
			}
			require.False(t, isStale(h))
		}
	})
}
