package hub

import (
	"context"
	"slices"
	"sync"

	"rankcast/ranking"
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

	mu    sync.Mutex
	news  []*stream // have a new version, oldest news first
	isNew map[*stream]bool
	wake  chan struct{} // news is not empty; holds one
}

func newShard() *shard {
	return &shard{
		ops: make(chan func(), shardOps), done: make(chan struct{}), wake: make(chan struct{}, 1),
		users: make(map[*stream][]*seat), isNew: make(map[*stream]bool),
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
				for _, seat := range s.users[st] {
					seat.deliver()
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
	seats []*seat // the shard's, as is all of a seat
	left  bool    // the shard's
}

// Ready says that the connection can take frames again.
func (c *Client) Ready() {
	c.shard.do(func() {
		for _, seat := range c.seats {
			seat.deliver()
		}
	})
}

// Subscription is what one client sees of one board.
type Subscription struct {
	client *Client
	top    *seat
	me     *seat // nil where no member is followed
}

// seats are the subscription's, in the order in which frames go out.
func (sub *Subscription) seats() []*seat {
	if sub.me == nil {
		return []*seat{sub.top}
	}
	return []*seat{sub.top, sub.me}
}

// join enters what the subscription shows. It reports false for a client that has
// left.
func (sub *Subscription) join() bool {
	for _, s := range sub.seats() {
		if !s.join() {
			return false
		}
	}
	return true
}

func (sub *Subscription) leave() {
	for _, s := range sub.seats() {
		s.leave()
	}
}

// seat is one client's place in one stream.
type seat struct {
	client *Client
	stream *stream
	have   uint64        // version that the client was sent last; 0 for none
	at     int           // index among the stream's users
	behind *seat         // must have its first frame before this one may; or nil
	follow *seat         // gets its frame anew after each that is whole; or nil
	resume ranking.State // what the client has from before; none where the epoch is ""
}

// join enters the seat and sends what there is to show. It reports false for a
// client that has left.
func (s *seat) join() bool {
	c := s.client
	if c.left {
		return false
	}
	users := c.shard.users[s.stream]
	s.at = len(users)
	c.shard.users[s.stream] = append(users, s)
	c.seats = append(c.seats, s)
	s.deliver()
	return true
}

// leave takes the seat out.
func (s *seat) leave() {
	c := s.client
	users := c.shard.users[s.stream]
	if s.at >= len(users) || users[s.at] != s {
		return // never joined
	}
	last := len(users) - 1
	users[s.at] = users[last]
	users[s.at].at = s.at
	users[last] = nil
	if last == 0 {
		delete(c.shard.users, s.stream)
	} else {
		c.shard.users[s.stream] = users[:last]
	}
	i := slices.Index(c.seats, s)
	c.seats = slices.Delete(c.seats, i, i+1)
}

// deliver sends the newest version to a client that does not have it.
func (s *seat) deliver() {
	v := s.stream.version.Load()
	if v == nil || v.number == s.have || s.behind != nil && s.behind.have == 0 {
		return
	}
	frame, again := s.frame(v)
	if !s.client.conn.Send(frame) {
		return
	}
	s.have, s.resume = v.number, ranking.State{}
	if again && s.follow != nil {
		s.follow.have = 0
		s.follow.deliver()
	}
}

// frame is what the client needs: the shared delta where it is one version
// behind, what differs from what it has from before, or all; again says that its
// own place goes out once more.
func (s *seat) frame(v *version) (f *Frame, again bool) {
	if v.delta != nil && s.have != 0 && s.have+1 == v.number {
		return v.delta, false
	}
	if s.have == 0 && s.resume.Epoch != "" {
		if f = v.shown.resumed(s.stream.board, s.stream.n, s.resume); f != nil {
			return f, true
		}
	}
	return v.whole(), true
}
