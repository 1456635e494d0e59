package access

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
)

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
