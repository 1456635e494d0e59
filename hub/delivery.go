package hub

import (
	"slices"

	"rankcast/ranking"
)

// Client is a connection that takes part. Its methods may be called concurrently.
type Client struct {
	conn       Conn
	shard      *shard
	deliveries []*delivery // the shard's, as is all of a seat
	left       bool        // the shard's
}

// Ready says that the connection can take frames again.
func (c *Client) Ready() {
	c.shard.do(func() {
		for _, seat := range c.deliveries {
			seat.send()
		}
	})
}

// Subscription is what one client sees of one board.
type Subscription struct {
	client *Client
	top    *delivery
	me     *delivery // nil where no member is followed
}

// deliveries are the subscription's, in the order in which frames go out.
func (sub *Subscription) deliveries() []*delivery {
	if sub.me == nil {
		return []*delivery{sub.top}
	}
	return []*delivery{sub.top, sub.me}
}

// attach enters what the subscription shows. It reports false for a client that has
// left.
func (sub *Subscription) attach() bool {
	for _, s := range sub.deliveries() {
		if !s.attach() {
			return false
		}
	}
	return true
}

// detach takes the subscription out, and returns the seats that it had.
func (sub *Subscription) detach() (had []*delivery) {
	for _, s := range sub.deliveries() {
		if s.detach() {
			had = append(had, s)
		}
	}
	return had
}

// delivery is one client's place in one stream.
type delivery struct {
	client        *Client
	stream        *stream
	version       uint64        // version that the client was sent last; 0 for none
	generation    uint64        // of the version that the client was sent last
	index         int           // index among the stream's users
	requires      *delivery     // must have a frame of the same life before this one may; or nil
	dependent     *delivery     // gets its frame anew after each of this one's that is whole; or nil
	resumeFrom    ranking.State // what the client has from before; none where the epoch is ""
	receivedItems uint64        // of a feed: items that it had heard of when the client was sent something last
}

// attach enters the seat and sends what there is to show. It reports false for a
// client that has left.
func (s *delivery) attach() bool {
	c := s.client
	if c.left {
		return false
	}
	users := c.shard.deliveries[s.stream]
	s.index = len(users)
	c.shard.deliveries[s.stream] = append(users, s)
	c.deliveries = append(c.deliveries, s)
	s.send()
	return true
}

// detach takes the seat out. It reports whether it was in.
func (s *delivery) detach() bool {
	c := s.client
	users := c.shard.deliveries[s.stream]
	if s.index >= len(users) || users[s.index] != s {
		return false
	}
	last := len(users) - 1
	users[s.index] = users[last]
	users[s.index].index = s.index
	users[last] = nil
	if last == 0 {
		delete(c.shard.deliveries, s.stream)
	} else {
		c.shard.deliveries[s.stream] = users[:last]
	}
	i := slices.Index(c.deliveries, s)
	c.deliveries = slices.Delete(c.deliveries, i, i+1)
	return true
}

// send sends the newest version to a client that does not have it, and before
// it the end of the period of which the client has something older.
func (s *delivery) send() {
	v := s.stream.version.Load()
	if v == nil || v.number == s.version || s.requires != nil && s.requires.generation != v.generation {
		return
	}
	if s.stream.feed != nil {
		s.sendItems(v)
		return
	}
	if v.end != nil && s.version != 0 && s.version < v.end.number {
		if !s.client.conn.Send(v.end.full()) {
			return
		}
		s.version, s.generation = v.end.number, v.end.generation
	}
	frame, again := s.nextFrame(v)
	if !s.client.conn.Send(frame) {
		return
	}
	s.version, s.generation, s.resumeFrom = v.number, v.generation, ranking.State{}
	if again && s.dependent != nil {
		s.dependent.version = 0
		s.dependent.send()
	}
}

// nextFrame is what the client needs: the shared delta where it is one version
// behind, what differs from what it has from before, or all; again says that its
// own place goes out once more.
func (s *delivery) nextFrame(v *version) (f *Frame, again bool) {
	if v.delta != nil && s.version != 0 && s.version+1 == v.number {
		return v.delta, false
	}
	if s.version == 0 && s.resumeFrom.Epoch != "" {
		if f = v.publication.resumeFrame(s.stream.board, s.stream.n, s.resumeFrom); f != nil {
			return f, true
		}
	}
	return v.full(), true
}
