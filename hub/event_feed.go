package hub

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
)

// eventFeed is a goroutine that publishes the items of one feed. It publishes at most one frame
// an interval, and at most FeedRate items in any second. A frame takes at most half of what
// is left of that second. Items that arrive at once spread over several frames; the feed
// skips items that arrive faster. All clients see the same items: they share one budget and
// one encoded frame.
type eventFeed struct {
	hub    *Hub
	name   string
	ctx    context.Context
	cancel context.CancelFunc
	stream *stream // refs is guarded by hub.mu
	mark   syncMark
	phase  time.Time     // when its slots began, see slotAfter
	empty  *Frame        // the first frame of a client
	wake   chan struct{} // an item or a subscription has arrived; holds one

	live     atomic.Bool   // the feed receives each item from now on
	received atomic.Uint64 // how many items were received

	mu         sync.Mutex
	queued     [][]byte // the newest items not yet published, FeedRate at most
	subscribed bool     // live was set since run last looked

	// Only run accesses the rest.
	published time.Time
	recent    []*itemBatch // batches of the last second
	lastShown uint64       // the number of the last published item, counted as received
}

// itemBatch is what a version of a feed's stream publishes.
type itemBatch struct {
	last    uint64 // the number of its last item, counted as received
	list    [][]byte
	boards  func() []string // that the items are about, see boardsOfItems
	skipped int64           // for a client that has the version before
	at      time.Time
}

// Filter reports whether a client gets the items of a feed about a board. The board is "" where an item names
// none. The hub calls a Filter for each item, from its own goroutines: a Filter MUST NOT block. Its answer may
// change at any time.
type Filter func(board string) bool

// Follow subscribes a client to a feed. The client gets an empty frame once the feed is
// live, then the items as they arrive: at most Config.FeedRate a second. Each frame counts
// the items that were skipped for this client since its last frame. It does not count items
// sent while the feed was down.
//
// With a filter that is not nil, the client gets only the items that the filter accepts. The
// number of skipped items then counts items about any board, because the hub does not keep
// them. A frame without any item for the client is not sent.
//
// Follow calls accepted before the first frame; after that it fails only for a client that
// has left. The caller makes sure that a client follows a feed once at a time. The
// subscription ends with Unsubscribe or Leave. The error is ErrClosed for a hub that shuts
// down and for a client that has left.
func (h *Hub) Follow(c *Client, name string, filter Filter, accepted func()) (*Subscription, error) {
	d, err := h.acquireFeed(c, name)
	if err != nil {
		return nil, fmt.Errorf("follow feed %q: %w", name, err)
	}
	d.filter = filter
	accepted()
	sub := &Subscription{client: c, top: d}
	if err := h.attach(sub); err != nil {
		return nil, fmt.Errorf("follow feed %q: %w", name, err)
	}
	return sub, nil
}

// Feeds is the number of followed feeds.
func (h *Hub) Feeds() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.feeds)
}

// acquireFeed makes a delivery of a feed, and starts the feed if it is the first.
func (h *Hub) acquireFeed(c *Client, name string) (*delivery, error) {
	f, first, err := h.addFollower(c, name)
	if err != nil {
		return nil, err
	}
	if first {
		h.status.begin(&f.mark)
		h.feed.Follow(name)
	}
	h.metrics.subscriptions.Inc()
	f.stream.shards.Or(c.shard.bit)
	return &delivery{client: c, stream: f.stream}, nil
}

// addFollower counts a client of a feed, and starts the feed for the first.
func (h *Hub) addFollower(c *Client, name string) (f *eventFeed, first bool, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, false, ErrClosed
	}
	if f = h.feeds[name]; f == nil {
		first = true
		f = &eventFeed{hub: h, name: name, empty: itemsFrame(name, nil, 0), wake: make(chan struct{}, 1)}
		f.stream = &stream{feed: f}
		f.phase = cmp.Or(c.phase, time.Now())
		f.ctx, f.cancel = context.WithCancel(h.ctx)
		h.feeds[name] = f
		h.running.Go(f.run)
	}
	f.stream.refs++
	c.phase = cmp.Or(c.phase, f.phase)
	return f, first, nil
}

// releaseFeed ends addFollower, and the feed after its last client.
func (h *Hub) releaseFeed(f *eventFeed) {
	h.metrics.subscriptions.Dec()
	h.mu.Lock()
	f.stream.refs--
	last := f.stream.refs == 0
	if last {
		delete(h.feeds, f.name)
	}
	h.mu.Unlock()
	if last {
		f.cancel()
		h.feed.Unfollow(f.name)
		h.status.end(&f.mark)
	}
}

// feedOf is the feed of a name; nil if no client follows it.
func (h *Hub) feedOf(name string) *eventFeed {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.feeds[name]
}

// FeedFollowed starts the frames of a feed.
func (h *Hub) FeedFollowed(name string) {
	if f := h.feedOf(name); f != nil {
		f.markLive()
	}
}

// FeedItems passes items to the goroutine of their feed.
func (h *Hub) FeedItems(name string, items [][]byte) {
	if f := h.feedOf(name); f != nil {
		f.add(items)
	}
}

