package hub

import (
	"slices"
	"time"

	"rankcast/ranking"
	"rankcast/ranking/feed"
)

// channel is a subscription to the changes of one instance, or of one of its shards. Its boards are the names that
// mean periods of it. Guarded by hub.mu.
type channel struct {
	boards []*board
	link   feedLink
	lost   bool // the feed has lost it, and not subscribed to it since; hub.lost counts these
}

// feedLink says whether the feed delivers the changes of a channel.
type feedLink struct {
	live   bool
	outage int // number of the last outage before it became live
}

// addChannels adds a board to its channels, and returns those that are new to the feed. The caller holds mu. No turn of the board is
// under way, unless it is the caller.
func (h *Hub) addChannels(b *board, shards int) (added []string) {
	b.channels = ranking.ShardNames(b.instance, shards)
	b.links = make([]feedLink, len(b.channels))
	for i, name := range b.channels {
		of := h.channels[name]
		if of == nil {
			added = append(added, name)
			of = &channel{}
			h.channels[name] = of
		}
		of.boards = append(slices.Clone(of.boards), b)
		b.links[i] = of.link
	}
	b.joinLinks()
	return added
}

// removeChannels ends addChannels, and returns the channels that the feed need not deliver any more. The caller holds mu.
func (h *Hub) removeChannels(b *board) (removed []string) {
	for _, name := range b.channels {
		of := h.channels[name]
		of.boards = slices.DeleteFunc(slices.Clone(of.boards), func(other *board) bool { return other == b })
		if len(of.boards) == 0 {
			removed = append(removed, name)
			h.setLost(of, false)
			delete(h.channels, name)
		}
	}
	b.channels = nil
	return removed
}

// shards is the number of shards whose changes the board gets; 0: it has none.
func (b *board) shards() int {
	if len(b.links) == 1 {
		return 0
	}
	return len(b.links)
}

// watchShards makes the feed deliver the changes of another number of shards. The board calls it when a read shows that its definition has
// another number than the one it knows. That is 0 for a board that the node did not know when the first client came.
func (b *board) watchShards(shards int) {
	h := b.hub
	h.mu.Lock()
	var added, removed []string
	if h.boards[b.name] == b { // somebody still watches it
		removed = h.removeChannels(b)
		added = h.addChannels(b, shards)
	}
	h.mu.Unlock()
	for _, name := range added {
		h.feed.Watch(name)
	}
	for _, name := range removed {
		h.feed.Unwatch(name)
	}
	b.resetView()
}

// changeLink notes a change of the links.
func (b *board) changeLink(e linkChanged) {
	for i, name := range ranking.ShardNames(b.instance, b.shards()) {
		if e.channel == "" || e.channel == name {
			b.links[i] = e.feedLink
		}
	}
	if b.joinLinks(); e.live {
		b.refreshProfiles()
	}
}

// joinLinks sets the link to all channels together. Its outage is that of the channel that became live last: the others may have
// been live throughout that outage.
func (b *board) joinLinks() {
	b.link = b.links[0]
	for _, l := range b.links[1:] {
		b.link.live, b.link.outage = b.link.live && l.live, max(b.link.outage, l.outage)
	}
}

// FeedChanges passes a batch to the boards of its channel. A board with too many batches
// waiting misses this one: the gap in seq makes it resync.
func (h *Hub) FeedChanges(c *feed.Changes) {
	h.metrics.changes.Add(float64(len(c.List)))
	for _, b := range h.boardsOf(c.Board) {
		b.post(urgent, func(w *work) {
			if len(w.changes) < boardChanges || c.Received-w.changes[0].Received < boardDelay {
				w.changes = append(w.changes, c)
			}
		})
	}
}

// boardsOf returns the boards of a channel. The caller must not change the list.
func (h *Hub) boardsOf(name string) []*board {
	h.mu.Lock()
	defer h.mu.Unlock()
	if of := h.channels[name]; of != nil {
		return of.boards
	}
	return nil
}

// setLink changes the link of a channel, and returns its boards as boardsOf does.
func (h *Hub) setLink(name string, link feedLink) []*board {
	h.mu.Lock()
	defer h.mu.Unlock()
	of := h.channels[name]
	if of == nil {
		return nil
	}
	of.link = link
	h.setLost(of, !link.live)
	return of.boards
}

// setLost notes whether the feed has lost a channel. The caller holds mu.
func (h *Hub) setLost(of *channel, lost bool) {
	if of.lost == lost {
		return
	}
	if of.lost = lost; lost {
		h.lost++
	} else {
		h.lost--
	}
}

// FeedSubscribed makes the boards of a channel resync: from now on the feed delivers each
// change.
func (h *Hub) FeedSubscribed(name string) {
	link := feedLink{live: true, outage: h.status.lastOutage()}
	for _, b := range h.setLink(name, link) {
		b.postEvent(normal, linkChanged{name, link})
	}
}

// FeedUnsubscribed makes the clients stale until the boards of a channel have been read again.
func (h *Hub) FeedUnsubscribed(name string, asOf time.Time) {
	boards := h.setLink(name, feedLink{})
	h.status.boardsDown(asOf, boards)
	for _, b := range boards {
		b.postEvent(normal, linkChanged{channel: name})
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
	for _, of := range h.channels {
		of.link = feedLink{}
	}
	all := h.unfollow()
	h.mu.Unlock()
	for _, b := range boards {
		all = append(all, &b.mark)
	}
	h.status.feedDown(asOf, all)
	for _, b := range boards {
		b.postEvent(normal, linkChanged{})
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
