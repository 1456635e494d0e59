package hub

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"rankcast/ranking"
)

// fetch is a read of one kind that runs beside the board's goroutine. Only the board's
// goroutine accesses it.
type fetch[T any] struct {
	result    chan fetchResult[T] // nil: no read is under way
	held      *T                  // an answer that waits until the view has reached its state
	missing   bool                // held stands for a board that does not exist
	arrivedAt time.Time           // when held arrived
	notBefore time.Time           // the next read starts no earlier
	backoff   time.Duration       // before the next attempt; 0: the last one succeeded
}

type fetchResult[T any] struct {
	value T
	err   error
	at    time.Time
}

// start starts a goroutine that reads with do.
func (r *fetch[T]) start(b *board, do func(context.Context) (T, error)) {
	result := make(chan fetchResult[T], 1)
	r.result = result
	b.hub.running.Go(func() {
		select {
		case b.hub.fetchSlots <- struct{}{}:
			defer func() { <-b.hub.fetchSlots }()
		case <-b.ctx.Done():
			return
		}
		value, err := do(b.ctx)
		result <- fetchResult[T]{value, err, time.Now()}
	})
}

// idle reports whether no read is under way and no answer is held.
func (r *fetch[T]) idle() bool { return r.result == nil && r.held == nil }

// drop drops the read that is under way and the answer that is held.
func (r *fetch[T]) drop() { r.result, r.held, r.missing = nil, nil, false }

// complete takes a result. For an error it returns false and makes the next attempt wait.
func (r *fetch[T]) complete(b *board, a fetchResult[T]) bool {
	r.drop()
	if a.err == nil {
		r.held, r.arrivedAt = &a.value, a.at
		return true
	}
	if r.backoff == 0 && b.ctx.Err() == nil && !isNotFound(a.err) { // once an outage
		b.hub.log.Warn("the node cannot read a board; it retries", "board", b.name, "error", a.err)
	}
	r.backoff = min(max(2*r.backoff, retryMin), retryMax)
	r.notBefore = time.Now().Add(r.backoff/2 + rand.N(r.backoff/2))
	return false
}

// isNotFound reports whether the board or the period does not exist.
func isNotFound(err error) bool {
	return errors.Is(err, ranking.ErrUnknownBoard) || errors.Is(err, ranking.ErrUnknownPeriod)
}

// failed reports whether the last attempt failed.
func (r *fetch[T]) failed() bool { return r.backoff > 0 }

// reset ends the backoff: an answer was applied, or none is needed.
func (r *fetch[T]) reset() { *r = fetch[T]{} }
