package hub

import (
	"fmt"

	"rankcast/hub/view"
	"rankcast/ranking"
)

// MaxAround is the most neighbours on each side that a follower is shown.
const MaxAround = view.MaxAround

// Watch is what a client wants to see of a board.
type Watch struct {
	Top int // entries from the first on
	// Me is a member whose rank is told, wherever it is; "" for none. Around is how
	// many neighbours on each side are shown with it, 0 to MaxAround.
	Me     string
	Around int
	// Resume is the state at which the client has the first Top entries already,
	// if it has: then it is sent what differs, where that is known. None: zero.
	Resume ranking.State
}

// Subscribe shows a client what it wants to see of a board: the first entries at
// once or as soon as they are known, then the place of Me, then what changes. It
// takes the place of an earlier subscription of that client to the same name, or
// nil: none of that one's frames follow on the new ones. accepted is called
// before the first frame; only for a client that has left can the call still
// fail then. When the period that is shown closes, all who were shown anything of
// it get its last entries as a snapshot, and then what the name means from then
// on. The subscription ends with Unsubscribe or Leave. ErrClosed is
// returned by a hub that shuts down and for a client that has left.
func (h *Hub) Subscribe(c *Client, b ranking.Board, w Watch, replaced *Subscription, accepted func()) (*Subscription, error) {
	sub, err := h.acquire(c, b, w)
	if err != nil {
		return nil, fmt.Errorf("subscribe to board %q: %w", b.Name, err)
	}
	if replaced != nil {
		// After acquire, so that the board's view is not given up in between.
		h.Unsubscribe(replaced)
	}
	accepted()
	joined := false
	c.shard.do(func() { joined = sub.attach() })
	if !joined {
		h.release(sub.deliveries())
		return nil, fmt.Errorf("subscribe to board %q: %w", b.Name, ErrClosed)
	}
	return sub, nil
}

// Unsubscribe ends sub: no frame of it is sent after Unsubscribe has returned.
func (h *Hub) Unsubscribe(sub *Subscription) {
	var had []*delivery
	sub.client.shard.do(func() { had = sub.detach() })
	h.release(had)
}

// acquire takes seats in the streams that a client wants to see, and starts the
// board if they are its first.
func (h *Hub) acquire(c *Client, named ranking.Board, w Watch) (*Subscription, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, ErrClosed
	}
	b := h.boards[named.Name]
	if b == nil {
		b = newBoard(h, named)
		h.boards[b.name] = b
		if h.stale {
			h.unsynced[b] = true
		}
		h.watchInstance(b)
		h.running.Go(b.run)
	}
	sub := &Subscription{client: c, top: &delivery{client: c, stream: b.topStream(w.Top), resumeFrom: w.Resume}}
	if w.Me != "" {
		sub.me = &delivery{client: c, stream: b.memberStream(w.Me, w.Around), requires: sub.top}
		sub.top.dependent = sub.me
	}
	for _, s := range sub.deliveries() {
		s.stream.refs++
		s.stream.shards.Or(c.shard.bit)
	}
	return sub, nil
}

// release gives seats up, and stops a board or a feed after its last.
func (h *Hub) release(seats []*delivery) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range seats {
		if s.stream == h.status {
			continue
		}
		if s.stream.refs--; s.stream.refs > 0 {
			continue
		}
		if f := s.stream.feed; f != nil {
			h.stopFeed(f)
			continue
		}
		b := h.boards[s.stream.board]
		if b == nil || b.removeStream(s.stream) {
			continue // it has ended already, or others still watch it
		}
		delete(h.boards, b.name)
		h.unwatchInstance(b)
		b.cancel()
		delete(h.unsynced, b)
		h.clearStale()
	}
}
