package hub

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Conn is a client's connection, as the hub needs it.
type Conn interface {
	// Free reports whether the connection takes a frame now. Send takes a frame; it returns
	// false when the connection is not free after all. After they have returned false, the
	// connection MUST call Client.Ready once it is free again, though not from within them. A
	// broken connection is free: it drops all frames.
	//
	// Flush writes the frames that Send has taken since the last Flush, together; until then the
	// connection may keep them, and keep all other writers away. The hub MUST call Flush after Free or
	// Send have returned true, before it turns to another client. The hub calls the three methods of a
	// connection from one goroutine. They MUST NOT block.
	//
	// changed is the time, by Redis's clock, of the oldest change that the client first sees in this
	// frame. It is zero for a frame without such a change, and where the hub does not know the time, as
	// after a page was read again.
	Free() bool
	Send(f *Frame, changed time.Time) bool
	Flush()
}

const (
	// shardOps is the most operations that wait for a shard. The caller of a further one waits.
	shardOps = 256
	// clientsPerOps is how many clients a shard serves between two looks at operations. It then runs maxOps at most.
	clientsPerOps = 64
	maxOps        = 16
	// maxMade is how many versions a shard keeps the frames of, at most, while it serves clients.
	maxMade = 1024
)

// shard is a goroutine that sends frames to its share of the clients. It alone accesses
// their deliveries, so it holds no lock while it sends.
type shard struct {
	ops  chan func()
	done chan struct{} // closed when run has ended

	deliveries map[*stream][]*delivery
	made       map[*version]madeFrames // of tops; empty while the shard does nothing
	pass       uint64                  // counts the calls of sendPending
	skipped    prometheus.Counter

	bit       uint64 // identifies the shard in a stream
	mu        sync.Mutex
	pending   []*stream     // streams with a new version, oldest first, each once
	callbacks []func()      // to call once pending has been sent
	wake      chan struct{} // pending or callbacks is not empty; holds one
}

func newShard(number int, skipped prometheus.Counter) *shard {
	return &shard{
		ops: make(chan func(), shardOps), made: make(map[*version]madeFrames), done: make(chan struct{}), wake: make(chan struct{}, 1),
		deliveries: make(map[*stream][]*delivery), bit: 1 << number, skipped: skipped,
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
			s.sendPending()
		}
		clear(s.made)
	}
}

// sendPending sends the new versions to the clients. A client gets all that is due for it at once, in one write: also what has
// been published since the pass began. Clients that subscribe or leave do not wait for the others.
func (s *shard) sendPending() {
	updated, then := s.takePending()
	s.pass++
	served := 0
	for _, st := range updated {
		newest := st.version.Load()
		users := s.deliveries[st]
		// From the end: an operation that takes a delivery out puts the last one in its place, whose client has been served.
		for i := len(users) - 1; i >= 0 && newest != nil; i-- {
			d := users[i]
			if d.version == newest.number || d.client.pass == s.pass {
				continue
			}
			d.client.pass = s.pass
			d.client.send()
			if served++; served%clientsPerOps == 0 {
				for range min(len(s.ops), maxOps) {
					(<-s.ops)()
				}
				users = s.deliveries[st]
				i = min(i, len(users))
			}
		}
	}
	for _, do := range then {
		do()
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
		signal(s.wake)
	}
}

// signal wakes the goroutine that waits for a channel of one place.
func signal(wake chan<- struct{}) {
	select {
	case wake <- struct{}{}:
	default:
	}
}

// afterFlush calls do on the shard's goroutine, once all announced versions have been sent.
// It does not wait.
func (s *shard) afterFlush(do func()) {
	s.mu.Lock()
	s.callbacks = append(s.callbacks, do)
	s.mu.Unlock()
	signal(s.wake)
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
