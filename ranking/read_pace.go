package ranking

import (
	"context"
	"fmt"
	"sync"
	"time"
)

const (
	// pacedEntries is the number of entries beyond which a page takes its turn. A smaller page holds Redis
	// for little longer than an update does.
	pacedEntries = 100
	// maxRest bounds the pause after a page. A page that took long because Redis was away says nothing of
	// the next one.
	maxRest = 100 * time.Millisecond
)

// pacer makes the callers that read large pages take turns: one page at a time, and then a pause as long as
// the page took. So they take half of the time of Redis at most, all together. A page of 1,000 entries holds
// Redis for about a millisecond: without turns, each update would wait for a page of each caller.
//
// The zero pacer is ready to use. It may be used concurrently, and serves callers in the order in which
// they come.
type pacer struct {
	once sync.Once
	turn chan struct{} // holds a token while nobody reads
	next time.Time     // when the next page may begin; the holder of the token owns it
}

// do runs read when it is its turn. It returns ErrUnavailable when ctx ends before.
func (p *pacer) do(ctx context.Context, read func() error) error {
	p.once.Do(func() {
		p.turn = make(chan struct{}, 1)
		p.turn <- struct{}{}
	})
	select {
	case <-p.turn:
	case <-ctx.Done():
		return fmt.Errorf("%w: wait for a turn: %w", ErrUnavailable, ctx.Err())
	}
	defer func() { p.turn <- struct{}{} }()
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
