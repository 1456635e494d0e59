package view

import (
	"slices"

	"rankcast/ranking"
	"rankcast/ranking/sortkey"
)

// lookups holds the followed members that a view has to look up, and those that it has
// found.
type lookups struct {
	queue   []*Member // in the order of their requests
	pending struct {  // the lookups that the owner reads
		members   []*Member // nil: none are pending
		requests  []ranking.Lookup
		from      ranking.States // of the view, at BeginLookups
		discarded bool           // the answer will be of no use
	}
	found       []Found
	unrecovered int // how many members are recovering
}

// Found is a followed member whose place became known.
type Found struct {
	*Member
	// AsOf is the standing at the moment of the lookup, where the neighbours have changed
	// since; otherwise nil.
	AsOf *Standing
}

// TakeFound returns the members that became known since the last call.
func (v *View) TakeFound() []Found {
	found := v.found
	v.found = nil
	return found
}

func (v *View) markRecovered(m *Member) {
	if m.recovering {
		m.recovering = false
		v.unrecovered--
	}
}

// invalidateMembers makes all followed members unknown.
func (v *View) invalidateMembers() {
	for _, m := range v.members.byName {
		m.known, m.onBoard, m.neighboursStale, m.queued, m.sampled = false, false, true, false, false
	}
	v.members.positions.clear()
	v.members.scores.clear()
	v.queue, v.found, v.pending.discarded = nil, nil, true
	v.TakeMoved()
}

// locateMembers makes the members known that are among the entries, and queues the others.
func (v *View) locateMembers() {
	if len(v.members.byName) == 0 {
		return
	}
	at := make(map[string]int, len(v.entries))
	for i, r := range v.entries {
		at[r.member] = i
	}
	for _, m := range v.members.byName {
		if !v.valid {
			return
		}
		if !m.known {
			i, there := at[m.name]
			if !there {
				i = -1
			}
			v.locate(m, i)
		}
		v.enqueue(m)
	}
}

// beginRecovery marks the members that are not known as recovering.
func (v *View) beginRecovery() {
	for _, m := range v.members.byName {
		if !m.known && !m.recovering {
			m.recovering = true
			v.unrecovered++
		}
	}
}

// locate makes a member known where the entries suffice: i is its index among them, or -1.
func (v *View) locate(m *Member, i int) {
	if i >= 0 {
		v.insert(m, v.entries[i].key, v.placementAt(i))
	} else if v.isComplete() {
		m.known = true
	}
	if m.known {
		v.markRecovered(m)
		v.found = append(v.found, Found{Member: m})
	}
}

// insert places a member, and makes the view invalid where the placement contradicts it.
func (v *View) insert(m *Member, key sortkey.Key, at Placement) {
	if !v.members.insert(m, key, at) {
		v.Invalidate()
	}
}

// Sample queues lookups of up to n known members, so that ApplyLookups compares them.
func (v *View) Sample(n int) {
	for _, m := range v.members.byName { // the order of a map is random
		if n--; n < 0 {
			return
		}
		m.sampled = m.known
		v.enqueue(m)
	}
}

// RequestLookup queues a lookup of a member whose place or neighbours the view does not
// know.
func (v *View) RequestLookup(m *Member) { v.enqueue(m) }

func (v *View) enqueue(m *Member) {
	if v.valid && !m.queued && v.needsLookup(m) {
		m.queued = true
		v.queue = append(v.queue, m)
	}
}

// trimQueue drops members that are no longer followed, once these are the majority.
func (v *View) trimQueue() {
	if len(v.queue) > 2*len(v.members.byName)+ranking.MaxLookups {
		v.queue = slices.DeleteFunc(v.queue, func(m *Member) bool { return v.members.byName[m.name] != m })
	}
}

// needsLookup reports whether a lookup of a member would tell anything.
func (v *View) needsLookup(m *Member) bool {
	return !m.known || m.sampled || m.onBoard && m.around > 0 && m.neighboursStale && v.Neighbours(m, v.members.placement(m)) == nil
}

// LookupsQueued reports whether BeginLookups may return lookups.
func (v *View) LookupsQueued() bool { return v.valid && v.pending.members == nil && len(v.queue) > 0 }

// BeginLookups returns the lookups that the owner should read now, in one call. It returns
// nil where there are none, and while others are pending. ApplyLookups or CancelLookups
// follows.
func (v *View) BeginLookups() []ranking.Lookup {
	if !v.LookupsQueued() {
		return nil
	}
	var members []*Member
	var requests []ranking.Lookup
	rows := 0
	for len(v.queue) > 0 && len(requests) < ranking.MaxLookups {
		m := v.queue[0]
		if v.members.byName[m.name] == m && v.needsLookup(m) {
			l := ranking.Lookup{Member: m.name, Around: m.around}
			if rows += l.Rows(); rows > ranking.MaxLookupRows {
				break
			}
			members, requests = append(members, m), append(requests, l)
		}
		m.queued = false
		v.queue = v.queue[1:]
	}
	if requests != nil {
		v.beginBuffering()
		v.pending.members, v.pending.requests, v.pending.from, v.pending.discarded = members, requests, v.States(), false
	}
	return requests
}

// AwaitsUnknown reports whether a pending lookup is of a member whose place is not known.
func (v *View) AwaitsUnknown() bool {
	return slices.ContainsFunc(v.pending.members, func(m *Member) bool { return !m.known })
}

// CancelLookups notes that the answer to BeginLookups will not arrive.
func (v *View) CancelLookups() {
	members := v.pending.members
	v.pending.members, v.pending.requests = nil, nil
	v.beginBuffering()
	for _, m := range members {
		if v.members.byName[m.name] == m {
			v.enqueue(m)
		}
	}
}

