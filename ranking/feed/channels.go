package feed

import (
	"math"
	"sync"
)

// subscribeChunk is the greatest number of channels that channels.take returns.
const subscribeChunk = 256

// channels holds the channels that are wanted, and notes which of them have been subscribed to. Its
// methods may be called concurrently, and do no I/O.
type channels struct {
	mu     sync.Mutex
	byName map[string]channel
	calls  uint64        // number of the last call of want
	queue  []string      // channels to subscribe to or to leave, oldest first
	wake   chan struct{} // holds one signal: queue is not empty
}

// channel is the state of one channel.
type channel struct {
	refs       int    // calls that asked for it and have not been ended
	wanted     uint64 // number of the last of these calls
	subscribed uint64 // number of the call for which take returned it; 0: none since restartAll
	queued     bool   // queue holds the channel
}

func newChannels() *channels {
	return &channels{byName: make(map[string]channel), wake: make(chan struct{}, 1)}
}

// want asks for a channel. Each call makes take return the channel once more, so that each call is confirmed.
func (s *channels) want(name string) {
	s.mu.Lock()
	s.calls++
	c := s.byName[name]
	c.refs++
	c.wanted = s.calls
	s.enqueue(name, c)
	s.mu.Unlock()
	s.signal()
}

// leave ends one call of want.
func (s *channels) leave(name string) { s.end(name, 1) }

// leaveAll ends all calls of want for a channel.
func (s *channels) leaveAll(name string) { s.end(name, math.MaxInt) }

// end ends so many calls of want for a channel, if there are so many.
func (s *channels) end(name string, calls int) {
	s.mu.Lock()
	if c, ok := s.byName[name]; ok {
		c.refs = max(0, c.refs-calls)
		s.enqueue(name, c)
	}
	s.mu.Unlock()
	s.signal()
}

// isWanted reports whether the channel has more calls of want than of leave.
func (s *channels) isWanted(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byName[name].refs > 0
}

// restartAll makes take return all channels again, as for a new connection, which has no subscriptions.
func (s *channels) restartAll() {
	s.mu.Lock()
	for name, c := range s.byName {
		c.subscribed = 0
		s.enqueue(name, c)
	}
	s.mu.Unlock()
	s.signal()
}

// enqueue stores a channel that has changed, and queues it. The caller holds mu.
func (s *channels) enqueue(name string, c channel) {
	if !c.queued {
		c.queued = true
		s.queue = append(s.queue, name)
	}
	s.byName[name] = c
}

// signal wakes the goroutine that calls take.
func (s *channels) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// take takes up to subscribeChunk channels from the queue. It returns those to subscribe to and those to
// leave. If more are queued, it signals.
func (s *channels) take() (add, drop []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := min(len(s.queue), subscribeChunk)
	for _, name := range s.queue[:n] {
		c := s.byName[name]
		c.queued = false
		switch {
		case c.refs == 0:
			if c.subscribed != 0 {
				drop = append(drop, name)
			}
			delete(s.byName, name)
			continue
		case c.wanted != c.subscribed: // also if it was left meanwhile: each call needs a confirmation
			c.subscribed = c.wanted
			add = append(add, name)
		}
		s.byName[name] = c
	}
	if s.queue = s.queue[n:]; len(s.queue) > 0 {
		s.signal()
	} else {
		s.queue = nil // frees the array
	}
	return add, drop
}
