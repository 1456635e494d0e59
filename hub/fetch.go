package hub

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"rankcast/ranking"
)

// fetch is something that is read beside the board's goroutine.
type fetch[T any] struct {
	result    chan fetchResult[T] // nil: nothing is being read
	held      *T                  // has come; the view is on its way there
	missing   bool                // held stands for a board that is not there
	arrivedAt time.Time           // when it came
	notBefore time.Time           // not to be read before
	backoff   time.Duration       // before the next try; 0: the last went well
}

type fetchResult[T any] struct {
	value T
	err   error
	at    time.Time
}

// start reads with do.
func (r *fetch[T]) start(b *board, do func(context.Context) (T, error)) {
	came := make(chan fetchResult[T], 1)
	r.result = came
	b.hub.running.Go(func() {
		select {
		case b.hub.fetchSlots <- struct{}{}:
			defer func() { <-b.hub.fetchSlots }()
		case <-b.ctx.Done():
			return
		}
		value, err := do(b.ctx)
		came <- fetchResult[T]{value, err, time.Now()}
	})
}

// idle reports whether nothing is being read or held.
func (r *fetch[T]) idle() bool { return r.result == nil && r.held == nil }

// drop drops what is being read, or was and is held.
func (r *fetch[T]) drop() { r.result, r.held, r.missing = nil, nil, false }

// complete takes an answer. If it is none it reports false, and the next try has to
// wait.
func (r *fetch[T]) complete(b *board, a fetchResult[T]) bool {
	r.drop()
	if a.err == nil {
		r.held, r.arrivedAt = &a.value, a.at
		return true
	}
	if r.backoff == 0 && b.ctx.Err() == nil && !isNotFound(a.err) { // once an outage
		b.hub.log.Warn("cannot read a board, trying again", "board", b.name, "error", a.err)
	}
	r.backoff = min(max(2*r.backoff, retryMin), retryMax)
	r.notBefore = time.Now().Add(r.backoff/2 + rand.N(r.backoff/2))
	return false
}

// isNotFound reports whether a read failed because there is nothing to read.
func isNotFound(err error) bool {
	return errors.Is(err, ranking.ErrUnknownBoard) || errors.Is(err, ranking.ErrUnknownPeriod)
}

// failed reports whether the last try came to nothing.
func (r *fetch[T]) failed() bool { return r.backoff > 0 }

// reset ends the pauses: an answer was taken in, or none is needed.
func (r *fetch[T]) reset() { *r = fetch[T]{} }
