package bench

import (
	"context"
	"sync"
	"time"
)

const (
	// warmUp is the longest time of a closed loop before the measurement; a fifth of the duration if that is less.
	warmUp = time.Second
	// pause is the time between two attempts of a caller that gets no answer.
	pause = 20 * time.Millisecond
)

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
	sent := time.Now()
	for n := 0; ctx.Err() == nil; n++ {
		o, err := do(n)
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
