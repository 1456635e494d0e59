package bench

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"rankcast/ranking/fair"
)

// outcome is the answer to one request.
type outcome struct {
	done    int64  // units that the server has done
	refused int64  // units that it has not done
	why     string // code of the refusal
}

// call sends request n of a caller, or of an open loop, and waits for its answer. An error means that no answer came.
type call func(n int) (outcome, error)

const (
	// warmUp is the longest time of a closed loop before the measurement; a fifth of the duration if that is less.
	warmUp = time.Second
	// pause is the time between two attempts of a caller that gets no answer.
	pause = 20 * time.Millisecond
)

// runClosed has each caller send its requests one after the other, for a duration after a warm-up. mark is called at
// the beginning and at the end of the duration. The tally has the requests that were sent and answered in between. On a
// busy machine no request may fit into a short duration: the measurement then lasts until the first answer, which counts.
func runClosed(ctx context.Context, calls []call, duration time.Duration, mark func()) *tally {
	from := time.Now().Add(min(warmUp, duration/5))
	to := from.Add(duration)
	all := newTally()
	first, counted := context.WithCancel(ctx) // ends with the first request that counts
	defer counted()
	var callers sync.WaitGroup
	for _, do := range calls {
		callers.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				sent := time.Now()
				o, err := do(n)
				answered := time.Now()
				if answered.After(to) && first.Err() != nil {
					return
				}
				if !sent.Before(from) {
					all.count(o, err, answered.Sub(sent))
					counted()
				}
				if err != nil {
					fair.Pause(ctx, pause)
				}
			}
		})
	}
	fair.Pause(ctx, time.Until(from))
	mark()
	fair.Pause(ctx, time.Until(to))
	<-first.Done()
	mark()
	callers.Wait()
	return all
}

// runOpen sends the requests of a schedule, each by a caller that is free when it is due. The callers are the most
// requests under way: when none is free a request goes late, and the latency of its updates grows. late gets how late.
func runOpen(ctx context.Context, calls []call, sch schedule, late *tally) *tally {
	all := newTally()
	var next atomic.Int64
	var callers sync.WaitGroup
	for _, do := range calls {
		callers.Go(func() {
			for ctx.Err() == nil {
				request := int(next.Add(1)) - 1
				if request >= sch.requests {
					return
				}
				due := sch.dueRequest(request)
				fair.Pause(ctx, time.Until(due))
				sent := time.Now()
				late.count(outcome{}, nil, sent.Sub(due))
				o, err := do(request)
				all.count(o, err, time.Since(sent))
			}
		})
	}
	callers.Wait()
	return all
}

const (
	// maxLatency bounds what a histogram holds, in microseconds.
	maxLatency = int64(time.Minute / time.Microsecond)
	// precision is the number of significant digits of a latency.
	precision = 3
)

// tally counts what callers and sockets got. Its methods may be called concurrently. Its fields may be read once nobody calls
// them any more.
type tally struct {
	mu        sync.Mutex
	done      int64
	errors    map[string]int64
	latencies *hdrhistogram.Histogram // in microseconds, of requests that were done whole
}

func newTally() *tally {
	return &tally{errors: make(map[string]int64), latencies: hdrhistogram.New(1, maxLatency, precision)}
}

// noAnswer is the code of a request without an answer.
const noAnswer = "no answer"

// count adds the outcome of a request.
func (t *tally) count(o outcome, err error, took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.done += o.done
	switch {
	case err != nil:
		t.errors[noAnswer]++
	case o.refused > 0:
		t.errors[o.why] += o.refused
	default:
		t.latencies.RecordValue(min(max(took.Microseconds(), 1), maxLatency))
	}
}

// countShown adds latencies that end at one moment and begin with the scheduled times of updates.
func (t *tally) countShown(updates []int, sch schedule, at time.Time) {
	for _, update := range updates {
		t.count(outcome{}, nil, at.Sub(sch.due(update)))
	}
}

// fail counts an error.
func (t *tally) fail(why string) { t.count(outcome{refused: 1, why: why}, nil, 0) }
