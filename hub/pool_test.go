package hub

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// Urgent tasks come first, but a normal one comes after eight of them at the latest.
func TestPoolOrdersTasks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var running sync.WaitGroup
		p := pool{limit: 1, running: &running}
		hold := make(chan struct{})
		p.push(normal, func() { <-hold })
		synctest.Wait()
		var order []urgency
		for range 3 {
			p.push(normal, func() { order = append(order, normal) })
		}
		for range 10 {
			p.push(urgent, func() { order = append(order, urgent) })
		}
		close(hold)
		running.Wait()
		u, n := urgent, normal
		require.Equal(t, []urgency{u, u, u, u, u, u, u, u, n, u, u, n, n}, order)
	})
}

// A pool has as many goroutines as it may while there is work, and none without.
func TestPoolHasGoroutinesOnlyForWork(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var running sync.WaitGroup
		p := pool{limit: 4, running: &running}
		for range 2 {
			hold := make(chan struct{})
			var under, done atomic.Int64
			task := func() {
				under.Add(1)
				<-hold
				under.Add(-1)
				done.Add(1)
			}
			for range 100 {
				p.push(normal, task)
			}
			synctest.Wait()
			require.EqualValues(t, 1, under.Load(), "the others are for urgent tasks")
			for range 100 {
				p.push(urgent, task)
			}
			synctest.Wait()
			require.EqualValues(t, 4, under.Load())
			close(hold)
			running.Wait()
			require.EqualValues(t, 200, done.Load())
			require.Zero(t, p.workers)
			require.Zero(t, p.normals)
		}
		p.close()
		p.push(urgent, func() { t.Error("a closed pool runs nothing") })
		running.Wait()
	})
}
