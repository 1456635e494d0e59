package hub

import (
	"slices"
	"time"
)

// Client is a connection that has joined. Its methods may be called concurrently.
type Client struct {
	conn       Conn
	address    any // of Join
	caller     any // for the large reads: the address, or the client's number
	shard      *shard
	phase      time.Time   // of the first board or feed that it watched; zero: none; guarded by Hub.mu
	deliveries []*delivery // that of the status first; only the shard accesses them, and their fields
	status     delivery    // deliveries[0]
	pass       uint64      // of the shard, in which the client was last sent what was due; only the shard accesses it
	left       bool        // only the shard accesses it
	turnedAway bool        // the connection was not free for a frame of the present send; only the shard accesses it
}

// Ready reports that the connection can take frames again.
func (c *Client) Ready() { c.shard.do(c.send) }

// send sends all that is due for the client, in one write. The status comes last, and is as of the beginning: it may say that
// all boards are current again, and so the frames that make them current come before it. If the connection has turned one of them
// away, its Ready brings all that is left, and the status.
func (c *Client) send() {
	if c.left {
		return
	}
	status := c.status.stream.version.Load()
	c.turnedAway = false
	for _, d := range c.deliveries[1:] {
		d.send()
	}
	if !c.turnedAway {
		c.status.sendVersion(status)
	}
	c.conn.Flush()
}

// free reports whether the connection takes a frame now.
func (c *Client) free() bool { return c.noted(c.conn.Free()) }

// offer passes a frame to the connection. It reports false if the connection has turned it away.
func (c *Client) offer(f *Frame, changed time.Time) bool { return c.noted(c.conn.Send(f, changed)) }

// noted notes the answer of the connection, and returns it.
func (c *Client) noted(taken bool) bool {
	c.turnedAway = c.turnedAway || !taken
	return taken
}

// Subscription is what one client sees of one board or feed.
type Subscription struct {
	client *Client
	top    *delivery // of the board, or of the feed
	me     *delivery // nil where no member is followed
}

// deliveries are those of the subscription, in the order in which frames go out.
func (sub *Subscription) deliveries() []*delivery {
	if sub.me == nil {
		return []*delivery{sub.top}
	}
	return []*delivery{sub.top, sub.me}
}

// attach adds the deliveries to their streams, and sends the newest versions. It returns false for a client that has left.
func (sub *Subscription) attach() bool {
	if sub.client.left {
		return false
	}
	for _, d := range sub.deliveries() {
		d.attach()
	}
	sub.client.send()
	return true
}

// detach removes the deliveries, and returns those that were attached.
func (sub *Subscription) detach() (had []*delivery) {
	for _, d := range sub.deliveries() {
		if d.detach() {
			had = append(had, d)
		}
	}
	return had
}

// delivery is one client's state in one stream.
type delivery struct {
	client        *Client
	stream        *stream
	version       uint64    // the last version that the client was sent; 0: none
	generation    uint64    // of that version
	index         int       // among the shard's deliveries of the stream
	requires      *delivery // must have sent a frame of the same generation first; or nil
	dependent     *delivery // sends its frame again after a full frame of this one; or nil
	unseen        time.Time // of a top: time of the oldest change that the client has not seen; zero: none
	resumeFrom    Position  // what the client brought along; the zero Position: none
	receivedItems uint64    // of a feed: items received when the client was last sent something
	filter        Filter    // of a feed: the items that the client gets; nil: all
	info          []byte    // of a top: Watch.Info until the first frame has been sent
}

// attach adds the delivery to its stream.
func (d *delivery) attach() {
	c := d.client
	users := c.shard.deliveries[d.stream]
	d.index = len(users)
	c.shard.deliveries[d.stream] = append(users, d)
	c.deliveries = append(c.deliveries, d)
}

