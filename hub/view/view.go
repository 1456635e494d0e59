package view

import (
	"slices"
	"time"

	"rankcast/ranking"
	"rankcast/ranking/feed"
)

const (
	// topMargin is how many entries a view keeps beyond its size, plus an eighth of the
	// size. Members may leave the top without a read for each of them.
	topMargin = 16
	// MaxBuffering is for how long a view keeps changes while it waits for an answer, by the node's clock: longer than a read may take.
	// An answer that lacks a change which the view has dropped is of no use. A number of changes would not do as the bound: a fast
	// board makes any number before a page arrives. Nor would Redis's clocks: those of two shards differ, and each may be set.
	MaxBuffering = 5 * time.Second
)

// View holds the first entries of one period of a board and the ranks of the followed
// members. It applies changes: a page and all changes after it equal a fresh page.
// It is plain data, for one goroutine at a time.
//
// A new view is invalid. When NeedsPage reports true, the owner calls BeginPage, reads a
// page of PageSize entries and calls ApplyPage. When BeginLookups returns lookups, the
// owner reads them and calls ApplyLookups. The owner passes each change that arrives to
// Apply, also while it reads. When Behind reports true for an answer, the owner keeps the
// answer until Behind reports false.
//
// A page of another period moves the view to that period. Until then the view ignores the
// changes of other periods, except to bring such a page forward.
type View struct {
	size int // how many entries the owner shows

	top
	members memberSet
	moved   []*Member // members whose own score changed, for TakeMoved
	valid   bool      // top and members are the board's at top.state

	received      receivedStates // of the view's period
	receivedOther receivedStates // of the other period that changed last

	buffered      []*feed.Changes                 // while a page or lookups are pending
	dropped       map[shardOfPeriod]ranking.State // after the last batch of each that buffered has lost
	pagePending   bool                            // BeginPage was called, and no answer came
	pageDiscarded bool                            // the pending page will be of no use

	lookups
}

// New returns an invalid view that shows up to size entries.
func New(size int) *View {
	return &View{size: size, members: memberSet{byName: make(map[string]*Member)}}
}

// Resize changes how many entries the view shows.
func (v *View) Resize(n int) { v.size = n }

// PageSize is how many entries the owner reads for a page.
func (v *View) PageSize() int { return v.size + v.margin() }

func (v *View) margin() int { return topMargin + v.size/8 }

// NeedsPage reports whether the owner should read a page now: none is pending, and the view
// is invalid or will soon have too few entries.
func (v *View) NeedsPage() bool {
	low := len(v.entries) < v.size+v.margin()/2 && !v.isComplete()
	return !v.pagePending && (!v.valid || low)
}

// Valid reports whether the view is the board at State.
func (v *View) Valid() bool { return v.valid }

// Covers reports whether the view is valid and has the first n entries.
func (v *View) Covers(n int) bool { return v.valid && (len(v.entries) >= n || v.isComplete()) }

// PagePending reports whether the owner has called BeginPage and has no answer yet.
func (v *View) PagePending() bool { return v.pagePending }

// Invalidate makes the view invalid: the owner has to read it again.
func (v *View) Invalidate() {
	if v.valid {
		v.valid = false
		v.invalidateMembers()
	}
}

// Reset makes the view invalid and drops the buffered changes and the pending answers. The
// owner calls Reset when changes may have been lost.
func (v *View) Reset() {
	v.Invalidate()
	v.CancelPage()
	v.CancelLookups()
	v.received, v.receivedOther = receivedStates{}, receivedStates{}
}

// State is the state of the board that the view shows. It means something only while the
// view is valid.
func (v *View) State() ranking.State { return v.state }

// States returns the states of the shards of the board, as ranking.Head.States does.
func (v *View) States() ranking.States {
	if v.shards == nil {
		return ranking.States{v.state}
	}
	return slices.Clone(v.shards)
}

// Behind reports whether changes that lead to the state of an answer are still to arrive.
func (v *View) Behind(h *ranking.Head) bool {
	for i, s := range h.States() {
		if at := v.stateOf(i); v.valid && at != nil && s.Epoch == at.Epoch && s.Seq > at.Seq {
			return true
		}
	}
	return false
}

// BehindLookups is Behind for an answer to lookups.
func (v *View) BehindLookups(p *ranking.Places) bool {
	for i := range p.ByShard {
		if v.Behind(&p.ByShard[i]) {
			return true
		}
	}
	return v.Behind(&p.Head)
}

// Apply applies a batch of changes. It ignores changes that the page already contained. A
// gap, or a change that contradicts the view, makes the view invalid. Apply reports whether
// the view changed.
func (v *View) Apply(c *feed.Changes) bool {
	own := c.Period == v.period
	if !v.noteReceived(c) {
		// The buffered changes of this period are void.
		if v.pageDiscarded = true; own {
			v.Invalidate()
		}
	}
	v.buffer(c)
	if !v.valid || !own {
		return false
	}
	switch v.continuityOf(c) {
	case included:
		return false
	case gap:
		v.Invalidate()
		return false
	}
	if c.Freeze {
		v.count(c.Shard)
	}
	for _, change := range c.List {
		if !v.applyChange(c.Shard, change, v.PageSize()) || !v.members.apply(change, v.markMoved) || v.shards != nil && !v.placeMoved(&change) {
			v.Invalidate()
			return false
		}
	}
	return true
}

// receivedStates are the states after the last batches that the view received of a period, by shard.
type receivedStates struct {
	period string
	shards ranking.States
}

