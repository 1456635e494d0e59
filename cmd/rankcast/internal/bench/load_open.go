package bench

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// runOpen sends the requests of a schedule, each by a caller that is free when it is due. The callers are the most
// requests under way: when none is free a request goes late, and the latency of its updates grows. late gets how late.
func runOpen(ctx context.Context, calls []call, sch schedule, late *sharedTally) *tally {
	var next atomic.Int64
	var callers sync.WaitGroup
	tallies := make([]*tally, len(calls))
	for i, do := range calls {
		t := newTally()
		tallies[i] = t
		callers.Go(func() {
			for ctx.Err() == nil {
				request := int(next.Add(1)) - 1
				if request >= sch.requests {
					return
				}
				due := sch.dueRequest(request)
				if d := time.Until(due); d > 0 {
					wait(ctx, d)
				}
				sent := time.Now()
				late.record(i, sent.Sub(due))
				o, err := do(request)
				t.count(o, err, time.Since(sent))
			}
		})
	}
	callers.Wait()
	total := newTally()
	for _, t := range tallies {
		total.add(t)
	}
	return total
}
