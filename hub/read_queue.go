package hub

import "sync"

// maxLargeReads is the most reads of many entries that are under way at one time.
const maxLargeReads = 16

// readQueue gives permits for reads of many entries. A caller is an address, or a client without
// one. Each caller has one permit at a time, and callers take turns. So another caller waits for one
// read of each caller before it at most. The methods may be called concurrently.
type readQueue struct {
	mu    sync.Mutex
	free  int               // how many permits may still be given
	lines map[any]*readLine // by caller
	turns []any             // callers with permits that wait and none that was given, in their order
}

// readLine holds the permits that a caller waits for.
type readLine struct {
	waiting []*permit // some may have ended
	busy    bool      // the caller has a permit
}

// permit lets a board read many entries. The lock of the readQueue guards it.
type permit struct {
	board  *board
	state  permitState
	caller any // who has got it for the board
}

type permitState int

const (
	permitWaits permitState = iota
	permitGiven
	permitEnded
)

// permitGivenEvent tells a board that it has a permit.
type permitGivenEvent struct{ permit *permit }

func newReadQueue() *readQueue {
	return &readQueue{free: maxLargeReads, lines: make(map[any]*readLine)}
}

// wait makes a caller wait for a permit, beside others that wait for it already. The first caller
// whose turn it is gets the permit.
func (q *readQueue) wait(p *permit, caller any) {
	q.change(func() {
		if p.state != permitWaits {
			return
		}
		line := q.lines[caller]
		if line == nil {
			line = &readLine{}
			q.lines[caller] = line
		}
		line.waiting = append(line.waiting, p)
		if len(line.waiting) == 1 && !line.busy {
			q.turns = append(q.turns, caller)
		}
	})
}

// end ends a permit, whether it was given or not.
func (q *readQueue) end(p *permit) {
	q.change(func() {
		was := p.state
		if p.state = permitEnded; was != permitGiven {
			return
		}
		q.free++
		line := q.lines[p.caller]
		if line.busy = false; len(line.waiting) > 0 {
			q.turns = append(q.turns, p.caller)
		} else {
			delete(q.lines, p.caller)
		}
	})
}

// change calls do under the lock, gives the permits that are then free, and tells their boards.
func (q *readQueue) change(do func()) {
	q.mu.Lock()
	do()
	var given []*permit
	for q.free > 0 && len(q.turns) > 0 {
		if p := q.giveNext(); p != nil {
			given = append(given, p)
		}
	}
	q.mu.Unlock()
	for _, p := range given {
		p.board.postEvent(normal, permitGivenEvent{p})
	}
}

// giveNext gives the caller whose turn it is a permit. It returns nil if all those have ended for
// which the caller waited. The caller of giveNext holds mu.
func (q *readQueue) giveNext() *permit {
	caller := q.turns[0]
	q.turns = q.turns[1:]
	line := q.lines[caller]
	for len(line.waiting) > 0 {
		p := line.waiting[0]
		line.waiting[0] = nil
		line.waiting = line.waiting[1:]
		if p.state == permitWaits {
			p.state, p.caller, line.busy = permitGiven, caller, true
			q.free--
			return p
		}
	}
	delete(q.lines, caller)
	return nil
}
