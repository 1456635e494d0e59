package hub

import (
	"context"
	"sync"
)

// Conn is a client's connection, as the hub needs it.
type Conn interface {
	// Send hands over a frame. It MUST NOT block. It reports false when the frame
	// was not taken because an earlier one is still on its way; the connection
	// then MUST call Client.Ready once it can take one again, though not from
	// within Send. A connection that is broken takes all frames and drops them.
	Send(f *Frame) bool
}

// shardOps bounds what sockets ask of a shard at one time; those beyond wait.
const shardOps = 256

// shard is a goroutine that hands frames to its share of the clients. All that
// it knows of them is its own: no lock is held while it sends.
type shard struct {
	ops  chan func()
	done chan struct{} // closed when run has ended

	users map[*stream][]*seat

	bit  uint64 // tells it from other shards, in a stream
	mu   sync.Mutex
	news []*stream     // have a new version, oldest news first, each once
	then []func()      // to be called when the news have been sent
	wake chan struct{} // there is any of these; holds one
}

func newShard(number int) *shard {
	return &shard{
		ops: make(chan func(), shardOps), done: make(chan struct{}), wake: make(chan struct{}, 1),
		users: make(map[*stream][]*seat), bit: 1 << number,
	}
}

func (s *shard) run(ctx context.Context) {
	defer close(s.done)
	for {
		select {
		case <-ctx.Done():
			return
		case op := <-s.ops:
			op()
		case <-s.wake:
			news, then := s.takeNews()
			for _, st := range news {
				for _, seat := range s.users[st] {
					seat.deliver()
				}
			}
			for _, do := range then {
				do()
			}
		}
	}
}

// do runs op on the shard's goroutine and waits for it. Once the shard has ended
// it does nothing.
func (s *shard) do(op func()) {
	ran := make(chan struct{})
	select {
	case s.ops <- func() { op(); close(ran) }:
	case <-s.done:
		return
	}
	select {
	case <-ran:
	case <-s.done:
	}
}

// announce says that streams have new versions. It does not wait.
func (s *shard) announce(streams []*stream) {
	any := false
	s.mu.Lock()
	for _, st := range streams {
		// Most members are followed by one client, which is in one shard.
		if st.shards.Load()&s.bit != 0 && st.announced.Or(s.bit)&s.bit == 0 {
			s.news = append(s.news, st)
			any = true
		}
	}
	s.mu.Unlock()
	if any {
		s.poke()
	}
}

func (s *shard) poke() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// after has do called, on the shard's goroutine, when all that was announced has
// been sent. It does not wait.
func (s *shard) after(do func()) {
	s.mu.Lock()
	s.then = append(s.then, do)
	s.mu.Unlock()
	s.poke()
}

func (s *shard) takeNews() (news []*stream, then []func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	news, then = s.news, s.then
	s.news, s.then = nil, nil
	for _, st := range news {
		st.announced.And(^s.bit)
	}
	return news, then
}
