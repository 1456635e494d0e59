package access

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
)

// Batches that take tokens in advance give a caller no more than its rate, however long they take to pay back,
// and whatever others send in the meantime.
func TestBatchesKeepToTheRate(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		const batch, seconds = 1000, 5000
		table := newBuckets[string](tokenRate{1, rateSaved})
		taken := 0
		for second := range seconds {
			if second%40 == 0 { // a bucket that no request touches is a candidate for removal
				if _, wait := table.rate.take(table.bucket("cheat"), "viewer", batch, 0); wait == 0 {
					taken += batch
				}
			}
			table.rate.take(table.bucket(strconv.Itoa(second%100)), "viewer", 1, 0)
			time.Sleep(time.Second)
		}
		require.LessOrEqual(t, taken, seconds+batch)
		require.Greater(t, taken, seconds-batch)
	})
}

// A caller that owes tokens and stays away still owes them when it comes back, also when many others have come
// in the meantime. Once all are paid, the table forgets it.
func TestDebtOfACallerThatStaysAway(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		table := newBuckets[string](tokenRate{1, rateSaved})
		table.most = 100
		_, wait := table.rate.take(table.bucket("cheat"), "viewer", 1000, 0)
		require.Zero(t, wait)
		for i := range 900 {
			time.Sleep(time.Second)
			for one := range 10 {
				table.rate.take(table.bucket(strconv.Itoa(10*i+one)), "viewer", 1, 0)
			}
		}
		_, wait = table.rate.take(table.bucket("cheat"), "viewer", 1000, 0)
		require.Equal(t, 100*time.Second, wait)
		for range 10 {
			time.Sleep(time.Minute)
			table.bucket("other")
		}
		require.NotContains(t, table.newer, "cheat")
		require.NotContains(t, table.older, "cheat")
	})
}

// Callers that owe tokens do not make the table grow beyond its bound.
func TestDebtsAreBounded(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		table := newBuckets[int](tokenRate{1, rateSaved})
		table.most = 100
		for i := range 1000 {
			table.rate.take(table.bucket(i), "viewer", 1000, 0)
			require.LessOrEqual(t, len(table.newer)+len(table.older), 300)
			if i%250 == 0 {
				time.Sleep(time.Minute)
			}
		}
	})
}

// However many goroutines take tokens, a bucket gives no more than its rate. Its clock must not go back when a
// goroutine waits between two steps.
func TestBucketGivesNoMoreThanItsRate(t *testing.T) {
	t.Parallel()
	const perSecond = 1_000_000
	for name, take := range map[string]func(*bucket) bool{
		"take":    func(b *bucket) bool { return b.take() == 0 },
		"reserve": func(b *bucket) bool { wait, _ := b.reserve(1); return wait == 0 },
	} {
		began := time.Now()
		b := tokenRate{perSecond, time.Millisecond}.bucket()
		var taken atomic.Int64
		var takers sync.WaitGroup
		for range 64 {
			takers.Go(func() {
				for range 10_000 {
					if take(b) {
						taken.Add(1)
					}
					runtime.Gosched()
				}
			})
		}
		redistest.Wait(t, "the end of takers", takers.Wait)
		most := time.Since(began).Seconds()*perSecond + perSecond/1000
		require.LessOrEqual(t, float64(taken.Load()), most, name)
	}
}

// A client that writes much delays another client only by the requests under way.
func TestWritesTakeTurns(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
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
	redistest.InBubble(t, func(t *testing.T) {
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
