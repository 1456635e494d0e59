package hub

import (
	"context"
	"time"

	"rankcast/ranking"
)

// checkPosition is where a view is.
type checkPosition struct {
	period string // the period, by its qualified name; "" where none is known
	ranking.State
}

// seqChecked is what a seq check found.
type seqChecked struct {
	redis  ranking.BoardState // where the period is
	before checkPosition      // where the view was before that was asked
}

// runSeqChecks compares, once a tick, where all views are with where Redis is: a last
// message that was lost shows in no other way.
func (h *Hub) runSeqChecks(ctx context.Context) {
	tick := time.NewTicker(h.cfg.CheckInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		boards := h.boardList()
		found := make([]seqChecked, len(boards))
		var names []string
		for i, b := range boards {
			if found[i].before = *b.position.Load(); found[i].before.period != "" {
				names = append(names, found[i].before.period)
			}
		}
		var states []ranking.BoardState
		if len(names) > 0 {
			states = h.source.States(ctx, names)
		}
		for i, b := range boards {
			if found[i].before.period != "" {
				found[i].redis, states = states[0], states[1:]
			}
			b.sendEvent(found[i])
		}
	}
}

// checkSeq doubts the view where Redis has gone on without it: Redis was seen
// ahead at the last check, and the view is still not there.
func (b *board) checkSeq(c seqChecked) {
	if !b.view.Valid() || c.before.period != b.period {
		return // it is being read anew already, or is of another period by now
	}
	if c.redis.Err != nil {
		b.hub.markUnsynced(b)
		b.dropPage()        // it may be from before Redis went
		b.view.Invalidate() // and one that can be read ends that
		return
	}
	at := b.view.State()
	reached := at.Epoch == c.redis.Epoch && at.Seq >= c.redis.Seq
	lost := b.redisAhead != nil && !(at.Epoch == b.redisAhead.Epoch && at.Seq >= b.redisAhead.Seq)
	// The view knew of more than there is: Redis has failed over or lost data.
	back := c.before.Epoch == c.redis.Epoch && c.before.Seq > c.redis.Seq
	b.redisAhead = nil
	switch {
	case back || !reached && lost:
		b.hub.log.Warn("view is not where Redis is, reading it anew", "board", b.name, "view", at, "redis", c.redis.State)
		b.view.Invalidate()
	case !reached:
		b.redisAhead = &c.redis.State
	}
}

// storePosition tells the next check where the view is.
func (b *board) storePosition() {
	if is := (checkPosition{b.period, b.view.State()}); *b.position.Load() != is {
		b.position.Store(&is)
	}
}
