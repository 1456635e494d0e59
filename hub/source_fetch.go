package hub

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"rankcast/ranking"
	"rankcast/ranking/definition"
)

// fetch is a read of one kind for a board. Only the board's turns access it.
type fetch[T any] struct {
	underWay  *fetchResult[T] // nil: no read is under way
	held      *T              // an answer that waits until the view has reached its state
	missing   bool            // held stands for a board that does not exist
	began     time.Time       // when the read of held began
	arrivedAt time.Time       // when held arrived
	notBefore time.Time       // the next read starts no earlier
	backoff   time.Duration   // before the next attempt; 0: the last one succeeded
}

// fetchResult is the result of one read. It is an event of its board.
type fetchResult[T any] struct {
	value T
	err   error
	began time.Time
	at    time.Time // when it ended

	dropped atomic.Bool // the board does not need it any more
}

// start queues a read by do. The result comes as an event.
func (r *fetch[T]) start(b *board, level urgency, do func(context.Context) (T, error)) {
	b.hub.fetches.push(level, b.callers.inLines(), r.begin(b, level, do))
}

// begin makes a read by do the one that is under way. The caller runs it. It does not wait for a
// result that has yet to be built, so that it takes the place of other reads for a short time only.
func (r *fetch[T]) begin(b *board, level urgency, do func(context.Context) (T, error)) (read func()) {
	result := new(fetchResult[T])
	r.underWay = result
	return func() {
		if b.isStopped() || result.dropped.Load() {
			return
		}
		ctx, cancel := context.WithTimeout(ranking.WithoutBuilds(b.hub.ctx), fetchTimeout)
		defer cancel()
		result.began = time.Now()
		result.value, result.err = do(ctx)
		result.at = time.Now()
		b.postEvent(level, result)
	}
}

// isCurrent reports whether a result is of the read that is under way. The board has dropped
// all others.
func (r *fetch[T]) isCurrent(a *fetchResult[T]) bool { return r.underWay == a }

// idle reports whether no read is under way and no answer is held.
func (r *fetch[T]) idle() bool { return r.underWay == nil && r.held == nil }

// drop drops the read that is under way and the answer that is held.
func (r *fetch[T]) drop() {
	if r.underWay != nil {
		r.underWay.dropped.Store(true)
	}
	r.underWay, r.held, r.missing = nil, nil, false
}

// complete takes a result. For an error it returns false and makes the next attempt wait.
func (r *fetch[T]) complete(b *board, a *fetchResult[T]) bool {
	r.drop()
	if a.err == nil {
		r.held, r.began, r.arrivedAt = &a.value, a.began, a.at
		return true
	}
	if r.backoff == 0 && b.hub.ctx.Err() == nil && !isNotFound(a.err) && !errors.Is(a.err, definition.ErrNotBuilt) { // once an outage
		b.hub.log.Warn("the node cannot read a board; it retries", "board", b.name, "error", a.err)
	}
	r.backoff, r.notBefore = nextBackoff(r.backoff)
	return false
}

// nextBackoff doubles a backoff within its bounds, and returns when the next attempt may begin: after a
// random time, from half of the backoff on.
func nextBackoff(was time.Duration) (backoff time.Duration, notBefore time.Time) {
	backoff = min(max(2*was, retryMin), retryMax)
	return backoff, time.Now().Add(backoff/2 + rand.N(backoff/2))
}

// isNotFound reports whether the board or the period does not exist.
func isNotFound(err error) bool {
	return errors.Is(err, definition.ErrUnknownBoard) || errors.Is(err, definition.ErrUnknownPeriod)
}

// failed reports whether the last attempt failed.
func (r *fetch[T]) failed() bool { return r.backoff > 0 }

// reset ends the backoff: an answer was applied, or none is needed.
func (r *fetch[T]) reset() { *r = fetch[T]{} }
