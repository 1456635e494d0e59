package hub

import (
	"context"
	"time"

	"rankcast/ranking"
)

// checkPosition is the position of a view for the next seq check.
type checkPosition struct {
	period string // the qualified name of the period; "": not known
	ranking.State
}

// seqChecked is the result of a seq check.
type seqChecked struct {
	redis  ranking.BoardState // the state of the period in Redis
	before checkPosition      // the view's position before the check read Redis
}

// runSeqChecks compares, once a CheckInterval, the states of all views with Redis. Nothing
// else finds the loss of the last message.
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

// checkSeq makes the view invalid where Redis is ahead for a whole interval: the last check
// saw a state that the view still has not reached.
func (b *board) checkSeq(c seqChecked) {
	if !b.view.Valid() || c.before.period != b.period {
		return // the board is being read already, or is of another period by now
	}
	if c.redis.Err != nil {
		b.hub.markUnsynced(b)
		b.dropPage()        // the page may be older than the failure
		b.view.Invalidate() // the page that ends the outage makes the view valid again
		return
	}
	at := b.view.State()
	reached := at.Epoch == c.redis.Epoch && at.Seq >= c.redis.Seq
	lost := b.redisAhead != nil && !(at.Epoch == b.redisAhead.Epoch && at.Seq >= b.redisAhead.Seq)
	// The view was ahead of Redis: Redis has failed over or lost data.
	back := c.before.Epoch == c.redis.Epoch && c.before.Seq > c.redis.Seq
	b.redisAhead = nil
	switch {
	case back || !reached && lost:
		b.hub.log.Warn("the view is not at the state of Redis; the node resyncs the board", "board", b.name, "view", at, "redis", c.redis.State)
		b.view.Invalidate()
	case !reached:
		b.redisAhead = &c.redis.State
	}
}

// storePosition stores the view's position for the next check.
func (b *board) storePosition() {
	if is := (checkPosition{b.period, b.view.State()}); *b.position.Load() != is {
		b.position.Store(&is)
	}
}
