package hub

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"rankcast/ranking"
	"rankcast/ranking/definition"
)

const (
	// checkPiece is the most boards whose states the node reads in one call.
	checkPiece = 256
	// checkPause is the least time between two such calls. A node checks 5,000 boards a second
	// at most; a seq check of more boards takes longer than CheckInterval.
	checkPause = 50 * time.Millisecond
	// missingChecks is about how many boards that do not exist are read again in one seq check.
	missingChecks = 256
	// clockTolerance is how far Redis's clock may move beside that of this process, between two seq
	// checks, before it counts as set. The estimate after a slow answer is late by as long as a call
	// may take, two seconds.
	clockTolerance = 5 * time.Second
	// clockJitter spreads the reads of boards with periods after Redis's clock was set.
	clockJitter = time.Second
)

// checkPosition is the position of a view for the next seq check. The view is not compared
// where the period is "".
type checkPosition struct {
	period   string             // the qualified name of the period
	missing  bool               // the board does not exist
	kind     string             // of the members
	columns  definition.Columns // of the scores
	profiled bool               // the board shows profiles of the kind
	ranking.State
	shards ranking.States // of a board with shards
}

// reaches reports whether the view had got to what a check found.
func (p *checkPosition) reaches(found *ranking.BoardState) bool {
	if found.Shards != nil || p.shards != nil {
		return p.shards.Reaches(found.Shards)
	}
	return p.Epoch == found.Epoch && p.Seq >= found.Seq
}

// isAhead reports whether the view had got beyond what Redis holds: Redis has failed over or lost data.
func (p *checkPosition) isAhead(found *ranking.BoardState) bool {
	if len(p.shards) != len(found.Shards) {
		return false
	}
	for i, at := range p.shards {
		if at.Epoch == found.Shards[i].Epoch && at.Seq > found.Shards[i].Seq {
			return true
		}
	}
	return p.shards == nil && p.Epoch == found.Epoch && p.Seq > found.Seq
}

// seqChecked is the result of a seq check.
type seqChecked struct {
	began  time.Time          // when the check began to read Redis; zero: it did not
	redis  ranking.BoardState // the state of the period in Redis
	before checkPosition      // the view's position before the check read Redis
}

// differs reports whether the board has to act on the result.
func (h *Hub) differs(c seqChecked) bool {
	if c.redis.Err != nil || c.redis.State != c.before.State || !slices.Equal(c.redis.Shards, c.before.shards) {
		return true
	}
	kind := cmp.Or(c.redis.Kind, c.before.kind)
	return c.hasOtherColumns() || kind != c.before.kind || kind != "" && h.source.Profiled(kind) != c.before.profiled
}

// hasOtherColumns reports whether the definition of the board has other columns than the view shows.
func (c *seqChecked) hasOtherColumns() bool {
	return c.redis.Kind != "" && !c.redis.Columns.Equal(c.before.columns)
}

// runSeqChecks compares, once a CheckInterval, the states of all views with Redis. Nothing
// else finds the loss of the last message.
func (h *Hub) runSeqChecks(ctx context.Context) {
	tick := time.NewTicker(h.cfg.CheckInterval)
	defer tick.Stop()
	missing := 0 // boards that do not exist, in the last check
	clock := redisClock{source: h.source}
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if clock.wasSet() {
				for _, b := range h.boardList() {
					b.postEvent(normal, clockSet{})
				}
			}
			missing = h.checkAll(ctx, missing)
		}
	}
}

// redisClock watches Redis's clock, which decides when a period ends. One goroutine uses it.
type redisClock struct {
	source     Source
	was, local time.Time // at the last call of wasSet; the zero time: Redis's clock was not known
}

// wasSet reports whether Redis's clock was set since the last call.
func (c *redisClock) wasSet() bool {
	is, now := c.source.Now(), time.Now()
	moved := is.Sub(c.was) - now.Sub(c.local)
	set := !c.was.IsZero() && !is.IsZero() && moved.Abs() > clockTolerance
	c.was, c.local = is, now
	return set
}

