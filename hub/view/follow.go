package view

import (
	"math"
	"slices"

	"rankcast/ranking"
	"rankcast/ranking/feed"
	"rankcast/ranking/sortkey"
)

// MaxAround is the most neighbours on each side that a follower sees.
const MaxAround = 20

// Member is a followed member. All methods of View that take a Member require one of the
// same View.
type Member struct {
	name string

	// known: onBoard and key are as of the view's state. Otherwise the view has to look the
	// member up.
	known   bool
	onBoard bool        // the member is on the board
	key     sortkey.Key // while onBoard

	around int // how many neighbours on each side the owner shows
	// the last read: neighbours in order, and the member itself. The ranks are old, or, with ties, the ranks of the last notification
	neighbours        []ranking.Entry
	neighboursVersion int  // counts the reads of neighbours
	neighboursStale   bool // neighbours differ from those on the board

	notifiedRank    int64 // the rank of the last notification
	notifiedVersion int   // the neighboursVersion of the last notification; -1: the neighbours came from the top

	queued     bool // is in View.queue
	sampled    bool // a verification looks the member up, though it is known
	recovering bool // was followed when the view last started over, and is not known yet
	moved      bool // is in View.moved
}

// Name is the member's name.
func (m *Member) Name() string { return m.name }

// Around is how many neighbours on each side the owner shows.
func (m *Member) Around() int { return m.around }

// Known reports whether the view knows the member's place.
func (m *Member) Known() bool { return m.known }

func (m *Member) orderKey() OrderKey { return OrderKey{m.key, m.name} }

// invalidateNeighbours notes that another member came to p or left p.
func (m *Member) invalidateNeighbours(p OrderKey) {
	if len(m.neighbours) == 0 || m.neighboursStale {
		return
	}
	self := slices.IndexFunc(m.neighbours, func(e ranking.Entry) bool { return e.Member == m.name })
	// A change beyond the neighbours that the owner shows does not matter.
	beyond := p.before(orderKeyOf(m.neighbours[0])) && self >= m.around ||
		orderKeyOf(m.neighbours[len(m.neighbours)-1]).before(p) && len(m.neighbours)-1-self >= m.around
	m.neighboursStale = !beyond
}

// neighboursAt copies the neighbours, with the ranks that follow from the member's
// position, or from the scores where the board has ties.
func (m *Member) neighboursAt(position int64, t *scoreRanks) []ranking.Entry {
	near := slices.Clone(m.neighbours)
	if t != nil {
		t.eachRank(near, func(i int, rank int64) { near[i].Rank = rank })
		return near
	}
	self := slices.IndexFunc(near, func(e ranking.Entry) bool { return e.Member == m.name })
	for i := range near {
		near[i].Rank = position + int64(i-self)
	}
	return near
}

// Placement is a member's rank and its position in the order. They differ on a board with
// shared or dense ties.
type Placement struct {
	rank     int64 // 1-based; 0: the member is not on the board
	position int64 // 1-based
}

// memberSet holds followed members, and the placements of those that are on the board.
type memberSet struct {
	byName       map[string]*Member
	positions    rankIndex          // by position in the order
	scores       *scoreRanks        // ranks of the scores on a board with ties; nil: the position is the rank
	unplaced     bool               // changes have no places, because the board has shards
	aroundCounts [MaxAround + 1]int // how many members have so many neighbours
	maxAround    int64              // the largest Around of all members
}

// setAround sets how many neighbours the owner shows.
func (g *memberSet) setAround(m *Member, around int) {
	g.aroundCounts[m.around]--
	m.around = around
	g.aroundCounts[around]++
	g.updateMaxAround()
	g.trimNeighbours(m)
}

// trimNeighbours drops the neighbours that the owner does not show. Nothing tracks changes
// among those, and the scores must not hold a score that has no member any more.
func (g *memberSet) trimNeighbours(m *Member) {
	self := slices.IndexFunc(m.neighbours, func(e ranking.Entry) bool { return e.Member == m.name })
	if m.neighboursStale || self < 0 {
		return
	}
	from, to := max(0, self-m.around), min(len(m.neighbours), self+m.around+1)
	g.scores.releaseAll(m.neighbours[:from])
	g.scores.releaseAll(m.neighbours[to:])
	m.neighbours = m.neighbours[from:to]
}

