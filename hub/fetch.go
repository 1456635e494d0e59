package hub

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"rankcast/ranking"
)

// read is something that is read beside the board's goroutine.
type read[T any] struct {
	answer chan answer[T] // nil: nothing is being read
	held   *T             // has come; the view is on its way there
	gone   bool           // held stands for a board that is not there
	at     time.Time      // when it came
	after  time.Time      // not to be read before
	pause  time.Duration  // before the next try; 0: the last went well
}

type answer[T any] struct {
	value T
	err   error
	at    time.Time
}

// start reads with do.
func (r *read[T]) start(b *board, do func(context.Context) (T, error)) {
	came := make(chan answer[T], 1)
	r.answer = came
	b.hub.running.Go(func() {
		select {
		case b.hub.reading <- struct{}{}:
			defer func() { <-b.hub.reading }()
		case <-b.ctx.Done():
			return
		}
		value, err := do(b.ctx)
		came <- answer[T]{value, err, time.Now()}
	})
}

// idle reports whether nothing is being read or held.
func (r *read[T]) idle() bool { return r.answer == nil && r.held == nil }

// forget drops what is being read, or was and is held.
func (r *read[T]) forget() { r.answer, r.held, r.gone = nil, nil, false }

// came takes an answer. If it is none it reports false, and the next try has to
// wait.
func (r *read[T]) came(b *board, a answer[T]) bool {
	r.forget()
	if a.err == nil {
		r.held, r.at = &a.value, a.at
		return true
	}
	if r.pause == 0 && b.ctx.Err() == nil && !isUnknown(a.err) { // once an outage
		b.hub.log.Warn("cannot read a board, trying again", "board", b.name, "error", a.err)
	}
	r.pause = min(max(2*r.pause, readAgainFirst), readAgainMost)
	r.after = time.Now().Add(r.pause/2 + rand.N(r.pause/2))
	return false
}

// isUnknown reports whether a read failed because there is nothing to read.
func isUnknown(err error) bool {
	return errors.Is(err, ranking.ErrUnknownBoard) || errors.Is(err, ranking.ErrUnknownPeriod)
}

// failed reports whether the last try came to nothing.
func (r *read[T]) failed() bool { return r.pause > 0 }

// settle ends the pauses: an answer was taken in, or none is needed.
func (r *read[T]) settle() { *r = read[T]{} }