// checkAll is one seq check, spread over the interval. It returns how many boards do not
// exist; missing is that number in the check before.
func (h *Hub) checkAll(ctx context.Context, missing int) (found int) {
	pause := time.NewTimer(0)
	defer pause.Stop()
	left := h.Watched()
	spread := h.cfg.CheckInterval / time.Duration(left/checkPiece+1)
	for left > 0 {
		// From the last to the first: when a board ends, the last one takes its place.
		boards := h.boardsBefore(left)
		found += h.check(ctx, boards, float64(missingChecks)/float64(max(1, missing)))
		if left -= checkPiece; left <= 0 {
			break
		}
		pause.Reset(max(checkPause, spread))
		select {
		case <-ctx.Done():
			return found
		case <-pause.C:
		}
	}
	return found
}

// boardsBefore returns up to checkPiece boards that stand before an index of the order.
func (h *Hub) boardsBefore(end int) []*board {
	h.mu.Lock()
	defer h.mu.Unlock()
	end = min(end, len(h.order))
	return slices.Clone(h.order[max(0, end-checkPiece):end])
}

// check compares boards with Redis. It passes on only what a board has to act on. share is
// the probability with which a board that does not exist is read again. check returns the
// number of those boards.
func (h *Hub) check(ctx context.Context, boards []*board, share float64) (missing int) {
	var checked []*board
	var names []string
	var before []checkPosition
	for _, b := range boards {
		b.mu.Lock()
		at := b.position
		b.mu.Unlock()
		if at.missing {
			if missing++; rand.Float64() < share {
				b.postEvent(normal, seqChecked{before: at})
			}
		} else if at.period != "" {
			checked, names, before = append(checked, b), append(names, at.period), append(before, at)
		}
	}
	if len(names) == 0 {
		return missing
	}
	began := time.Now()
	var current []*syncMark
	for i, state := range h.source.States(ctx, names) {
		c := seqChecked{began, state, before[i]}
		if h.differs(c) {
			checked[i].postEvent(normal, c)
		} else {
			current = append(current, &checked[i].mark)
		}
	}
	h.status.confirm(began, current...)
	return missing
}

// noteResync logs that a view was not at the state of Redis: at once, and then once a minute how often that was.
func (h *Hub) noteResync(of ...any) {
	h.resyncs.Add(1)
	h.resyncLog.Do(func() {
		h.log.Warn("the view is not at the state of Redis; the node resyncs the board", append(of, "resyncs", h.resyncs.Swap(0))...)
	})
}

// checkSeq makes the view invalid where Redis is ahead for a whole interval: the last check
// saw a state that the view still has not reached.
func (b *board) checkSeq(c seqChecked) {
	if !b.view.Valid() || c.before.period != b.period {
		return // the board is being read already, or is of another period by now
	}
	if c.redis.Err != nil {
		b.markUnsynced()
		b.countResync(resyncUnreadable)
		b.view.Invalidate() // the page that ends the outage makes the view valid again
		return
	}
	at := b.currentPosition()
	reached := func(c seqChecked) bool { return at.reaches(&c.redis) }
	for _, past := range []*seqChecked{b.redisAhead, &c} {
		if past != nil && reached(*past) {
			b.hub.status.confirm(past.began, &b.mark)
		}
	}
	lost := b.redisAhead != nil && !reached(*b.redisAhead)
	back := c.before.isAhead(&c.redis)
	b.redisAhead = nil
	switch {
	case back || !reached(c) && lost || c.hasOtherColumns():
		b.countResync(resyncSeqCheck)
		b.hub.noteResync("board", b.name, "view", at.State, "redis", c.redis.State)
		b.view.Invalidate()
	case !reached(c):
		b.redisAhead = &c
	}
}

// currentPosition is the view's position for the next seq check.
func (b *board) currentPosition() checkPosition {
	at := checkPosition{missing: b.missing, kind: b.kind, columns: b.columns, profiled: b.profiles.byMember != nil}
	if b.view.Valid() {
		at.period, at.State = b.period, b.view.State()
		if b.shards() > 0 {
			at.shards = b.view.States()
		}
	}
	return at
}
