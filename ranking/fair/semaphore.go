package fair

import (
	"context"
	"sync"
)

// Semaphore bounds the turns under way, in all and for each key. Each turn has a weight. NewSemaphore makes one. All
// methods may be called concurrently.
type Semaphore[K comparable] struct {
	most int
	each func(K) int

	mu    sync.Mutex
	used  int
	lines map[K]*line[K] // of each key that has a turn
	order []K            // keys that may begin a turn, in their order
}

// line holds the turns of one key.
type line[K comparable] struct {
	used    int
	waiting []*Turn[K] // in their order; some may have ended
	ordered bool       // the key is in order
}

// Turn is the place of a caller, from Enter to End.
type Turn[K comparable] struct {
	of     *Semaphore[K]
	key    K
	weight int
	begin  func(*Turn[K])
	state  turnState // guarded by the mu of the Semaphore
}

type turnState int

const (
	turnWaits turnState = iota
	turnBegun
	turnEnded
)

// NewSemaphore makes a Semaphore of turns that weigh most together at one time; a single turn may weigh more. each is the
// greatest weight of the turns of a key: a turn that exceeds it alone never begins.
func NewSemaphore[K comparable](most int, each func(K) int) *Semaphore[K] {
	return &Semaphore[K]{most: most, each: each, lines: make(map[K]*line[K])}
}

// Acquire waits for a turn, until ctx ends. The caller calls end once.
func (s *Semaphore[K]) Acquire(ctx context.Context, key K, weight int) (end func(), err error) {
	if end, ok := s.TryAcquire(key, weight); ok { // most turns begin at once, and so need no channel
		return end, nil
	}
	begun := make(chan struct{})
	t, atOnce := s.Enter(key, weight, func(*Turn[K]) { close(begun) })
	if atOnce {
		return t.End, nil
	}
	select {
	case <-begun:
		return t.End, nil
	case <-ctx.Done():
		t.End()
		return nil, ctx.Err()
	}
}

// TryAcquire is Acquire for a turn that begins at once, as most do; it reports whether there is one.
func (s *Semaphore[K]) TryAcquire(key K, weight int) (end func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := &Turn[K]{of: s, key: key, weight: weight}
	if !s.startAtOnce(t) {
		return nil, false
	}
	return t.End, true
}

// startAtOnce starts a turn, unless it must wait. The caller holds mu, here and below.
func (s *Semaphore[K]) startAtOnce(t *Turn[K]) bool {
	l := s.lines[t.key]
	if len(s.order) > 0 || !s.fits(t) || l == nil && t.weight > s.each(t.key) || l != nil && (len(l.waiting) > 0 || !s.lineFits(l, t)) {
		return false
	}
	s.start(s.line(t.key), t)
	return true
}

// line returns the line of a key, which it makes for the first turn.
func (s *Semaphore[K]) line(key K) *line[K] {
	l := s.lines[key]
	if l == nil {
		l = new(line[K])
		s.lines[key] = l
	}
	return l
}

// Enter makes a caller wait for a turn. It reports whether the turn has begun at once. Otherwise begin is called when it
// begins, by the goroutine that has ended another turn; begin may end this turn and others.
func (s *Semaphore[K]) Enter(key K, weight int, begin func(*Turn[K])) (t *Turn[K], begun bool) {
	t = &Turn[K]{of: s, key: key, weight: weight, begin: begin}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.startAtOnce(t) {
		return t, true
	}
	l := s.line(key)
	l.waiting = append(l.waiting, t)
	s.queue(key, l)
	return t, false
}

// Key is the key of a turn.
func (t *Turn[K]) Key() K { return t.key }

// End ends a turn, or the wait for it. A second call does nothing.
func (t *Turn[K]) End() {
	s := t.of
	s.mu.Lock()
	l, was := s.lines[t.key], t.state
	if t.state = turnEnded; was == turnEnded {
		s.mu.Unlock()
		return
	}
	if was == turnBegun {
		s.used -= t.weight
		l.used -= t.weight
	}
	s.queue(t.key, l)
	begun := s.grant() // those behind it may fit
	s.mu.Unlock()
	for _, next := range begun {
		next.begin(next)
	}
}

// Keys is the number of keys with turns that wait or are under way.
func (s *Semaphore[K]) Keys() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.lines)
}

// fits reports whether there is room for a turn.
func (s *Semaphore[K]) fits(t *Turn[K]) bool { return s.used == 0 || s.used+t.weight <= s.most }

// lineFits reports whether the key of a line may begin a turn.
func (s *Semaphore[K]) lineFits(l *line[K], t *Turn[K]) bool { return l.used+t.weight <= s.each(t.key) }

func (s *Semaphore[K]) start(l *line[K], t *Turn[K]) {
	s.used += t.weight
	l.used += t.weight
	t.state = turnBegun
}

// next is the next turn of a line, if its key may begin it; nil otherwise.
func (s *Semaphore[K]) next(l *line[K]) *Turn[K] {
	for len(l.waiting) > 0 && l.waiting[0].state == turnEnded {
		l.waiting[0] = nil
		l.waiting = l.waiting[1:]
	}
	if len(l.waiting) == 0 || !s.lineFits(l, l.waiting[0]) {
		return nil
	}
	return l.waiting[0]
}

// queue puts a key in order if it may begin a turn. It forgets a key without turns.
func (s *Semaphore[K]) queue(key K, l *line[K]) {
	switch {
	case l.ordered:
	case s.next(l) != nil:
		l.ordered = true
		s.order = append(s.order, key)
	case len(l.waiting) == 0 && l.used == 0:
		delete(s.lines, key)
	}
}

// grant starts turns while there is room, one of each key in turn, and returns them.
func (s *Semaphore[K]) grant() (begun []*Turn[K]) {
	for len(s.order) > 0 {
		key := s.order[0]
		l := s.lines[key]
		if t := s.next(l); t != nil {
			if !s.fits(t) {
				return begun // its turn comes before that of others
			}
			l.waiting[0] = nil
			l.waiting = l.waiting[1:]
			s.start(l, t)
			begun = append(begun, t)
		}
		s.order = s.order[1:]
		l.ordered = false
		s.queue(key, l)
	}
	return begun
}
