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

	deliveries map[*stream][]*delivery

	bit       uint64 // tells it from other shards, in a stream
	mu        sync.Mutex
	pending   []*stream     // have a new version, oldest news first, each once
	callbacks []func()      // to be called when the news have been sent
	wake      chan struct{} // there is any of these; holds one
}

func newShard(number int) *shard {
	return &shard{
		ops: make(chan func(), shardOps), done: make(chan struct{}), wake: make(chan struct{}, 1),
		deliveries: make(map[*stream][]*delivery), bit: 1 << number,
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
			news, then := s.takePending()
			for _, st := range news {
				for _, seat := range s.deliveries[st] {
					seat.send()
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
			s.pending = append(s.pending, st)
			any = true
		}
	}
	s.mu.Unlock()
	if any {
		s.signal()
	}
}

func (s *shard) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// afterFlush has do called, on the shard's goroutine, when all that was announced has
// been sent. It does not wait.
func (s *shard) afterFlush(do func()) {
	s.mu.Lock()
	s.callbacks = append(s.callbacks, do)
	s.mu.Unlock()
	s.signal()
}

func (s *shard) takePending() (news []*stream, then []func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	news, then = s.pending, s.callbacks
	s.pending, s.callbacks = nil, nil
	for _, st := range news {
		st.announced.And(^s.bit)
	}
	return news, then
}