func (g *memberSet) updateMaxAround() {
	g.maxAround = 0
	for around, n := range g.aroundCounts {
		if n > 0 {
			g.maxAround = int64(around)
		}
	}
}

// apply applies one change. It calls moved with the followed member that the change is of,
// if any. It reports false where the change contradicts the set.
func (g *memberSet) apply(c feed.Change, moved func(*Member)) bool {
	m := g.byName[c.Member]
	if m != nil {
		if m.known && (m.onBoard != (c.Old != nil) || m.onBoard && m.key != *c.Old) {
			return false
		}
		g.remove(m)
		m.known, m.onBoard = c.New == nil || !g.unplaced, false
		moved(m)
	}
	if c.Old != nil && !(g.shift(OrderKey{*c.Old, c.Member}, -1) && g.scores.applyOld(c)) {
		return false
	}
	if c.New == nil {
		return true
	}
	if !(g.shift(OrderKey{*c.New, c.Member}, 1) && g.scores.applyNew(c)) {
		return false
	}
	return m == nil || g.unplaced || g.insert(m, *c.New, Placement{c.Rank, c.Position})
}

// placeMoved makes a followed member known that a change has moved on a board with shards, where the entries have its place. It reports
// false where the place contradicts the view.
func (v *View) placeMoved(c *feed.Change) bool {
	m := v.members.byName[c.Member]
	if m == nil || c.New == nil {
		return true
	}
	i, found := v.find(OrderKey{*c.New, c.Member})
	if !found {
		return true
	}
	v.markRecovered(m)
	return v.members.insert(m, *c.New, v.placementAt(i))
}

// shift moves all members behind p.
func (g *memberSet) shift(p OrderKey, by int64) bool {
	b, i, ok := g.positions.shift(p, by)
	if ok && g.maxAround > 0 {
		g.positions.eachNear(b, i, g.maxAround, func(m *Member) {
			if !m.neighboursStale {
				if m.invalidateNeighbours(p); m.neighboursStale {
					g.scores.releaseAll(m.neighbours)
				}
			}
		})
	}
	return ok
}

// insert places a member. It reports false where the placement contradicts the set.
func (g *memberSet) insert(m *Member, key sortkey.Key, at Placement) bool {
	m.known, m.onBoard, m.key = true, true, key
	return g.positions.insert(m, at.position) && g.scores.retain(scoreKeyOf(key), at.rank)
}

// remove takes a member off the board.
func (g *memberSet) remove(m *Member) {
	if m.known && m.onBoard {
		g.positions.remove(m)
		g.scores.release(scoreKeyOf(m.key))
	}
	g.expireNeighbours(m)
}

// expireNeighbours marks the neighbours as stale.
func (g *memberSet) expireNeighbours(m *Member) {
	if !m.neighboursStale {
		m.neighboursStale = true
		g.scores.releaseAll(m.neighbours)
	}
}

// storeNeighbours stores neighbours as of now, with their ranks. It reports false where the
// ranks contradict the set.
func (g *memberSet) storeNeighbours(m *Member, near []ranking.Entry) bool {
	ok := true
	if g.scores != nil {
		for _, e := range near {
			ok = ok && g.scores.retain(scoreKeyOf(e.Key), e.Rank)
		}
	}
	g.expireNeighbours(m)
	m.neighbours, m.neighboursStale = near, false
	return ok
}

// placement is the placement of a known member that is on the board.
func (g *memberSet) placement(m *Member) Placement {
	at := Placement{position: g.positions.rank(m)}
	if at.rank = at.position; g.scores != nil {
		at.rank = g.scores.rank(scoreKeyOf(m.key))
	}
	return at
}

// walk is rankIndex.walk with placements.
func (g *memberSet) walk(cursor *OrderKey, limit int, do func(*Member, Placement)) *OrderKey {
	if g.scores == nil {
		return g.positions.walk(cursor, limit, func(m *Member, rank int64) { do(m, Placement{rank, rank}) })
	}
	first := sortkey.Key(math.Inf(-1))
	if cursor != nil {
		first = scoreKeyOf(cursor.key)
	}
	walk := g.scores.walkFrom(first)
	return g.positions.walk(cursor, limit, func(m *Member, position int64) {
		do(m, Placement{walk.rankOf(scoreKeyOf(m.key)), position})
	})
}

