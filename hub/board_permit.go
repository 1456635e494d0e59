package hub

import (
	"sync"

	"rankcast/ranking/fair"
)

// maxLargeReads is the most reads of many entries that are under way at one time.
const maxLargeReads = 16

// permit lets a board read many entries. The board waits for a turn of each caller who wants the page, and the first turn
// gives it the permit. The methods may be called concurrently.
type permit struct {
	board *board
	reads *fair.Semaphore[any]

	mu     sync.Mutex
	turns  []*fair.Turn[any] // once the permit is given, only the turn that gave it
	state  permitState
	caller any // once the permit is given: who has got the turn
}

type permitState int

const (
	permitWaits permitState = iota
	permitGiven
	permitEnded
)

// permitGivenEvent tells a board that it has a permit.
type permitGivenEvent struct{ permit *permit }

// wait makes a caller wait for the permit, beside others that wait for it already.
func (p *permit) wait(caller any) {
	p.mu.Lock()
	if p.state != permitWaits {
		p.mu.Unlock()
		return
	}
	t, begun := p.reads.Enter(caller, 1, p.give)
	p.turns = append(p.turns, t)
	p.mu.Unlock()
	if begun {
		p.give(t)
	}
}

// give gives the board the permit, by a turn that has begun.
func (p *permit) give(t *fair.Turn[any]) {
	p.mu.Lock()
	first := p.state == permitWaits
	others := []*fair.Turn[any]{t}
	if first {
		others = p.turns
		p.turns, p.state, p.caller = []*fair.Turn[any]{t}, permitGiven, t.Key()
	}
	p.mu.Unlock()
	for _, other := range others {
		if !first || other != t {
			other.End()
		}
	}
	if first {
		p.board.postEvent(normal, permitGivenEvent{p})
	}
}

// end ends the permit, whether it was given or not.
func (p *permit) end() {
	p.mu.Lock()
	turns := p.turns
	p.turns, p.state = nil, permitEnded
	p.mu.Unlock()
	for _, t := range turns {
		t.End()
	}
}
