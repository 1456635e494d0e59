package hub

import (
	"slices"
	"time"

	"rankcast/ranking/feed"
)

// instance is a subscription to the changes of one instance. Its boards are the names that
// mean periods of it. Guarded by hub.mu.
type instance struct {
	boards []*board
	link   feedLink
	lost   bool // the feed has lost it, and not subscribed to it since; hub.lost counts these
}

// FeedChanges passes a batch to the boards of its instance. A board with boardChanges
// waiting misses the batch: the gap in seq makes it resync.
func (h *Hub) FeedChanges(c *feed.Changes) {
	h.metrics.changes.Add(float64(len(c.List)))
	for _, b := range h.boardsOf(c.Board) {
		b.post(urgent, func(w *work) {
			if len(w.changes) < boardChanges {
				w.changes = append(w.changes, c)
			}
		})
	}
}

// boardsOf returns the boards of an instance. The caller must not change the list.
func (h *Hub) boardsOf(name string) []*board {
	h.mu.Lock()
	defer h.mu.Unlock()
	if i := h.instances[name]; i != nil {
		return i.boards
	}
	return nil
}

// setLink changes the link of an instance, and returns its boards as boardsOf does.
func (h *Hub) setLink(name string, link feedLink) []*board {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := h.instances[name]
	if i == nil {
		return nil
	}
	i.link = link
	h.setLost(i, !link.live)
	return i.boards
}

// setLost notes whether the feed has lost an instance. The caller holds mu.
func (h *Hub) setLost(i *instance, lost bool) {
	if i.lost == lost {
		return
	}
	if i.lost = lost; lost {
		h.lost++
	} else {
		h.lost--
	}
}

// FeedSubscribed makes the boards of an instance resync: from now on the feed delivers each
// change.
func (h *Hub) FeedSubscribed(name string) {
	link := feedLink{live: true, outage: h.status.lastOutage()}
	for _, b := range h.setLink(name, link) {
		b.postEvent(normal, link)
	}
}

// FeedUnsubscribed makes the clients stale until the boards of an instance have been read again.
func (h *Hub) FeedUnsubscribed(name string, asOf time.Time) {
	boards := h.setLink(name, feedLink{})
	h.status.boardsDown(asOf, boards)
	for _, b := range boards {
		b.postEvent(normal, feedLink{})
	}
}

// FeedUp notes that the feed is connected. The outage ends once all boards have been read. On a cluster, boards may be
// live already: their profiles are read again.
func (h *Hub) FeedUp() {
	h.source.ForgetProfiles()
	h.status.feedUp()
	for _, b := range h.boardList() {
		b.postEvent(normal, profilesForgotten{})
	}
}

// FeedDown makes the clients stale. The views stay as they are until they are read again.
func (h *Hub) FeedDown(asOf time.Time) {
	h.mu.Lock()
	boards := slices.Clone(h.order)
	for _, i := range h.instances {
		i.link = feedLink{}
	}
	all := h.unfollow()
	h.mu.Unlock()
	for _, b := range boards {
		all = append(all, &b.mark)
	}
	h.status.feedDown(asOf, all)
	for _, b := range boards {
		b.postEvent(normal, feedLink{})
	}
}

// FeedUnfollowed makes the clients stale until the feed is connected again. Boards stay live.
func (h *Hub) FeedUnfollowed(asOf time.Time) {
	h.mu.Lock()
	feeds := h.unfollow()
	h.mu.Unlock()
	h.status.feedDown(asOf, feeds)
}

// unfollow marks all feeds of events as down, and returns their marks. The caller holds mu.
func (h *Hub) unfollow() (marks []*syncMark) {
	for _, f := range h.feeds {
		f.markDown()
		marks = append(marks, &f.mark)
	}
	return marks
}
