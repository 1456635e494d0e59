package hub

import (
	"slices"
	"time"

	"rankcast/ranking/feed"
)

// instance is a subscription to the changes of one instance. Its boards are the names that
// mean periods of it. Guarded by the hub's lock.
type instance struct {
	boards []*board // of this instance
	live   bool     // the feed delivers each change from now on
}

// watchInstance subscribes a board to the changes of its instance. The caller holds mu.
func (h *Hub) watchInstance(b *board) {
	i := h.instances[b.instance]
	if i == nil {
		i = &instance{}
		h.instances[b.instance] = i
		h.feed.Watch(b.instance)
	}
	i.boards = append(i.boards, b)
	if i.live {
		b.events <- feedSubscribed{h.outages} // a new board's channel has room
	}
}

// unwatchInstance ends watchInstance. The caller holds mu.
func (h *Hub) unwatchInstance(b *board) {
	i := h.instances[b.instance]
	i.boards = slices.DeleteFunc(i.boards, func(other *board) bool { return other == b })
	if len(i.boards) == 0 {
		delete(h.instances, b.instance)
		h.feed.Unwatch(b.instance)
	}
}

// FeedChanges passes a batch to the boards of its instance. A board whose channel is full
// misses the batch: the gap in seq makes it resync.
func (h *Hub) FeedChanges(c *feed.Changes) {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := h.instances[c.Board]
	if i == nil {
		return
	}
	for _, b := range i.boards {
		select {
		case b.changes <- c:
		default:
		}
	}
}

// FeedSubscribed makes the boards of an instance resync: from now on the feed delivers each
// change.
func (h *Hub) FeedSubscribed(name string) {
	var boards []*board
	h.mu.Lock()
	if i := h.instances[name]; i != nil {
		i.live = true
		boards = slices.Clone(i.boards)
	}
	outages := h.outages
	h.mu.Unlock()
	for _, b := range boards {
		b.sendEvent(feedSubscribed{outages})
	}
}

// FeedUp notes that the feed is connected. The outage ends once all boards have been read.
func (h *Hub) FeedUp() {
	h.source.ForgetProfiles()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.feedUp = true
	h.clearStale()
}

// FeedDown makes the clients stale. The views stay as they are until they are read again.
func (h *Hub) FeedDown(asOf time.Time) {
	h.mu.Lock()
	h.feedUp = false
	h.outages++
	for _, b := range h.boards {
		h.unsynced[b] = true
	}
	for _, i := range h.instances {
		i.live = false
	}
	for _, f := range h.feeds {
		f.markDown()
		h.unsynced[f] = true
	}
	h.markStale(asOf)
	h.mu.Unlock()
	for _, b := range h.boardList() {
		b.sendEvent(feedDown{})
	}
}
