package bench

import (
	"context"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

const (
	// maxLatency bounds what a histogram holds, in microseconds.
	maxLatency = int64(time.Minute / time.Microsecond)
	// precision is the number of significant digits of a latency.
	precision = 3
	// warmUp is the longest time of a closed loop before the measurement; a fifth of the duration if that is less.
	warmUp = time.Second
	// pause is the time between two attempts of a caller that gets no answer.
	pause = 20 * time.Millisecond
)

// outcome is the answer to one request.
type outcome struct {
	done    int64  // units that the server has done
	refused int64  // units that it has not done
	why     string // code of the refusal
}

// call sends one request and waits for its answer. An error means that no answer came.
type call func() (outcome, error)

// tally counts what one caller got.
type tally struct {
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

// add adds the counts of another tally.
func (t *tally) add(other *tally) {
	t.done += other.done
	for why, n := range other.errors {
		t.errors[why] += n
	}
	t.latencies.Merge(other.latencies)
}

// runClosed has each caller send its requests one after the other, for a duration after a warm-up. mark is called at
// the begin and at the end of the duration. The tally has the requests that were sent and answered in between.
func runClosed(ctx context.Context, calls []call, duration time.Duration, mark func()) *tally {
	var callers sync.WaitGroup
	started, ended := make(chan struct{}), make(chan struct{})
	tallies := make([]*tally, len(calls))
	for i, do := range calls {
		tallies[i] = newTally()
		callers.Go(func() { loop(ctx, do, tallies[i], started, ended) })
	}
	wait(ctx, min(warmUp, duration/5))
	mark()
	close(started)
	wait(ctx, duration)
	mark()
	close(ended)
	callers.Wait()
	total := newTally()
	for _, t := range tallies {
		total.add(t)
	}
	return total
}

// loop is one caller.
func loop(ctx context.Context, do call, t *tally, started, ended <-chan struct{}) {
	counting := false
	for sent := time.Now(); ctx.Err() == nil; {
		o, err := do()
		answered := time.Now()
		select {
		case <-ended:
			return
		default:
		}
		if counting {
			t.count(o, err, answered.Sub(sent))
		} else {
			select {
			case <-started:
				counting = true
			default:
			}
		}
		if err != nil {
			wait(ctx, pause)
			answered = time.Now()
		}
		sent = answered
	}
}

// wait waits for a duration, or until ctx ends.
func wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
