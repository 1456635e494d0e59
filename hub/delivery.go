package hub

import (
	"slices"

	"rankcast/ranking"
)

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

// leave takes the subscription out, and returns the seats that it had.
func (sub *Subscription) leave() (had []*seat) {
	for _, s := range sub.seats() {
		if s.leave() {
			had = append(had, s)
		}
	}
	return had
}

// seat is one client's place in one stream.
type seat struct {
	client *Client
	stream *stream
	have   uint64        // version that the client was sent last; 0 for none
	life   uint64        // of the version that the client was sent last
	at     int           // index among the stream's users
	before *seat         // must have a frame of the same life before this one may; or nil
	after  *seat         // gets its frame anew after each of this one's that is whole; or nil
	resume ranking.State // what the client has from before; none where the epoch is ""
	seen   uint64        // of a feed: items that it had heard of when the client was sent something last
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

// leave takes the seat out. It reports whether it was in.
func (s *seat) leave() bool {
	c := s.client
	users := c.shard.users[s.stream]
	if s.at >= len(users) || users[s.at] != s {
		return false
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
	return true
}

// deliver sends the newest version to a client that does not have it, and before
// it the end of the period of which the client has something older.
func (s *seat) deliver() {
	v := s.stream.version.Load()
	if v == nil || v.number == s.have || s.before != nil && s.before.life != v.life {
		return
	}
	if s.stream.feed != nil {
		s.deliverItems(v)
		return
	}
	if v.end != nil && s.have != 0 && s.have < v.end.number {
		if !s.client.conn.Send(v.end.whole()) {
			return
		}
		s.have, s.life = v.end.number, v.end.life
	}
	frame, again := s.frame(v)
	if !s.client.conn.Send(frame) {
		return
	}
	s.have, s.life, s.resume = v.number, v.life, ranking.State{}
	if again && s.after != nil {
		s.after.have = 0
		s.after.deliver()
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
