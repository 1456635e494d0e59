package hub

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/hub/hubtest"
	"rankcast/ranking/definition"
)

// watchers are clients that subscribe, stall and resubscribe at random.
type watchers struct {
	t       *testing.T
	h       *Hub
	list    []*watcher
	draw    func() Watch // what a client watches
	outages int          // the feed goes down with a chance of one in so many, where churn may take it down
}

// watcher is a client with one subscription.
type watcher struct {
	*Client
	conn  *fakeConn
	sub   *Subscription
	watch Watch
}

func (w *watchers) add() {
	one := &watcher{conn: &fakeConn{}, watch: w.draw()}
	one.Client = w.h.Join(one.conn, nil)
	w.subscribe(one)
	w.list = append(w.list, one)
}

func (w *watchers) subscribe(one *watcher) {
	var err error
	one.sub, err = w.h.Subscribe(one.Client, theBoard, one.watch, one.sub, func() {})
	require.NoError(w.t, err)
}

// churn lets one random event happen to one client, or none, and a little time pass.
func (w *watchers) churn() {
	one := w.list[rand.IntN(len(w.list))]
	switch rand.IntN(12) {
	case 0:
		one.conn.setFull(true)
	case 1:
		one.conn.setFull(false)
		one.Ready()
	case 2:
		one.watch = w.draw()
		w.subscribe(one)
	case 3:
		if rand.IntN(w.outages) > 0 {
			break
		}
		if rand.IntN(2) == 0 {
			w.h.FeedDown(time.Now())
			w.h.FeedUp()
		} else {
			w.h.FeedUnsubscribed("b", time.Now())
		}
		w.h.FeedSubscribed("b")
	case 4:
		w.add()
	}
	pass(time.Duration(rand.IntN(60)) * time.Millisecond)
}

// settle lets all clients catch up.
func (w *watchers) settle(d time.Duration) {
	for _, one := range w.list {
		one.conn.setFull(false)
		one.Ready()
	}
	pass(d)
	for _, one := range w.list {
		one.conn.take(w.t)
	}
}

// Many clients with different N stall at random, and messages are lost at random. After a
// pause each client holds the board.
func TestEveryClientEndsRight(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		w := &watchers{t: t, h: h, outages: 1, draw: func() Watch { return Watch{Top: rand.IntN(30)} }}
		for range 20 {
			w.add()
		}
		h.FeedSubscribed("b")
		for round := range rounds(10) {
			for range 100 {
				c := f.randomChange(fmt.Sprint("m", rand.IntN(60)), 1000)
				if rand.IntN(40) > 0 {
					h.FeedChanges(c)
				}
				w.churn()
			}
			w.settle(5 * time.Second)
			for i, c := range w.list {
				top := c.watch.Top
				require.Equal(t, f.top(top), append([]hubtest.Entry{}, c.conn.board.Top...), "round %d, client %d, top %d", round, i, top)
			}
		}
	})
}

// Many clients follow members at random, stall and resubscribe; answers are late, messages
// are lost, and the board regresses. After a pause each client has the place of its member.
func TestEveryFollowerEndsRight(t *testing.T) {
	t.Parallel()
	for ties, scores := range map[definition.Ties]int64{definition.First: 3000, definition.Shared: 100, definition.Dense: 100} {
		t.Run(string(ties), func(t *testing.T) { everyFollowerEndsRight(t, ties, scores) })
	}
}

func everyFollowerEndsRight(t *testing.T, ties definition.Ties, scores int64) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.ties = ties
		f.fill(300)
		member := func() string { return fmt.Sprintf("m%03d", rand.IntN(350)) }
		w := &watchers{t: t, h: h, outages: 4, draw: func() Watch {
			return Watch{Top: rand.IntN(10), Me: member(), Around: max(0, rand.IntN(6)-3)}
		}}
		for range 40 {
			w.add()
		}
		slow := func() { time.Sleep(time.Duration(rand.IntN(20)) * time.Millisecond) } // simulated time
		f.beforeRead.set(slow)
		f.onPage.set(slow)
		f.onPlaces.set(slow)
		h.FeedSubscribed("b")
		for range rounds(6) {
			again := f.saveState()
			for range 100 {
				c := f.randomChange(member(), scores)
				if rand.IntN(60) > 0 {
					h.FeedChanges(c)
				}
				w.churn()
			}
			if rand.IntN(3) == 0 {
				pass(time.Second)
				again()
			}
			w.settle(6 * time.Second)
			for _, c := range w.list {
				require.Equal(t, f.top(c.watch.Top), append([]hubtest.Entry{}, c.conn.board.Top...))
				meHolds(t, f, c.conn, c.watch.Me, c.watch.Around)
			}
		}
	})
}

// However slow a client is, the items that it gets and the items counted as skipped are all
// items since it joined, each once.
func TestEveryItemIsSentOrCounted(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		type viewer struct {
			*Client
			*fakeConn
			from int // items sent before it joined
		}
		var viewers []*viewer
		come := func() {
			v := &viewer{from: f.items}
			v.Client, v.fakeConn, _ = followFeed(t, h, "gift")
			viewers = append(viewers, v)
			synctest.Wait()
		}
		come()
		confirmFeed(h, "gift", 0)
		for range rounds(15) {
			for range 200 {
				h.FeedItems("gift", f.newItems(rand.IntN(4)))
				v := viewers[rand.IntN(len(viewers))]
				switch rand.IntN(12) {
				case 0:
					v.setFull(true)
				case 1:
					v.setFull(false)
					v.Ready()
				case 2:
					come()
				}
				pass(time.Duration(rand.IntN(100)) * time.Millisecond)
			}
			for _, v := range viewers {
				v.setFull(false)
				v.Ready()
			}
			pass(time.Second)
			f.addItems(h, 1, time.Second)
			for _, v := range viewers {
				var shown []string
				skipped := int64(0)
				for _, m := range v.frames {
					for _, item := range m.Items {
						if shown = append(shown, string(item.Data)); item.Data < "1" {
							t.Fatal("no item")
						}
					}
					skipped += m.Skipped
				}
				before := 0 // sent before the client joined, and shown
				for _, item := range shown {
					var n int
					fmt.Sscan(item, &n)
					if n <= v.from {
						before++
					}
				}
				require.EqualValues(t, f.items-v.from, len(shown)-before+int(skipped))
				slices.Sort(shown)
				require.Equal(t, len(shown), len(slices.Compact(shown)))
				v.take(t)
				v.from = f.items
			}
		}
	})
}
