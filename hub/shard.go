package hub

import (
	"context"
	"slices"
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

	users map[*stream][]*Subscription

	mu    sync.Mutex
	news  []*stream // have a new version, oldest news first
	isNew map[*stream]bool
	wake  chan struct{} // news is not empty; holds one
}

func newShard() *shard {
	return &shard{
		ops: make(chan func(), shardOps), done: make(chan struct{}), wake: make(chan struct{}, 1),
		users: make(map[*stream][]*Subscription), isNew: make(map[*stream]bool),
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
			for _, st := range s.takeNews() {
				for _, sub := range s.users[st] {
					sub.deliver()
				}
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
func (s *shard) announce(streams ...*stream) {
	s.mu.Lock()
	for _, st := range streams {
		if !s.isNew[st] {
			s.isNew[st] = true
			s.news = append(s.news, st)
		}
	}
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *shard) takeNews() []*stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	news := s.news
	s.news = nil
	clear(s.isNew)
	return news
}

// Client is a connection that takes part. Its methods may be called concurrently.
type Client struct {
	conn  Conn
	shard *shard
	subs  []*Subscription // the shard's
	left  bool            // the shard's
}

// Ready says that the connection can take frames again.
func (c *Client) Ready() {
	c.shard.do(func() {
		for _, sub := range c.subs {
			sub.deliver()
		}
	})
}

// Subscription is one client's place in one stream.
type Subscription struct {
	client *Client
	stream *stream
	have   uint64 // version that the client was sent last; the shard's
	at     int    // index among the stream's users; the shard's
}

// join enters sub and sends what there is to show. It reports false for a client
// that has left.
func (sub *Subscription) join() bool {
	c := sub.client
	if c.left {
		return false
	}
	users := c.shard.users[sub.stream]
	sub.at = len(users)
	c.shard.users[sub.stream] = append(users, sub)
	c.subs = append(c.subs, sub)
	sub.deliver()
	return true
}

// leave takes sub out.
func (sub *Subscription) leave() {
	c := sub.client
	users := c.shard.users[sub.stream]
	if sub.at >= len(users) || users[sub.at] != sub {
		return // never joined
	}
	last := len(users) - 1
	users[sub.at] = users[last]
	users[sub.at].at = sub.at
	users[last] = nil
	if last == 0 {
		delete(c.shard.users, sub.stream)
	} else {
		c.shard.users[sub.stream] = users[:last]
	}
	i := slices.Index(c.subs, sub)
	c.subs = slices.Delete(c.subs, i, i+1)
}

// deliver sends the newest version to a client that does not have it.
func (sub *Subscription) deliver() {
	v := sub.stream.version.Load()
	if v == nil || v.number == sub.have {
		return
	}
	if sub.client.conn.Send(v.frame(sub.have)) {
		sub.have = v.number
	}
}
