package hub

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
)

// one is a caller of tasks.
var one = []any{1}

// withBusyPool runs a test with a pool whose only goroutine has a task. finish ends that task, and waits until
// the pool has run all others.
func withBusyPool(t *testing.T, test func(t *testing.T, p *pool, finish func())) {
	redistest.InBubble(t, func(t *testing.T) {
		var running sync.WaitGroup
		p := &pool{limit: 1, running: &running}
		hold := make(chan struct{})
		p.push(normal, one, func() { <-hold })
		synctest.Wait()
		test(t, p, func() {
			close(hold)
			running.Wait()
		})
	})
}

// Urgent tasks come first, but a normal one comes after eight of them at the latest.
func TestPoolOrdersTasks(t *testing.T) {
	withBusyPool(t, func(t *testing.T, p *pool, finish func()) {
		var order []urgency
		for range 3 {
			p.push(normal, one, func() { order = append(order, normal) })
		}
		for range 10 {
			p.push(urgent, one, func() { order = append(order, urgent) })
		}
		finish()
		u, n := urgent, normal
		require.Equal(t, []urgency{u, u, u, u, u, u, u, u, n, u, u, n, n}, order)
	})
}

// A pool has as many goroutines as it may while there is work, and none without.
func TestPoolHasGoroutinesOnlyForWork(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
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
				p.push(normal, one, task)
			}
			synctest.Wait()
			require.EqualValues(t, 1, under.Load(), "the others are for urgent tasks")
			for range 100 {
				p.push(urgent, one, task)
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
		p.push(urgent, one, func() { t.Error("a closed pool runs nothing") })
		running.Wait()
	})
}

// A caller's tasks come after one task of each other caller at most, however many those have. A task for which
// several wait comes with the first of their turns, and once.
func TestPoolServesCallersInTurn(t *testing.T) {
	withBusyPool(t, func(t *testing.T, p *pool, finish func()) {
		var order []string
		push := func(name string, callers ...any) {
			p.push(normal, callers, func() { order = append(order, name) })
		}
		for range 3 {
			push("many", 1)
		}
		push("of both", 1, 2)
		push("few", 3)
		finish()
		require.Equal(t, []string{"many", "of both", "few", "many", "many"}, order)
		require.Zero(t, p.waiting)
	})
}

// Tasks that callers share, and that come again as soon as they are done, do not delay a task of one of them.
func TestPoolServesACallerWhoSharesTasks(t *testing.T) {
	withBusyPool(t, func(t *testing.T, p *pool, finish func()) {
		const shared, rounds = 90, 100
		ran, pushed, at := 0, 0, 0
		for i := range shared {
			callers := []any{"p", i % 3}
			var again func()
			again = func() {
				if ran++; ran == shared*rounds/2 {
					pushed = ran
					p.push(urgent, []any{"p"}, func() { at = ran })
				}
				if ran < shared*rounds {
					p.push(urgent, callers, again)
				}
			}
			p.push(urgent, callers, again)
		}
		finish()
		require.Greater(t, at, pushed)
		require.LessOrEqual(t, at, pushed+4*shared)
	})
}
