package hub

import (
	"slices"
	"time"

	"rankcast/ranking/feed"
)

// instance is what changes are heard of: any number of names may mean periods of
// it. Guarded by the hub's lock.
type instance struct {
	boards []*board // of these names
	heard  bool     // each change is told from now on
}

// watch has a board hear the changes of its instance. The caller holds mu.
func (h *Hub) watch(b *board) {
	i := h.instances[b.instance]
	if i == nil {
		i = &instance{}
		h.instances[b.instance] = i
		h.feed.Watch(b.instance)
	}
	i.boards = append(i.boards, b)
	if i.heard {
		b.events <- subscribed{h.outages} // a new board's channel has room
	}
}

// unwatch ends watch. The caller holds mu.
func (h *Hub) unwatch(b *board) {
	i := h.instances[b.instance]
	i.boards = slices.DeleteFunc(i.boards, func(other *board) bool { return other == b })
	if len(i.boards) == 0 {
		delete(h.instances, b.instance)
		h.feed.Unwatch(b.instance)
	}
}

// FeedChanges passes changes on to the goroutines of the boards whose instance
// changed. One that is too far behind misses them; the gap in seq makes it read
// the board anew.
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

// FeedSubscribed has the boards of an instance read: what changes from now on will
// be heard.
func (h *Hub) FeedSubscribed(name string) {
	var boards []*board
	h.mu.Lock()
	if i := h.instances[name]; i != nil {
		i.heard = true
		boards = slices.Clone(i.boards)
	}
	outages := h.outages
	h.mu.Unlock()
	for _, b := range boards {
		b.tell(subscribed{outages})
	}
}

// FeedUp is the first half of coming back; the second is to read all boards.
func (h *Hub) FeedUp() {
	h.source.ForgetProfiles()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.up = true
	h.settle()
}

// FeedDown tells the clients. The views stay as they are until they are read anew.
func (h *Hub) FeedDown(asOf time.Time) {
	h.mu.Lock()
	h.up = false
	h.outages++
	for _, b := range h.boards {
		h.behind[b] = true
	}
	for _, i := range h.instances {
		i.heard = false
	}
	for _, f := range h.feeds {
		f.unheard()
		h.behind[f] = true
	}
	h.fallStale(asOf)
	h.mu.Unlock()
	for _, b := range h.watched() {
		b.tell(unheard{})
	}
}