// Follow keeps the rank of a member, with up to around neighbours on each side (0 to
// MaxAround). A second Follow of the same member changes around.
func (v *View) Follow(member string, around int) *Member {
	m := v.members.byName[member]
	if m == nil {
		m = &Member{name: member, neighboursStale: true}
		v.members.byName[member] = m
		v.members.aroundCounts[0]++
		if v.valid {
			v.locate(m, slices.IndexFunc(v.entries, func(r entry) bool { return r.member == member }))
		}
	}
	if around > m.around {
		v.members.expireNeighbours(m)
	}
	v.members.setAround(m, around)
	v.enqueue(m)
	return m
}

// Unfollow ends Follow.
func (v *View) Unfollow(m *Member) {
	v.members.remove(m)
	m.known, m.onBoard = false, false
	delete(v.members.byName, m.name)
	v.members.aroundCounts[m.around]--
	v.members.updateMaxAround()
	v.markRecovered(m)
	v.trimQueue()
}

// Member returns a followed member, or nil.
func (v *View) Member(member string) *Member { return v.members.byName[member] }

// EachMember calls do for all followed members, in no order.
func (v *View) EachMember(do func(*Member)) {
	for _, m := range v.members.byName {
		do(m)
	}
}

// WalkRanks calls do for known followed members on the board, in order: for limit of them
// at most, from a cursor on; a nil cursor is the first. It returns the next cursor, nil
// after the last.
func (v *View) WalkRanks(cursor *OrderKey, limit int, do func(*Member, Placement)) *OrderKey {
	return v.members.walk(cursor, limit, do)
}

// IsNotified reports whether the last MarkNotified of a member covers its standing at a
// placement. It covers what other members' changes do; TakeMoved returns the members that
// moved by their own changes.
func (v *View) IsNotified(m *Member, at Placement) bool {
	if m.notifiedRank != at.rank {
		return false
	}
	return m.around == 0 || !m.neighboursStale && m.notifiedVersion == m.neighboursVersion && !v.inTop(m, at) &&
		v.members.neighboursNotified(m)
}

// neighboursNotified reports whether the neighbours have the ranks of the last
// notification. With ties a rank may change though no neighbour moved.
func (g *memberSet) neighboursNotified(m *Member) bool {
	same := true
	g.scores.eachRank(m.neighbours, func(i int, rank int64) { same = same && m.neighbours[i].Rank == rank })
	return same
}

// MarkNotified notes that the owner has sent a standing to the followers of a member.
func (v *View) MarkNotified(m *Member, s Standing) {
	m.notifiedRank = s.Entry.Rank
	if s.Around == nil {
		return
	}
	if m.notifiedVersion = m.neighboursVersion; v.members.scores == nil || !m.onBoard {
		return
	}
	if v.inTop(m, Placement{s.Entry.Rank, s.Position}) {
		m.notifiedVersion = -1 // the ranks in neighbours are not those that were sent
		return
	}
	for i, e := range s.Around {
		m.neighbours[i].Rank = e.Rank
	}
}

// Followed is how many members the view follows.
func (v *View) Followed() int { return len(v.members.byName) }

// Recovered reports whether the view is valid and has found all members that it followed when
// it last started over.
func (v *View) Recovered() bool { return v.valid && v.unrecovered == 0 }

// TakeMoved returns the members whose own score changed since the last call. Some may
// not be followed any more. On a board with shards some may not be known any more: the owner
// requests a lookup of these.
func (v *View) TakeMoved() []*Member {
	moved := v.moved
	v.moved = nil
	for _, m := range moved {
		m.moved = false
	}
	return moved
}

// markMoved notes that a followed member's own change moved it.
func (v *View) markMoved(m *Member) {
	if m.known {
		v.markRecovered(m)
	}
	if !m.moved {
		m.moved = true
		v.moved = append(v.moved, m)
	}
}
