package access

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
)

// A client that writes much delays another client only by the requests under way.
func TestWritesTakeTurns(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		l := New(Config{Requests: 4})
		var mu sync.Mutex
		var order []string
		var writers sync.WaitGroup
		write := func(a Address, bytes int) {
			writers.Go(func() {
				release, _, err := l.AcquireWrite(t.Context(), a, bytes)
				require.NoError(t, err)
				mu.Lock()
				order = append(order, fmt.Sprint(a, " ", bytes/turnUnit))
				mu.Unlock()
				time.Sleep(time.Millisecond)
				release()
			})
			synctest.Wait()
		}
		many, few := client(1), client(2)
		for range 3 {
			write(many, 100*turnUnit) // counts as two, half of all
		}
		write(few, 0)
		require.Equal(t, []string{"198.0.0.1 100", "198.0.0.2 0"}, order, "there is room for another address at once")
		for range 3 {
			write(few, turnUnit)
		}
		write(local, 3*turnUnit)
		redistest.Wait(t, "the end of writers", writers.Wait)
		require.Len(t, order, 8)
		require.Zero(t, l.writes.Keys())
	})
}

// A write that has waited for two seconds is refused, and one whose caller has gone leaves its place.
func TestWriteWaitsForALimitedTime(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		l := New(Config{Requests: 2})
		release, waited, err := l.AcquireWrite(t.Context(), client(1), 0)
		require.NoError(t, err)
		require.Zero(t, waited)
		gone, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var first sync.WaitGroup
		first.Go(func() {
			_, _, err := l.AcquireWrite(gone, client(1), 0)
			require.ErrorIs(t, err, ErrOverloaded)
		})
		synctest.Wait()
		_, _, err = l.AcquireWrite(t.Context(), client(1), 0)
		requireRefused(t, err, Requests, ErrOverloaded, turnRetry)
		redistest.Wait(t, "the end of first", first.Wait)
		require.Equal(t, map[string]uint64{"requests": 1}, counted(l))
		time.AfterFunc(time.Second, release)
		release, waited, err = l.AcquireWrite(t.Context(), client(1), 0)
		require.NoError(t, err)
		require.Equal(t, time.Second, waited)
		release()
		require.Zero(t, l.writes.Keys())
	})
}