// ApplyLookups applies the answer to BeginLookups, brought forward by the buffered changes.
// It reports whether the members that were known agreed with the answer.
func (v *View) ApplyLookups(p ranking.Places) (agreed bool) {
	look := v.pending
	heads := p.ByShard
	if heads == nil {
		heads = []ranking.Head{p.Head}
	}
	for i := range heads {
		switch h := &heads[i]; {
		case look.discarded || !v.valid || v.isTooOld(v.period, h):
			v.CancelLookups()
			return true
		case !v.follows(h, look.from):
			v.CancelLookups()
			v.Invalidate() // Redis is at another state
			return true
		}
	}
	forwarded := make([]*forwardedLookups, len(heads))
	for i := range heads {
		if forwarded[i] = v.fastForwardLookups(look.requests, &p, &heads[i], i); forwarded[i] == nil {
			break
		}
	}
	v.pending.members = nil // the answer has arrived
	v.beginBuffering()
	for i, then := range forwarded {
		if then == nil {
			v.Invalidate()
			return true
		}
		if agreed := v.applyForwarded(then, &p, &heads[i]); !agreed || !v.valid {
			return agreed
		}
	}
	return true
}

// follows reports whether the states of an answer are of the view's lives, and not before those from which the view has buffered. A shard
// may have got its first member since.
func (v *View) follows(h *ranking.Head, from ranking.States) bool {
	states := h.States()
	for i, s := range states {
		at := v.stateOf(i)
		if at == nil || i >= len(from) || s != from[i] && (s.Epoch != at.Epoch || s.Seq < from[i].Seq) {
			return false
		}
	}
	return len(states) == len(from)
}

// applyForwarded applies an answer that was brought forward. h is the head with the states at which its members have their places.
func (v *View) applyForwarded(then *forwardedLookups, p *ranking.Places, h *ranking.Head) (agreed bool) {
	for i, t := range then.inOrder {
		m, place := v.members.byName[t.name], p.List[then.indexes[i]]
		if m == nil {
			continue // no longer followed
		}
		asOf := func() *Standing { return &Standing{Seq: h.Seq, Total: h.Total, Place: place} }
		if !t.known { // it has moved since, on a board with shards
			if !m.known && place.Entry.Rank > 0 {
				standing := asOf()
				if t.around < m.around {
					standing.Around = nil // the owner shows more of them by now
				}
				v.found = append(v.found, Found{m, standing})
				v.markRecovered(m) // it may move during each look-up
			}
			m.sampled = false
			continue // it is among the moved, or queued since the owner took these
		}
		var at Placement
		if t.onBoard {
			at = then.placement(t)
		}
		if m.known {
			if m.onBoard != t.onBoard || m.onBoard && (m.key != t.key || v.members.placement(m) != at) {
				v.Invalidate()
				return false
			}
		} else if m.known = true; t.onBoard {
			if v.insert(m, t.key, at); !v.valid {
				return true
			}
		}
		m.sampled = false
		v.markRecovered(m)
		found := Found{Member: m}
		if t.around > 0 && t.around >= m.around { // otherwise the queue has it, for more neighbours
			if !v.storeLookedUp(m, t, then) {
				v.Invalidate()
				return false
			}
			m.neighboursVersion++
			if t.neighboursStale && place.Entry.Rank > 0 {
				found.AsOf = asOf()
			}
		}
		v.found = append(v.found, found)
	}
	return true
}

// storeLookedUp stores the neighbours that were read for a member. It reports false where
// their ranks contradict the view.
func (v *View) storeLookedUp(m, t *Member, then *forwardedLookups) bool {
	if t.neighboursStale {
		v.members.expireNeighbours(m)
		m.neighbours = t.neighbours
		return true
	}
	near := t.neighbours
	if then.scores != nil {
		near = t.neighboursAt(then.positions.rank(t), then.scores)
	}
	ok := v.members.storeNeighbours(m, near)
	v.members.trimNeighbours(m)
	return ok
}

// forwardedLookups is an answer to lookups, brought forward to the view's state. With shards it has the members of one of them, whose
// places are as of one state of the board.
type forwardedLookups struct {
	memberSet
	inOrder []*Member // in the order of the requests
	indexes []int     // of these in the answer
}

// fastForwardLookups brings the places of an answer that are as of a head forward by the buffered changes: those of the members of a shard.
// It returns nil where they contradict each other.
func (v *View) fastForwardLookups(requests []ranking.Lookup, p *ranking.Places, h *ranking.Head, shard int) *forwardedLookups {
	b := &forwardedLookups{memberSet: memberSet{byName: make(map[string]*Member, len(requests)), scores: newScoreRanks(v.ties),
		unplaced: v.shards != nil}}
	for i, l := range requests {
		if v.shards != nil && ranking.ShardOf(l.Member, len(v.shards)) != shard {
			continue
		}
		place := p.List[i]
		m := &Member{name: l.Member, around: l.Around, known: true, neighboursStale: true}
		b.byName[m.name] = m
		b.inOrder, b.indexes = append(b.inOrder, m), append(b.indexes, i)
		if place.Entry.Rank == 0 {
			continue
		}
		at := Placement{place.Entry.Rank, place.Position}
		if !b.insert(m, place.Entry.Key, at) || !b.storeNeighbours(m, place.Around) {
			return nil
		}
		b.maxAround = max(b.maxAround, int64(l.Around))
	}
	if len(b.inOrder) == 0 {
		return b
	}
	states := h.States()
	for _, c := range v.buffered {
		if c.Period != v.period {
			continue
		}
		for i, change := range c.List {
			if c.Seq+int64(i) > states[c.Shard].Seq && !b.apply(change, func(*Member) {}) {
				return nil
			}
		}
	}
	return b
}
