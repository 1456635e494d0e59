package hub

import (
	"cmp"
	"errors"
	"fmt"
	"time"

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
	// Resume is the position at which the client already has the first Top entries; zero:
	// none. If it is of the board's present life here, the client gets the difference.
	Resume Position
	// Info is JSON that describes the board. The first frame of the subscription has it as the field info, if that
	// frame is a snapshot. nil: none. The caller must not change it later.
	Info []byte
}

// Subscribe subscribes a client to a board. The client gets the first entries at once or as
// soon as they are known, then the place of Me, then the changes. When the period closes, a
// client that was shown the period gets its final entries as a snapshot, and then the
// entries of the period that the name means next.
//
// Subscribe ends an earlier subscription of the client to the same name, replaced, if it is
// not nil. After the first frame of the new subscription, the client gets no frame of the
// old one. Subscribe calls accepted before the first frame; after that it fails only for a
// client that has left. The subscription ends with Unsubscribe or Leave. The error is ErrClosed
// for a hub that shuts down and for a client that has left. It is ErrTooManyBoards, or
// ErrAddressBoards, where the board would be one too many.
func (h *Hub) Subscribe(c *Client, b ranking.Board, w Watch, replaced *Subscription, accepted func()) (*Subscription, error) {
	var sub *Subscription
	var err error
	h.enter(func() { sub, err = h.acquire(c, b, w) })
	if err != nil {
		return nil, fmt.Errorf("subscribe to board %q: %w", b.Name, err)
	}
	if replaced != nil {
		// After acquire: the hub does not stop the board in between.
		h.Unsubscribe(replaced)
	}
	accepted()
	if err := h.attach(sub); err != nil {
		return nil, fmt.Errorf("subscribe to board %q: %w", b.Name, err)
	}
	return sub, nil
}

// attach begins the frames of a subscription. If the client has left, attach releases the subscription and returns
// ErrClosed.
func (h *Hub) attach(sub *Subscription) error {
	joined := false
	h.enter(func() { sub.client.shard.do(func() { joined = sub.attach() }) })
	if joined {
		return nil
	}
	h.release(sub.deliveries())
	return ErrClosed
}

// Unsubscribe ends sub. No frame of it is sent after Unsubscribe has returned.
func (h *Hub) Unsubscribe(sub *Subscription) {
	h.enter(func() {
		var had []*delivery
		sub.client.shard.do(func() { had = sub.detach() })
		h.release(had)
	})
}

// enter runs a step of a subscription, while others wait for their turn. A crowd that
// subscribes at once thus leaves half of the processors to the changes.
func (h *Hub) enter(step func()) {
	h.entering <- struct{}{}
	defer func() { <-h.entering }()
	step()
}

// ErrTooManyBoards is the error of a subscription to one board more than Config.MaxBoards.
// ErrAddressBoards is that of one board more than the share of an address.
var (
	ErrTooManyBoards = errors.New("the node watches as many boards as it may")
	ErrAddressBoards = errors.New("the node watches as many boards for one address as it may")
)

// acquire makes the deliveries of a subscription, and starts the board if they are its
// first.
func (h *Hub) acquire(c *Client, named ranking.Board, w Watch) (*Subscription, error) {
	b, only, err := h.addWatcher(named, c)
	if err != nil {
		return nil, err
	}
	for _, channel := range only.channels {
		h.feed.Watch(channel)
	}
	h.metrics.subscriptions.Inc()
	if w.Me != "" {
		h.metrics.followers.Inc()
	}
	return b.addDeliveries(c, w), nil
}

// sole says what a watcher alone watches, or alone watched: its board, and channels of the board.
type sole struct {
	board    bool
	channels []string
}

// addWatcher counts a watcher of a board, and makes the board for the first.
func (h *Hub) addWatcher(named ranking.Board, c *Client) (b *board, only sole, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, only, ErrClosed
	}
	if b = h.boards[named.Name]; b == nil {
		if most := h.cfg.MaxBoards; most > 0 && len(h.boards) >= most {
			return nil, only, ErrTooManyBoards
		} else if most > 0 && c.address != nil && h.started[c.caller] >= max(1, most/2) {
			return nil, only, ErrAddressBoards
		}
		only.board = true
		b = newBoard(h, named, cmp.Or(c.phase, time.Now()), c.caller)
		only.channels = h.addChannels(b, named.Definition.Shards)
		h.started[c.caller]++
		b.index = len(h.order)
		h.order = append(h.order, b)
		h.boards[b.name] = b
	}
	b.callers.add(c.caller)
	c.phase = cmp.Or(c.phase, b.phase)
	return b, only, nil
}

// removeWatcher ends addWatcher.
func (h *Hub) removeWatcher(b *board, c *Client) (only sole) {
	h.mu.Lock()
	defer h.mu.Unlock()
	first := b.callers.first()
	left := b.callers.remove(c.caller)
	if h.started[first]--; h.started[first] == 0 {
		delete(h.started, first)
	}
	if left {
		h.started[b.callers.first()]++
		return only
	}
	only.board = true
	delete(h.boards, b.name)
	end := h.order[len(h.order)-1]
	h.order[b.index], end.index = end, b.index
	h.order[len(h.order)-1] = nil
	h.order = h.order[:len(h.order)-1]
	only.channels = h.removeChannels(b)
	return only
}

// release gives deliveries up, and stops a board or a feed after its last.
func (h *Hub) release(list []*delivery) {
	for _, d := range list {
		switch of := d.stream; {
		case of.feed != nil:
			h.releaseFeed(of.feed)
		case of.board != nil:
			h.releaseBoard(d)
		}
	}
}

func (h *Hub) releaseBoard(d *delivery) {
	b := d.stream.board
	b.removeDelivery(d)
	if d.stream.member != "" {
		h.metrics.followers.Dec()
		return // the subscription's delivery of the top counts as its watcher
	}
	h.metrics.subscriptions.Dec()
	only := h.removeWatcher(b, d.client)
	if only.board {
		b.stop()
	}
	for _, channel := range only.channels {
		h.feed.Unwatch(channel)
	}
}
