package hub

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// eventFeed is a goroutine that shows what happens in one feed: at most one frame an
// interval, and FeedRate items in any second, of which a frame may have half of what
// is left: so what comes at once is spread over some frames, and what comes faster
// than that is left out. All who follow it see the same items, so that one budget
// serves them all and a frame is encoded once.
type eventFeed struct {
	hub    *Hub
	name   string
	ctx    context.Context
	cancel context.CancelFunc
	stream *stream
	empty  *Frame        // what comes first
	wake   chan struct{} // something was heard; holds one

	live atomic.Bool   // each item is told from now on
	seen atomic.Uint64 // items heard

	mu      sync.Mutex
	waiting [][]byte // the newest that were heard and not shown, FeedRate at most
	began   bool     // it has become live, and run has not looked since

	// The rest belongs to run.
	published time.Time
	past      []*items // those shown in the last second
	last      uint64   // the number of the item that was shown last, by seen
}

// items is what a version of a feed's stream shows.
type items struct {
	last    uint64 // the number of the last of them, by the feed's seen
	list    [][]byte
	skipped int64 // for who has the version before
	at      time.Time
}

// FeedSubscription is what one client sees of one feed.
type FeedSubscription struct{ seat *seat }

// Follow shows a client what happens in a feed: an empty frame as soon as it is
// heard, then its items as they come, at most Config.FeedRate a second, with a
// count of those that were left out for this client since its last frame. (What
// happened while the feed was down nobody can count.) accepted is called before
// the first frame; only for a client that has left can the call still fail then.
// A client follows a feed once at a time: that is the caller's to see to. The
// subscription ends with Unfollow or Leave. ErrClosed is returned by a hub that
// shuts down and for a client that has left.
func (h *Hub) Follow(c *Client, name string, accepted func()) (*FeedSubscription, error) {
	s, err := h.acquireFeed(c, name)
	if err != nil {
		return nil, fmt.Errorf("follow feed %q: %w", name, err)
	}
	accepted()
	joined := false
	c.shard.do(func() { joined = s.join() })
	if !joined {
		h.release([]*seat{s})
		return nil, fmt.Errorf("follow feed %q: %w", name, ErrClosed)
	}
	return &FeedSubscription{s}, nil
}

// Unfollow ends sub: no frame of it is sent after Unfollow has returned.
func (h *Hub) Unfollow(sub *FeedSubscription) {
	left := false
	sub.seat.client.shard.do(func() { left = sub.seat.leave() })
	if left {
		h.release([]*seat{sub.seat})
	}
}

// Feeds is how many feeds are followed.
func (h *Hub) Feeds() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.feeds)
}

// acquireFeed takes a seat in a feed, and starts the feed if it is the first.
func (h *Hub) acquireFeed(c *Client, name string) (*seat, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, ErrClosed
	}
	f := h.feeds[name]
	if f == nil {
		f = &eventFeed{hub: h, name: name, empty: itemsFrame(name, nil, 0), wake: make(chan struct{}, 1)}
		f.stream = &stream{feed: f}
		f.ctx, f.cancel = context.WithCancel(h.ctx)
		h.feeds[name] = f
		if h.stale {
			h.behind[f] = true
		}
		h.running.Go(f.run)
		h.feed.Follow(name)
	}
	f.stream.users++
	f.stream.shards.Or(c.shard.bit)
	return &seat{client: c, stream: f.stream}, nil
}

// stopFeed ends a feed that nobody follows. The caller holds mu.
func (h *Hub) stopFeed(f *eventFeed) {
	delete(h.feeds, f.name)
	h.feed.Unfollow(f.name)
	f.cancel()
	delete(h.behind, f)
	h.settle()
}

// FeedFollowed starts the frames of a feed.
func (h *Hub) FeedFollowed(name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if f := h.feeds[name]; f != nil {
		f.heard()
	}
}

// FeedItems shows the items of a feed.
func (h *Hub) FeedItems(name string, items [][]byte) {
	h.mu.Lock()
	f := h.feeds[name]
	h.mu.Unlock()
	if f != nil {
		f.take(items)
	}
}