// markLive notes that the feed receives each item from now on.
func (f *eventFeed) markLive() {
	f.live.Store(true) // before run publishes to the clients that wait for it
	f.mu.Lock()
	f.subscribed = true
	f.mu.Unlock()
	signal(f.wake)
}

// markDown notes that the feed misses items from now on. New clients wait.
func (f *eventFeed) markDown() { f.live.Store(false) }

func (f *eventFeed) add(items [][]byte) {
	f.mu.Lock()
	f.received.Add(uint64(len(items)))
	f.queued = append(f.queued, items...)
	if more := len(f.queued) - f.hub.cfg.FeedRate; more > 0 {
		f.queued = slices.Delete(f.queued, 0, more)
	}
	f.mu.Unlock()
	signal(f.wake)
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

// step publishes what is due. It returns the time until more is due; 0: only after another
// item.
func (f *eventFeed) step(now time.Time) (wait time.Duration) {
	f.mu.Lock()
	began, any := f.subscribed, len(f.queued) > 0
	f.subscribed = false
	f.mu.Unlock()
	if began {
		f.setVersion(&version{})                  // clients without a frame get the empty one
		f.hub.status.synced(&f.mark, f.live.Load) // it may have gone down again
	}
	if !any {
		return 0
	}
	f.recent = slices.DeleteFunc(f.recent, func(i *itemBatch) bool { return now.Sub(i.at) >= time.Second })
	left := f.hub.cfg.FeedRate
	for _, i := range f.recent {
		left -= len(i.list)
	}
	if wait := slotAfter(f.phase, f.published, f.hub.cfg.Interval).Sub(now); wait > 0 {
		return wait
	}
	if left <= 0 {
		return f.recent[0].at.Add(time.Second).Sub(now)
	}
	f.mu.Lock()
	room := min((left+1)/2, len(f.queued))
	is := &itemBatch{list: slices.Clone(f.queued[:room]), at: now}
	f.queued = slices.Delete(f.queued, 0, room)
	rest := len(f.queued)
	is.last = f.received.Load() - uint64(rest)
	f.mu.Unlock()
	is.boards = sync.OnceValue(func() []string { return boardsOfItems(is.list) })
	is.skipped = int64(is.last-f.lastShown) - int64(room)
	f.setVersion(&version{batch: is, frame: itemsFrame(f.name, is.list, is.skipped)})
	f.recent = append(f.recent, is)
	f.published, f.lastShown = now, is.last
	if rest > 0 {
		return slotAfter(f.phase, now, f.hub.cfg.Interval).Sub(now)
	}
	return 0
}

func (f *eventFeed) setVersion(v *version) {
	f.stream.setVersion(v)
	f.hub.announce(f.stream)
}

// sendItems sends the newest version of a feed, unless the client has it: the shared frame,
// or a frame of its own where the client sees other items, or has missed others.
func (s *delivery) sendItems(v *version) {
	f := s.stream.feed
	switch {
	case s.version == 0:
		if seen := f.received.Load(); f.live.Load() && s.client.offer(f.empty, time.Time{}) {
			s.version, s.receivedItems = v.number, seen
		}
	case v.batch == nil:
		s.version = v.number
	default:
		since := int64(v.batch.last) - int64(s.receivedItems) // items received since the client's last frame
		if since <= 0 {
			s.version = v.number // the client came after all of them
			return
		}
		all := int64(len(v.batch.list))
		list, skipped := v.batch.filtered(s.filter, int(max(0, all-since))), max(0, since-all)
		if len(list) == 0 { // the next frame counts what was skipped
			s.version, s.receivedItems = v.number, v.batch.last-uint64(skipped)
			return
		}
		frame := v.frame
		if skipped != v.batch.skipped || int64(len(list)) < all {
			frame = itemsFrame(f.name, list, skipped)
		}
		if s.client.offer(frame, time.Time{}) {
			s.version, s.receivedItems = v.number, v.batch.last
		}
	}
}

// filtered returns the items from an index on that a filter accepts; nil accepts all.
func (i *itemBatch) filtered(filter Filter, from int) (list [][]byte) {
	if filter == nil {
		return i.list[from:]
	}
	for at, board := range i.boards() {
		if at >= from && filter(board) {
			list = append(list, i.list[at])
		}
	}
	return list
}

// boardsOfItems decodes the boards that the items of a feed are about, which those of the feed
// "periods" name; "" for another item.
func boardsOfItems(list [][]byte) []string {
	boards := make([]string, len(list))
	for i, item := range list {
		var about struct {
			Data struct {
				Board string `json:"board"`
			} `json:"data"`
		}
		if json.Unmarshal(item, &about) == nil {
			boards[i] = about.Data.Board
		}
	}
	return boards
}

// itemsFrame encodes items of a feed, and the number of skipped items.
func itemsFrame(name string, list [][]byte, skipped int64) *Frame {
	size := headRoom + 64 + len(name)
	for _, item := range list {
		size += len(item) + 1
	}
	b := make([]byte, headRoom, size)
	b = append(b, `{"type":"feed","feed":`...)
	b = appendString(b, name)
	b = append(b, `,"items":[`...)
	for i, item := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, item...)
	}
	b = append(b, `],"skipped":`...)
	b = strconv.AppendInt(b, skipped, 10)
	return sealFrame(append(b, '}')).as("feed", Position{})
}
