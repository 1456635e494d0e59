package access

import (
	"context"
	"math"
	"time"

	"rankcast/ranking/fair"
)

const (
	// turnWait bounds the time for which a request waits for its turn: the time within which the server
	// promises an answer to a write while Redis hangs.
	turnWait = 2 * time.Second
	// turnUnit is the size in bytes of a body that counts as one request. A larger one counts as several:
	// Redis is busy with a batch of 1,000 updates for as long as with hundreds of single ones.
	turnUnit = 1 << 10
	// turnRetry is the time after which a client may come back whose request has waited for too long.
	turnRetry = time.Second
)

// AcquireWrite waits for the turn of a write with a body of so many bytes. Addresses take turns, and one
// address has half of the writes under way at most, so that a client that writes much does not delay the
// others. The caller calls release once. waited is the time that passed. The error is a Refusal, also when
// ctx ends.
func (l *Limits) AcquireWrite(ctx context.Context, a Address, bytes int) (release func(), waited time.Duration, err error) {
	return l.acquire(ctx, l.writes, a, min(1+bytes/turnUnit, half(l.cfg.Requests)))
}

// AcquireRead waits for the turn of a read. One address has as many reads under way as it may have writes, not counted
// those that it has given up; addresses do not wait for each other. release and the error are as for AcquireWrite.
func (l *Limits) AcquireRead(ctx context.Context, a Address) (release func(), err error) {
	if a.Exempt() {
		return func() {}, nil
	}
	release, _, err = l.acquire(ctx, l.reads, a, 1)
	return release, err
}

func (l *Limits) acquire(ctx context.Context, turns *fair.Semaphore[Address], a Address, weight int) (
	release func(), waited time.Duration, err error) {
	if l.cfg.Requests == 0 {
		return func() {}, 0, nil
	}
	if release, ok := turns.TryAcquire(a, weight); ok {
		return release, 0, nil
	}
	began := time.Now()
	inTime, cancel := context.WithTimeout(ctx, turnWait)
	defer cancel()
	release, err = turns.Acquire(inTime, a, weight)
	switch {
	case err == nil:
		return release, time.Since(began), nil
	case ctx.Err() != nil:
		return nil, 0, &Refusal{Limit: Requests, RetryAfter: turnRetry, kind: ErrOverloaded, reason: "the request was given up before its turn"}
	}
	return nil, 0, l.refuse(Requests, ErrOverloaded, turnRetry,
		"too many requests are under way (--max-requests), and this one has waited for %v", turnWait)
}

// newTurns makes turns for requests that weigh most together. An address that is not exempt has addressMost of it.
func newTurns(most, addressMost int) *fair.Semaphore[Address] {
	return fair.NewSemaphore(most, func(a Address) int {
		if a.Exempt() {
			return math.MaxInt
		}
		return addressMost
	})
}
