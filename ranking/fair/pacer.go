package fair

import (
	"context"
	"time"
)

// Pacer gives one turn at a time, and leaves a pause after each that is as long as the turn was. So all turns together take
// half of the time at most. NewPacer makes one. All methods may be called concurrently.
type Pacer[K comparable] struct {
	turns   *Semaphore[K]
	maxRest time.Duration
	next    time.Time // when the next turn may begin; whoever has the turn owns it
}

// NewPacer makes a Pacer whose pauses last maxRest at most.
func NewPacer[K comparable](maxRest time.Duration) *Pacer[K] {
	return &Pacer[K]{turns: NewSemaphore(1, func(K) int { return 1 }), maxRest: maxRest}
}

// Wait waits for a turn, until ctx ends. The caller calls end once.
func (p *Pacer[K]) Wait(ctx context.Context, key K) (end func(), err error) {
	release, err := p.turns.Acquire(ctx, key, 1)
	if err != nil {
		return nil, err
	}
	if err := Pause(ctx, time.Until(p.next)); err != nil {
		release()
		return nil, err
	}
	began := time.Now()
	return func() {
		ended := time.Now()
		p.next = ended.Add(min(ended.Sub(began), p.maxRest))
		release()
	}, nil
}