// noteReceived records a batch. It reports false where the period has gone back, as after a failover to
// a replica that had not received all writes: one subscription never repeats a seq.
func (v *View) noteReceived(c *feed.Changes) (forward bool) {
	last := &v.received
	if c.Period != v.period {
		last = &v.receivedOther
	}
	if c.Period != last.period {
		last.period = c.Period
		clear(last.shards)
	}
	for len(last.shards) <= c.Shard {
		last.shards = append(last.shards, ranking.State{})
	}
	at := &last.shards[c.Shard]
	forward = c.Epoch != at.Epoch || c.Seq > at.Seq
	*at = stateAfter(c)
	return forward
}

// buffer keeps a batch for the pending answers.
func (v *View) buffer(c *feed.Changes) {
	if !v.buffering() {
		return
	}
	if isReplacement(c) {
		// Changes before a replacement lead neither to this state nor to the next.
		v.buffered = slices.DeleteFunc(v.buffered, func(before *feed.Changes) bool { return before.Period == c.Period })
	}
	v.buffered = append(v.buffered, c)
	for oldest := v.buffered[0]; c.Received-oldest.Received > MaxBuffering; oldest = v.buffered[0] {
		if v.dropped == nil {
			v.dropped = make(map[shardOfPeriod]ranking.State)
		}
		v.dropped[shardOfPeriod{oldest.Period, oldest.Shard}] = stateAfter(oldest)
		v.buffered[0] = nil // the array keeps it otherwise
		v.buffered = v.buffered[1:]
	}
}

// shardOfPeriod is a shard of a board in a period.
type shardOfPeriod struct {
	period string
	shard  int
}

// isTooOld reports whether an answer about a period lacks changes that the buffer has lost.
func (v *View) isTooOld(period string, h *ranking.Head) bool {
	for of, at := range v.dropped {
		if of.period != period {
			continue
		}
		states := h.States()
		if of.shard >= len(states) || states[of.shard].Epoch != at.Epoch || states[of.shard].Seq < at.Seq {
			return true
		}
	}
	return false
}

// buffering reports whether an answer is pending that the buffered changes will bring
// forward.
func (v *View) buffering() bool {
	return v.pagePending && !v.pageDiscarded || v.pending.members != nil && !v.pending.discarded
}

// beginBuffering empties the buffer, unless another pending answer needs it.
func (v *View) beginBuffering() {
	if !v.buffering() {
		v.buffered, v.dropped = nil, nil
	}
}

// BeginPage notes that the owner reads a page from now on.
func (v *View) BeginPage() {
	v.beginBuffering()
	v.pagePending, v.pageDiscarded = true, false
}

// CancelPage notes that the page will not arrive.
func (v *View) CancelPage() {
	v.pagePending = false
	v.beginBuffering()
}

// ApplyPage starts the view from a page and brings it forward by the buffered changes. The
// page is the truth, also where its seq is lower than the view's. ApplyPage reports whether
// a view that was valid agreed with the page.
func (v *View) ApplyPage(p ranking.Page) (agreed bool) {
	another := p.Period != v.period
	discarded := v.pageDiscarded || v.isTooOld(p.Period, &p.Head)
	if v.valid && discarded && !another { // the view does not need it
		v.CancelPage()
		return true
	}
	next, valid := newTop(p), !discarded
	for _, c := range v.buffered {
		valid = valid && v.fastForward(&next, c)
	}
	v.CancelPage() // it has arrived, and no other page is pending
	comparable := v.valid && valid && !another && v.state == next.state && slices.Equal(v.shards, next.shards)
	agreed = !comparable || v.agrees(&next)
	if !comparable || !agreed {
		v.replaceTop(next, valid)
	} else {
		v.top = next
		v.locateMembers()
	}
	return agreed
}

// replaceTop starts the view over from a top that differs from the view's.
func (v *View) replaceTop(next top, valid bool) {
	v.Invalidate()
	if next.period != v.period {
		v.received, v.receivedOther = v.receivedOther, v.received
	}
	v.members.scores, v.members.unplaced = newScoreRanks(next.ties), next.shards != nil
	if v.top, v.valid = next, valid; valid {
		v.locateMembers()
		v.beginRecovery()
	}
}

// fastForward brings a top that was read forward by a buffered batch. It reports false for
// a gap or a contradiction.
func (v *View) fastForward(t *top, c *feed.Changes) bool {
	if c.Period != t.period {
		return true
	}
	switch t.continuityOf(c) {
	case included:
		return true
	case gap:
		return false
	}
	if c.Freeze {
		t.count(c.Shard)
	}
	for _, change := range c.List {
		if !t.applyChange(c.Shard, change, v.PageSize()) {
			return false
		}
	}
	return true
}

// Top copies the first entries, n at most.
func (v *View) Top(n int) []ranking.Entry { return v.list(0, min(n, len(v.entries))) }

// EachTopMember calls do for the member of each entry, in order.
func (v *View) EachTopMember(do func(member string)) {
	for _, r := range v.entries {
		do(r.member)
	}
}

// Visible are the members of the entries and the neighbours of the followed members.
func (v *View) Visible() map[string]bool {
	members := make(map[string]bool)
	v.EachTopMember(func(member string) { members[member] = true })
	for _, f := range v.members.byName {
		for _, e := range f.neighbours {
			members[e.Member] = true
		}
	}
	return members
}

// Period is the name of the view's period.
func (v *View) Period() string { return v.period }

// Ends is when the period closes or closed; zero: never.
func (v *View) Ends() time.Time { return v.ends }

// Final reports whether the period has closed, so that the view shows its final result.
func (v *View) Final() bool { return v.final }

// Frozen describes the freeze of the period; nil: the period is not frozen.
func (v *View) Frozen() *ranking.Frozen { return v.frozen }

// MarkFinal makes the view's state the final result of its period. The owner calls it when
// Redis no longer keeps the period.
func (v *View) MarkFinal() { v.final, v.frozen = true, nil }

// Total is how many members the board has.
func (v *View) Total() int64 { return v.total }
