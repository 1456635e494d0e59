package hub

import (
	"context"
	"time"

	"rankcast/ranking"
)

// whereabouts is where a view is.
type whereabouts struct {
	of string // the period, by its qualified name; "" where none is known
	ranking.State
}

// checked is what a seq check found.
type checked struct {
	redis  ranking.BoardState // where the period is
	before whereabouts        // where the view was before that was asked
}

// check compares, once a tick, where all views are with where Redis is: a last
// message that was lost shows in no other way.
func (h *Hub) check(ctx context.Context) {
	tick := time.NewTicker(h.cfg.CheckInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		boards := h.watched()
		found := make([]checked, len(boards))
		var names []string
		for i, b := range boards {
			if found[i].before = *b.at.Load(); found[i].before.of != "" {
				names = append(names, found[i].before.of)
			}
		}
		var states []ranking.BoardState
		if len(names) > 0 {
			states = h.source.States(ctx, names)
		}
		for i, b := range boards {
			if found[i].before.of != "" {
				found[i].redis, states = states[0], states[1:]
			}
			b.tell(found[i])
		}
	}
}

// check doubts the view where Redis has gone on without it: Redis was seen
// ahead at the last check, and the view is still not there.
func (b *board) check(c checked) {
	if !b.view.Valid() || c.before.of != b.of {
		return // it is being read anew already, or is of another period by now
	}
	if c.redis.Err != nil {
		b.hub.fellBehind(b)
		b.forgetPage()      // it may be from before Redis went
		b.view.Invalidate() // and one that can be read ends that
		return
	}
	at := b.view.State()
	reached := at.Epoch == c.redis.Epoch && at.Seq >= c.redis.Seq
	lost := b.doubted != nil && !(at.Epoch == b.doubted.Epoch && at.Seq >= b.doubted.Seq)
	// The view knew of more than there is: Redis has failed over or lost data.
	back := c.before.Epoch == c.redis.Epoch && c.before.Seq > c.redis.Seq
	b.doubted = nil
	switch {
	case back || !reached && lost:
		b.hub.log.Warn("view is not where Redis is, reading it anew", "board", b.name, "view", at, "redis", c.redis.State)
		b.view.Invalidate()
	case !reached:
		b.doubted = &c.redis.State
	}
}

// noteWhereabouts tells the next check where the view is.
func (b *board) noteWhereabouts() {
	if is := (whereabouts{b.of, b.view.State()}); *b.at.Load() != is {
		b.at.Store(&is)
	}
}
