package hub

import "time"

// markUnsynced notes that a board could not be read.
func (h *Hub) markUnsynced(b *board) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.boards[b.name] != b {
		return
	}
	h.unsynced[b] = true
	h.markStale(time.Now())
}

// markSynced notes that a board was read and published.
func (h *Hub) markSynced(b *board) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if b.outages == h.outages { // otherwise the feed has gone down again
		delete(h.unsynced, b)
		h.clearStale()
	}
}

// markFeedSynced notes that a feed is subscribed to.
func (h *Hub) markFeedSynced(f *eventFeed) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if f.live.Load() { // otherwise the feed has gone down again
		delete(h.unsynced, f)
		h.clearStale()
	}
}

// markStale tells the clients, once, that their boards are as of a time. The caller holds
// mu.
func (h *Hub) markStale(asOf time.Time) {
	if !h.stale {
		h.stale, h.staleSince = true, asOf
		h.publishStatus()
	}
}

// clearStale tells the clients that their boards are current, once everything is read and
// subscribed to. The caller holds mu.
func (h *Hub) clearStale() {
	if h.stale && h.feedUp && len(h.unsynced) == 0 {
		h.stale = false
		h.publishStatus()
	}
}

// publishStatus gives the status stream a new version. The caller holds mu.
func (h *Hub) publishStatus() {
	frame := statusFrame(h.stale, h.staleSince)
	h.status.setVersion(&version{full: func() *Frame { return frame }})
	h.announce(h.status)
}