func (f *eventFeed) poke() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// heard notes that each item is told from now on.
func (f *eventFeed) heard() {
	f.live.Store(true) // before run tells those who wait for it
	f.mu.Lock()
	f.began = true
	f.mu.Unlock()
	f.poke()
}

// unheard notes that items are not told any more. Who comes meanwhile waits.
func (f *eventFeed) unheard() { f.live.Store(false) }

func (f *eventFeed) take(items [][]byte) {
	f.mu.Lock()
	f.seen.Add(uint64(len(items)))
	f.waiting = append(f.waiting, items...)
	if more := len(f.waiting) - f.hub.cfg.FeedRate; more > 0 {
		f.waiting = slices.Delete(f.waiting, 0, more)
	}
	f.mu.Unlock()
	f.poke()
}

func (f *eventFeed) run() {
	defer f.cancel()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-f.ctx.Done():
			return
		case <-f.wake:
		case <-timer.C:
		}
		if wait := f.step(time.Now()); wait > 0 {
			timer.Reset(wait)
		}
	}
}

// step shows what has come, once that is due, and says after what time to look
// again; 0: only when something is heard.
func (f *eventFeed) step(now time.Time) (wait time.Duration) {
	f.mu.Lock()
	began, any := f.began, len(f.waiting) > 0
	f.began = false
	f.mu.Unlock()
	if began {
		f.put(&version{}) // whoever has none yet gets the empty frame
		f.hub.feedCaughtUp(f)
	}
	if !any {
		return 0
	}
	f.past = slices.DeleteFunc(f.past, func(i *items) bool { return now.Sub(i.at) >= time.Second })
	left := f.hub.cfg.FeedRate
	for _, i := range f.past {
		left -= len(i.list)
	}
	interval := f.hub.cfg.Interval
	if wait := f.published.Add(interval).Sub(now); wait > 0 {
		return wait
	}
	if left <= 0 {
		return f.past[0].at.Add(time.Second).Sub(now)
	}
	f.mu.Lock()
	room := min((left+1)/2, len(f.waiting))
	is := &items{list: slices.Clone(f.waiting[:room]), at: now}
	f.waiting = slices.Delete(f.waiting, 0, room)
	rest := len(f.waiting)
	is.last = f.seen.Load() - uint64(rest)
	f.mu.Unlock()
	is.skipped = int64(is.last-f.last) - int64(room)
	f.put(&version{items: is, delta: itemsFrame(f.name, is.list, is.skipped)})
	f.past = append(f.past, is)
	f.published, f.last = now, is.last
	if rest > 0 {
		return interval
	}
	return 0
}

func (f *eventFeed) put(v *version) {
	f.stream.put(v)
	f.hub.announce(f.stream)
}

// deliverItems sends the newest version of a feed to a client that does not have
// it: the shared frame, or one of its own where that would not count right.
func (s *seat) deliverItems(v *version) {
	f := s.stream.feed
	switch {
	case s.have == 0:
		if seen := f.seen.Load(); f.live.Load() && s.client.conn.Send(f.empty) {
			s.have, s.seen = v.number, seen
		}
	case v.items == nil:
		s.have = v.number
	default:
		frame, list := v.delta, v.items.list
		since := int64(v.items.last) - int64(s.seen) // what it has not seen up to here
		if since <= 0 {
			s.have = v.number // all of it happened before it came
			return
		}
		if skipped := max(0, since-int64(len(list))); skipped != v.items.skipped || since < int64(len(list)) {
			frame = itemsFrame(f.name, list[max(0, len(list)-int(since)):], skipped)
		}
		if s.client.conn.Send(frame) {
			s.have, s.seen = v.number, v.items.last
		}
	}
}

// itemsFrame shows items of a feed, and how many were left out.
func itemsFrame(feed string, list [][]byte, skipped int64) *Frame {
	size := headRoom + 64 + len(feed)
	for _, item := range list {
		size += len(item) + 1
	}
	b := make([]byte, headRoom, size)
	b = append(b, `{"type":"feed","feed":`...)
	b = appendString(b, feed)
	b = append(b, `,"items":[`...)
	for i, item := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, item...)
	}
	b = append(b, `],"skipped":`...)
	b = strconv.AppendInt(b, skipped, 10)
	return newFrame(append(b, '}'))
}
