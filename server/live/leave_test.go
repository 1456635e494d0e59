package live_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

// What nobody follows costs nothing, and the last who leaves frees the view, the
// subscription and every goroutine.
// It is not parallel: it counts the goroutines of the process.
func TestLastSubscriberFreesView(t *testing.T) {
	r := redistest.Start(t)
	n := servertest.Start(t, r.URL(), servertest.Config{}, definition.Board{Name: "b"})
	descending(t, n, "b", 2000)
	heard := func(want int64) {
		t.Helper()
		redistest.Eventually(t, "the subscriptions in Redis to be as they should", func() error {
			subscribers, err := r.Admin().PubSubNumSub(t.Context(), "rc:{b}:c").Result()
			if got := subscribers["rc:{b}:c"]; err != nil || got != want {
				return fmt.Errorf("%d subscribers of %d (%v)", got, want, err)
			}
			return nil
		})
	}
	heard(0)
	before := runtime.NumGoroutine()
	for range 3 {
		var sockets []*servertest.Socket
		for i := range 40 {
			s := servertest.Dial(t, n.Addr)
			s.Send(`{"type":"subscribe","id":1,"board":"b","me":"m%d","around":%d}`, 50*i, i%3)
			meIs(s, "b", int64(50*i+1), int64(10*(2000-50*i)))
			sockets = append(sockets, s)
		}
		require.Equal(t, 1, n.Hub.Watched())
		require.Equal(t, 40, n.Hub.Followed())
		heard(1)
		for i, s := range sockets {
			if i%2 == 0 {
				s.Send(`{"type":"subscribe","id":2,"board":"b","top":5}`) // follows nobody from now on
				s.Next("snapshot")
			}
		}
		redistest.Eventually(t, "half of them to follow nobody", func() error {
			if followed := n.Hub.Followed(); followed != 20 {
				return fmt.Errorf("%d followed", followed)
			}
			return nil
		})
		for i, s := range sockets {
			if i%4 < 2 {
				s.Send(`{"type":"unsubscribe","id":3,"board":"b"}`)
				s.Next("ok")
			}
			s.WS.CloseNow()
		}
		redistest.Eventually(t, "all to be freed", func() error {
			if w, f := n.Hub.Watched(), n.Hub.Followed(); w > 0 || f > 0 {
				return fmt.Errorf("%d boards and %d members watched", w, f)
			}
			return nil
		})
		heard(0)
	}
	redistest.Eventually(t, "all goroutines to end", func() error {
		if now := runtime.NumGoroutine(); now > before {
			return fmt.Errorf("%d before, %d after", before, now)
		}
		return nil
	})
}
