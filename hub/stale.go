package hub

import "time"

// fellBehind notes that a board could not be read.
func (h *Hub) fellBehind(b *board) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.boards[b.name] != b {
		return
	}
	h.behind[b] = true
	h.fallStale(time.Now())
}

// caughtUp notes that a board was read and shown.
func (h *Hub) caughtUp(b *board) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if b.outages == h.outages { // else the feed has gone down again since
		delete(h.behind, b)
		h.settle()
	}
}

// feedCaughtUp notes that a feed is heard, and that was shown.
func (h *Hub) feedCaughtUp(f *eventFeed) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if f.live.Load() { // else it has gone down again since
		delete(h.behind, f)
		h.settle()
	}
}

// fallStale tells clients, once, that what they show is as of a time. The caller
// holds mu.
func (h *Hub) fallStale(asOf time.Time) {
	if !h.stale {
		h.stale, h.asOf = true, asOf
		h.tellStatus()
	}
}

// settle ends stale when everything is heard and read. The caller holds mu.
func (h *Hub) settle() {
	if h.stale && h.up && len(h.behind) == 0 {
		h.stale = false
		h.tellStatus()
	}
}

// tellStatus gives the status stream a new version. The caller holds mu.
func (h *Hub) tellStatus() {
	frame := statusFrame(h.stale, h.asOf)
	h.status.put(&version{whole: func() *Frame { return frame }})
	h.announce(h.status)
}
