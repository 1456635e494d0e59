package hub

import (
	"context"
	"sync"
)

// Conn is a client's connection, as the hub needs it.
type Conn interface {
	// Send takes a frame. It MUST NOT block. It returns false when the connection has not
	// sent an earlier frame yet. The connection then MUST call Client.Ready once it can
	// take a frame again, though not from within Send. A broken connection takes all frames
	// and drops them.
	Send(f *Frame) bool
}

// shardOps is the most operations that wait for a shard. The caller of a further one waits.
const shardOps = 256

// shard is a goroutine that sends frames to its share of the clients. It alone accesses
// their deliveries, so it holds no lock while it sends.
type shard struct {
	ops  chan func()
	done chan struct{} // closed when run has ended

	deliveries map[*stream][]*delivery

	bit       uint64 // identifies the shard in a stream
	mu        sync.Mutex
	pending   []*stream     // streams with a new version, oldest first, each once
	callbacks []func()      // to call once pending has been sent
	wake      chan struct{} // pending or callbacks is not empty; holds one
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
			updated, then := s.takePending()
			for _, st := range updated {
				for _, d := range s.deliveries[st] {
					d.send()
				}
			}
			for _, do := range then {
				do()
			}
		}
	}
}

// do runs op on the shard's goroutine and waits for it. After the shard has ended, do does
// nothing.
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

// announce passes streams with new versions to the shard. It does not wait.
func (s *shard) announce(streams []*stream) {
	any := false
	s.mu.Lock()
	for _, st := range streams {
		// Most members are followed by one client, in one shard.
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

// afterFlush calls do on the shard's goroutine, once all announced versions have been sent.
// It does not wait.
func (s *shard) afterFlush(do func()) {
	s.mu.Lock()
	s.callbacks = append(s.callbacks, do)
	s.mu.Unlock()
	s.signal()
}

func (s *shard) takePending() (updated []*stream, then []func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	updated, then = s.pending, s.callbacks
	s.pending, s.callbacks = nil, nil
	for _, st := range updated {
		st.announced.And(^s.bit)
	}
	return updated, then
}
