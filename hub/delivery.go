package hub

import (
	"slices"

	"rankcast/ranking"
)

// Client is a connection that has joined. Its methods may be called concurrently.
type Client struct {
	conn       Conn
	shard      *shard
	deliveries []*delivery // only the shard accesses them, and their fields
	left       bool        // only the shard accesses it
}

// Ready reports that the connection can take frames again.
func (c *Client) Ready() {
	c.shard.do(func() {
		for _, d := range c.deliveries {
			d.send()
		}
	})
}

// Subscription is what one client sees of one board.
type Subscription struct {
	client *Client
	top    *delivery
	me     *delivery // nil where no member is followed
}

// deliveries are those of the subscription, in the order in which frames go out.
func (sub *Subscription) deliveries() []*delivery {
	if sub.me == nil {
		return []*delivery{sub.top}
	}
	return []*delivery{sub.top, sub.me}
}

// attach adds the deliveries to their streams. It returns false for a client that has left.
func (sub *Subscription) attach() bool {
	for _, s := range sub.deliveries() {
		if !s.attach() {
			return false
		}
	}
	return true
}

// detach removes the deliveries, and returns those that were attached.
func (sub *Subscription) detach() (had []*delivery) {
	for _, s := range sub.deliveries() {
		if s.detach() {
			had = append(had, s)
		}
	}
	return had
}

// delivery is one client's state in one stream.
type delivery struct {
	client        *Client
	stream        *stream
	version       uint64        // the last version that the client was sent; 0: none
	generation    uint64        // of that version
	index         int           // among the shard's deliveries of the stream
	requires      *delivery     // must have sent a frame of the same generation first; or nil
	dependent     *delivery     // sends its frame again after a full frame of this one; or nil
	resumeFrom    ranking.State // the state that the client brought along; an empty epoch: none
	receivedItems uint64        // of a feed: items received when the client was last sent something
}

// attach adds the delivery to its stream and sends the newest version. It returns false for
// a client that has left.
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

// detach removes the delivery. It reports whether it was attached.
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

// send sends the newest version, unless the client has it. If the client has a version of
// an earlier period, send sends the end of that period first. It makes no frame for a
// connection that would not take it.
func (s *delivery) send() {
	v, conn := s.stream.version.Load(), s.client.conn
	if v == nil || v.number == s.version || s.requires != nil && s.requires.generation != v.generation || !conn.Free() {
		return
	}
	if s.stream.feed != nil {
		s.sendItems(v)
		return
	}
	if v.end != nil && s.version != 0 && s.version < v.end.number {
		end := snapshotFrame(s.stream.board.name, v.end.publication, s.stream.n)
		if !conn.Send(end) {
			return
		}
		if s.version, s.generation = v.end.number, v.end.generation; !conn.Free() {
			return
		}
	}
	frame, again := s.nextFrame(v)
	if !conn.Send(frame) {
		return
	}
	s.version, s.generation, s.resumeFrom = v.number, v.generation, ranking.State{}
	if again && s.dependent != nil {
		s.dependent.version = 0
		s.dependent.send()
	}
}

// nextFrame is the frame that the client needs: the delta where it is one version behind,
// the difference where it resumes, otherwise the full frame. again tells the caller to send
// the me frame once more.
func (s *delivery) nextFrame(v *version) (f *Frame, again bool) {
	recent := &s.client.shard.recent
	if v.delta != nil && s.version != 0 && s.version+1 == v.number {
		return recent.frame(v, &recent.delta, s.stream.deltaFrame), false
	}
	if s.version == 0 && s.resumeFrom.Epoch != "" {
		if f = v.publication.resumeFrame(s.stream.board.name, s.stream.n, s.resumeFrom); f != nil {
			return f, true
		}
	}
	return recent.frame(v, &recent.full, s.stream.fullFrame), true
}

// recentFrames holds the frames that a shard has made of one version, while it sends that
// version to its clients.
type recentFrames struct {
	of          *version
	delta, full *Frame
}

// frame returns a frame of a version, which is in one of the fields or made now.
func (r *recentFrames) frame(v *version, field **Frame, make func(*version) *Frame) *Frame {
	if r.of != v {
		*r = recentFrames{of: v}
	}
	if *field == nil {
		*field = make(v)
	}
	return *field
}
