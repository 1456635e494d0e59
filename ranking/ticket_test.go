package ranking_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking"
	"rankcast/ranking/redistest"
)

// Of all nodes together, one call gets a ticket.
func TestTicketWorksOnce(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		nodes := []*ranking.Store{open(t, url), open(t, url)}
		require.ErrorIs(t, errorOf(nodes[0].TakeTicket(t.Context(), "a")), ranking.ErrUnknownTicket)
		must(nodes[0].SaveTicket(t.Context(), "a", []byte(`{"who":1}`), time.Minute))(t)

		var took atomic.Int64
		var callers sync.WaitGroup
		for i := range 50 {
			callers.Go(func() {
				about, err := nodes[i%2].TakeTicket(t.Context(), "a")
				switch {
				case err == nil && string(about) == `{"who":1}`:
					took.Add(1)
				case !errors.Is(err, ranking.ErrUnknownTicket):
					t.Error(err)
				}
			})
		}
		redistest.Wait(t, "the callers of the test", callers.Wait)
		require.EqualValues(t, 1, took.Load())
		require.Empty(t, allKeys(t, url))
	})
}

// A ticket expires by the clock of Redis, also where Redis has not deleted it yet.
func TestTicketExpires(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		synctest.Test(t, func(t *testing.T) {
			s := open(t, url)
			for _, c := range []struct {
				age  time.Duration // of the node's estimate of that clock alone
				want error
			}{{29 * time.Second, nil}, {30 * time.Second, ranking.ErrUnknownTicket}} {
				must(s.SaveTicket(t.Context(), "a", []byte("x"), 30*time.Second))(t)
				time.Sleep(c.age)
				require.ErrorIs(t, errorOf(s.TakeTicket(t.Context(), "a")), c.want)
				require.Empty(t, allKeys(t, url))
			}
		})
	})
}

// The store deletes a ticket that no client uses.
func TestUnusedTicketIsForgotten(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		s := open(t, url)
		must(s.SaveTicket(t.Context(), "a", []byte("x"), time.Millisecond))(t)
		redistest.UntilEqual(t, "the ticket to be gone", "[]", func() string { return fmt.Sprint(allKeys(t, url)) })
	})
}
