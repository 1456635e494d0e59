package ranking

import (
	"context"
	"fmt"
	"sync"
	"time"

	"rankcast/ranking/fairqueue"
)

// PacedEntries is the number of entries beyond which a page of Read takes its turn. A smaller page holds Redis
// for little longer than an update does.
const PacedEntries = 100

const (
	// maxRest bounds the pause after a page. A page that took long because Redis was away says nothing of
	// the next one.
	maxRest = 100 * time.Millisecond
)

// callerKey is the key of WithCaller in a context.
type callerKey struct{}

// WithCaller says for whom a context reads large pages. Callers take turns: one that reads many pages does
// not delay another one by more than a page for each of its own. caller is comparable. Without WithCaller,
// all reads are of one caller.
func WithCaller(ctx context.Context, caller any) context.Context {
	return context.WithValue(ctx, callerKey{}, caller)
}

// withoutBuildsKey is the key of WithoutBuilds in a context.
type withoutBuildsKey struct{}

// WithoutBuilds makes reads return ErrNotBuilt at once where they would wait until a result is built. The
// build goes on. If the last build has ended a moment ago, reads return what it came to: its result, although that
// may be too old by now, no data, or its error.
func WithoutBuilds(ctx context.Context) context.Context {
	return context.WithValue(ctx, withoutBuildsKey{}, true)
}

// pacer makes the callers that read large pages take turns: one page at a time, and then a pause as long as
// the page took. So they take half of the time of Redis at most, all together. A page of 1,000 entries holds
// Redis for about a millisecond: without turns, each update would wait for a page of each caller.
//
// The zero pacer is ready to use, also concurrently.
type pacer struct {
	mu      sync.Mutex
	waiting fairqueue.Queue[any, *turn] // by caller
	reading bool
	next    time.Time // when the next page may begin; whoever has the turn owns it
}

// turn is a caller's place among those that wait.
type turn struct {
	granted chan struct{} // closed when it is the caller's turn
	left    bool          // the caller waits no longer; guarded by the pacer's mu
}

// do runs read when it is the turn of the context's caller. It returns ErrUnavailable when ctx ends before.
func (p *pacer) do(ctx context.Context, read func() error) error {
	if err := p.wait(ctx); err != nil {
		return fmt.Errorf("%w: wait for a turn: %w", ErrUnavailable, err)
	}
	defer p.grantNext()
	if pause := time.Until(p.next); pause > 0 {
		timer := time.NewTimer(pause)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return fmt.Errorf("%w: wait for a turn: %w", ErrUnavailable, ctx.Err())
		}
	}
	began := time.Now()
	defer func() {
		ended := time.Now()
		p.next = ended.Add(min(ended.Sub(began), maxRest))
	}()
	return read()
}

// wait returns when it is the caller's turn, or ctx ends.
func (p *pacer) wait(ctx context.Context) error {
	p.mu.Lock()
	if !p.reading {
		p.reading = true
		p.mu.Unlock()
		return nil
	}
	own := &turn{granted: make(chan struct{})}
	p.waiting.Push(ctx.Value(callerKey{}), own)
	p.mu.Unlock()
	select {
	case <-own.granted:
		return nil
	case <-ctx.Done():
	}
	p.mu.Lock()
	own.left = true
	p.mu.Unlock()
	select {
	case <-own.granted: // at the same moment
		p.grantNext()
	default:
	}
	return ctx.Err()
}

// grantNext ends a turn and begins the next one.
func (p *pacer) grantNext() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		next, ok := p.waiting.Pop()
		if !ok {
			p.reading = false
			return
		}
		if !next.left {
			close(next.granted)
			return
		}
	}
}