// detach removes the delivery. It reports whether it was attached.
func (d *delivery) detach() bool {
	c := d.client
	users := c.shard.deliveries[d.stream]
	if d.index >= len(users) || users[d.index] != d {
		return false
	}
	last := len(users) - 1
	users[d.index] = users[last]
	users[d.index].index = d.index
	users[last] = nil
	if last == 0 {
		delete(c.shard.deliveries, d.stream)
	} else {
		c.shard.deliveries[d.stream] = users[:last]
	}
	i := slices.Index(c.deliveries, d)
	c.deliveries = slices.Delete(c.deliveries, i, i+1)
	return true
}

// send sends the newest version, unless the client has it.
func (d *delivery) send() { d.sendVersion(d.stream.version.Load()) }

// sendVersion sends a version, unless the client has it. If the client has a version of
// an earlier period, sendVersion sends the end of that period first. It makes no frame for a
// connection that would not take it.
func (d *delivery) sendVersion(v *version) {
	client := d.client
	if v == nil || v.number == d.version || d.requires != nil && d.requires.generation != v.generation {
		return
	}
	if d.version != 0 {
		d.unseen = earlier(d.unseen, v.changedSince(d.version))
	}
	if !client.free() {
		return
	}
	if d.stream.feed != nil {
		d.sendItems(v)
		return
	}
	if v.end != nil && d.version != 0 && d.version < v.end.number {
		end := snapshotFrame(d.stream.board.name, v.end.publication, d.stream.n)
		if !client.offer(end, time.Time{}) {
			return
		}
		if d.version, d.generation = v.end.number, v.end.generation; !client.free() {
			return
		}
	}
	frame, freeze, again := d.nextFrame(v)
	if freeze && (!client.offer(boardFrame(d.stream.board.name, v.publication), time.Time{}) || !client.free()) {
		return
	}
	if d.info != nil && frame.kind == snapshotType {
		frame = frame.withInfo(d.info)
	}
	if !client.offer(frame, d.unseen) {
		return
	}
	if d.version != 0 && v.number > d.version+1 {
		client.shard.skipped.Add(float64(v.number - d.version - 1))
	}
	d.version, d.generation, d.resumeFrom, d.unseen, d.info = v.number, v.generation, Position{}, time.Time{}, nil
	if again && d.dependent != nil {
		d.dependent.version = 0
		d.dependent.send()
	}
}

// earlier returns the earlier of two times. A zero time means none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// nextFrame is the frame that the client needs: the delta where it is one version behind,
// the difference where it resumes, otherwise the full frame. freeze reports that the client
// needs a board frame before it. again tells the caller to send the me frame once more.
func (d *delivery) nextFrame(v *version) (f *Frame, freeze, again bool) {
	if v.delta != nil && d.version != 0 && d.version+1 == v.number {
		return d.client.shard.deltaFrame(d.stream, v), v.delta.freeze, false
	}
	if d.version == 0 && d.resumeFrom.Life != "" {
		if f = v.publication.resumeFrame(d.stream.board.name, d.stream.n, d.resumeFrom); f != nil {
			return f, v.publication.frozenSeq > d.resumeFrom.Seq, true
		}
	}
	return d.client.shard.fullFrame(d.stream, v), false, true
}

// madeFrames are the frames that a shard has made of one version. Its clients share them.
type madeFrames struct{ delta, full *Frame }

// deltaFrame is the frame for clients that have the version before.
func (s *shard) deltaFrame(st *stream, v *version) *Frame {
	made := s.made[v]
	if made.delta == nil {
		made.delta = st.deltaFrame(v)
		s.keep(v, made)
	}
	return made.delta
}

// fullFrame is the frame for clients that have no version of the stream.
func (s *shard) fullFrame(st *stream, v *version) *Frame {
	if v.publication == nil {
		return v.frame
	}
	made := s.made[v]
	if made.full == nil {
		made.full = st.fullFrame(v)
		s.keep(v, made)
	}
	return made.full
}

// keep keeps the frames of a version until the end of the pass.
func (s *shard) keep(v *version, made madeFrames) {
	if len(s.made) >= maxMade {
		clear(s.made)
	}
	s.made[v] = made
}
