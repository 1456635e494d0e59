package hub

import (
	"fmt"

	"rankcast/hub/view"
	"rankcast/ranking"
)

// MaxAround is the most neighbours on each side that a follower sees.
const MaxAround = view.MaxAround

// Watch says which part of a board a client watches.
type Watch struct {
	Top int // how many of the first entries
	// Me is the member that the client follows, at any rank; "" for none. Around is the
	// number of neighbours on each side, 0 to MaxAround.
	Me     string
	Around int
	// Resume is the state at which the client already has the first Top entries; zero:
	// none. Where the hub knows the difference, it sends that.
	Resume ranking.State
}

// Subscribe subscribes a client to a board. The client gets the first entries at once or as
// soon as they are known, then the place of Me, then the changes. When the period closes, a
// client that was shown the period gets its final entries as a snapshot, and then the
// entries of the period that the name means next.
//
// Subscribe ends an earlier subscription of the client to the same name, replaced, if it is
// not nil. After the first frame of the new subscription, the client gets no frame of the
// old one. Subscribe calls accepted before the first frame; after that it fails only for a client that has left. The subscription
// ends with Unsubscribe or Leave. The error is ErrClosed for a hub that shuts down and for
// a client that has left.
func (h *Hub) Subscribe(c *Client, b ranking.Board, w Watch, replaced *Subscription, accepted func()) (*Subscription, error) {
	sub, err := h.acquire(c, b, w)
	if err != nil {
		return nil, fmt.Errorf("subscribe to board %q: %w", b.Name, err)
	}
	if replaced != nil {
		// After acquire: the hub does not stop the board in between.
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

// Unsubscribe ends sub. No frame of it is sent after Unsubscribe has returned.
func (h *Hub) Unsubscribe(sub *Subscription) {
	var had []*delivery
	sub.client.shard.do(func() { had = sub.detach() })
	h.release(had)
}

// acquire makes the deliveries of a subscription, and starts the board if they are its
// first.
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

// release gives deliveries up, and stops a board or a feed after its last.
func (h *Hub) release(list []*delivery) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range list {
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
			continue // the board has ended already, or has other watchers
		}
		delete(h.boards, b.name)
		h.unwatchInstance(b)
		b.cancel()
		delete(h.unsynced, b)
		h.clearStale()
	}
}
