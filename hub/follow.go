package hub

import (
	"slices"

	"rankcast/ranking"
)

// MaxAround is the most neighbours on each side that a follower is shown.
const MaxAround = 20

// Followed is a member whose rank a View keeps.
type Followed struct {
	member  string
	streams []*stream // that show it; kept by the owner of the view

	// known says that on and key are as of the view's state; else the member has to
	// be looked up.
	known bool
	on    bool        // the board
	key   ranking.Key // while on

	around int             // neighbours on each side that are wanted
	near   []ranking.Entry // those that were read last and the member itself, in order; their ranks are old
	stale  bool            // near is not what it would be now

	queued bool // waits to be looked up
	sample bool // to be looked up though it is known
	owed   bool // was followed when the view was read anew, and is not known yet
	own    bool // is in View.own
}

func (f *Followed) place() place { return place{f.key, f.member} }

// mind notes that somebody came to p or left it.
func (f *Followed) mind(p place) {
	if len(f.near) == 0 {
		return
	}
	self := slices.IndexFunc(f.near, func(e ranking.Entry) bool { return e.Member == f.member })
	// Past neighbours as many as are wanted it changes nothing.
	beyond := p.before(placeOf(f.near[0])) && self >= f.around ||
		placeOf(f.near[len(f.near)-1]).before(p) && len(f.near)-1-self >= f.around
	f.stale = f.stale || !beyond
}

// nearAt gives near with the ranks that follow from the member's own.
func (f *Followed) nearAt(rank int64) []ranking.Entry {
	near := slices.Clone(f.near)
	self := slices.IndexFunc(near, func(e ranking.Entry) bool { return e.Member == f.member })
	for i := range near {
		near[i].Rank = rank + int64(i-self)
	}
	return near
}

// following is a set of followed members, and the ranks of those that are known
// and on the board.
type following struct {
	members map[string]*Followed
	ranks   ranks
	reach   int64 // largest Followed.around
}

// move applies one change; changed is told of a followed member that moved by
// itself. It reports false where the change contradicts what is held.
func (g *following) move(c ranking.Change, changed func(*Followed)) bool {
	f := g.members[c.Member]
	if f != nil {
		if f.known && (f.on != (c.Old != nil) || f.on && f.key != *c.Old) {
			return false
		}
		if f.known && f.on {
			g.ranks.remove(f)
		}
		f.known, f.on, f.stale = true, false, true
		changed(f)
	}
	if c.Old != nil && !g.shift(place{*c.Old, c.Member}, -1) {
		return false
	}
	if c.New == nil {
		return true
	}
	if !g.shift(place{*c.New, c.Member}, 1) {
		return false
	}
	return f == nil || g.enter(f, *c.New, c.Rank)
}

// shift moves all that stand behind p.
func (g *following) shift(p place, by int64) bool {
	b, i, ok := g.ranks.shift(p, by)
	if ok && g.reach > 0 {
		g.ranks.near(b, i, g.reach, func(f *Followed) { f.mind(p) })
	}
	return ok
}

// enter has a member stand at a key and rank.
func (g *following) enter(f *Followed, key ranking.Key, rank int64) bool {
	f.known, f.on, f.key = true, true, key
	return g.ranks.insert(f, rank)
}

// lookups is what a View still has to learn of its followed members, and has
// learned since it was last asked.
type lookups struct {
	queue  []*Followed // to be looked up, first come first
	looked struct {    // the look-up under way
		members []*Followed // nil: there is none
		asked   []ranking.Lookup
		from    ranking.State // the view's, when it was asked for
		spoiled bool          // it will be of no use
	}
	found   []Found
	own     []*Followed
	owed    int                // how many are
	arounds [MaxAround + 1]int // how many followed members want so many neighbours
}

// Found is a followed member that has become known.
type Found struct {
	*Followed
	// AsOf is where it stood at the moment of a look-up, where its neighbours have
	// changed again since; nil otherwise.
	AsOf *Standing
}

// Standing is where a followed member stands, at one seq of the board.
type Standing struct {
	Seq   int64
	Total int64
	// Place has a Rank of 0 for a member that is not on the board. Around is nil
	// where it is not known at this moment, and may have more than is wanted.
	ranking.Place
}

// within gives up to k neighbours on each side of the standing, and itself.
func (s Standing) within(k int) []ranking.Entry {
	from, to := 0, len(s.Around)
	for from < to && s.Around[from].Rank < s.Entry.Rank-int64(k) {
		from++
	}
	for from < to && s.Around[to-1].Rank > s.Entry.Rank+int64(k) {
		to--
	}
	return s.Around[from:to]
}

// Follow has the view keep a member's rank, with up to around neighbours on each
// side (0 to MaxAround). Following a member again changes around.
func (v *View) Follow(member string, around int) *Followed {
	f := v.followed.members[member]
	if f == nil {
		f = &Followed{member: member, stale: true}
		v.followed.members[member] = f
		v.arounds[0]++
		if v.sure {
			v.placeOne(f, slices.IndexFunc(v.entries, func(p place) bool { return p.member == member }))
		}
	}
	f.stale = f.stale || around > f.around
	v.setAround(f, around)
	v.enqueue(f)
	return f
}

// Unfollow ends Follow.
func (v *View) Unfollow(f *Followed) {
	if f.known && f.on {
		v.followed.ranks.remove(f)
	}
	f.known, f.on = false, false
	delete(v.followed.members, f.member)
	v.arounds[f.around]--
	v.setReach()
	v.settleOwed(f)
	if f.own {
		v.own = slices.DeleteFunc(v.own, func(g *Followed) bool { return g == f })
	}
}

// Following gives a member that is followed, or nil.
func (v *View) Following(member string) *Followed { return v.followed.members[member] }

// Each calls do for all followed members.
func (v *View) Each(do func(*Followed)) {
	for _, f := range v.followed.members {
		do(f)
	}
}

// Ranks calls do for all followed members that are known and on the board, by
// rank.
func (v *View) Ranks(do func(f *Followed, rank int64)) { v.followed.ranks.each(do) }

// Followed is how many members are followed.
func (v *View) Followed() int { return len(v.followed.members) }

// Recovered reports whether all members are known that were followed when the
// view was last read anew.
func (v *View) Recovered() bool { return v.sure && v.owed == 0 }

func (v *View) setAround(f *Followed, around int) {
	v.arounds[f.around]--
	f.around = around
	v.arounds[f.around]++
	v.setReach()
}

func (v *View) setReach() {
	v.followed.reach = 0
	for around, n := range v.arounds {
		if n > 0 {
			v.followed.reach = int64(around)
		}
	}
}

// Own gives those who moved by themselves since the last call.
func (v *View) Own() []*Followed {
	own := v.own
	v.own = nil
	for _, f := range own {
		f.own = false
	}
	return own
}

// Found gives those who became known since the last call.
func (v *View) Found() []Found {
	found := v.found
	v.found = nil
	return found
}

// changed notes that a followed member moved by itself.
func (v *View) changed(f *Followed) {
	v.settleOwed(f)
	if !f.own {
		f.own = true
		v.own = append(v.own, f)
	}
}

func (v *View) settleOwed(f *Followed) {
	if f.owed {
		f.owed = false
		v.owed--
	}
}

// voidFollowed makes all followed members unknown.
func (v *View) voidFollowed() {
	for _, f := range v.followed.members {
		v.settleOwed(f)
		f.known, f.on, f.stale, f.queued, f.sample = false, false, true, false, false
	}
	v.followed.ranks.clear()
	v.queue, v.found, v.looked.spoiled = nil, nil, true
	v.Own()
}

// placeFollowed makes known who is among the entries, and queues the rest.
func (v *View) placeFollowed() {
	if len(v.followed.members) == 0 {
		return
	}
	at := make(map[string]int, len(v.entries))
	for i, p := range v.entries {
		at[p.member] = i
	}
	for _, f := range v.followed.members {
		if !v.sure {
			return
		}
		if !f.known {
			i, there := at[f.member]
			if !there {
				i = -1
			}
			v.placeOne(f, i)
		}
		v.enqueue(f)
	}
}

// oweFollowed notes who is still to become known after the view was read anew.
func (v *View) oweFollowed() {
	for _, f := range v.followed.members {
		if !f.known && !f.owed {
			f.owed = true
			v.owed++
		}
	}
}

// placeOne makes a member known if the entries tell where it is: at that index, or
// not on the board (-1).
func (v *View) placeOne(f *Followed, i int) {
	if i >= 0 {
		v.enter(f, v.entries[i].key, int64(i)+1)
	} else if v.whole() {
		f.known = true
	}
	if f.known {
		v.settleOwed(f)
		v.found = append(v.found, Found{Followed: f})
	}
}

// enter has a member stand where it was read to stand.
func (v *View) enter(f *Followed, key ranking.Key, rank int64) {
	if !v.followed.enter(f, key, rank) {
		v.Doubt()
	}
}

// Sample has up to n members looked up that are known, for comparison.
func (v *View) Sample(n int) {
	for _, f := range v.followed.members { // in Go's random order
		if n--; n < 0 {
			return
		}
		f.sample = f.known
		v.enqueue(f)
	}
}

// Ask has the neighbours of a member read, where they are not known.
func (v *View) Ask(f *Followed) { v.enqueue(f) }

func (v *View) enqueue(f *Followed) {
	if v.sure && !f.queued && v.toLookUp(f) {
		f.queued = true
		v.queue = append(v.queue, f)
	}
}

// toLookUp reports whether there is anything to look up.
func (v *View) toLookUp(f *Followed) bool {
	return !f.known || f.sample || f.on && f.around > 0 && f.stale && v.neighbours(f, v.followed.ranks.rank(f)) == nil
}

// Waiting reports whether Lookups may have something to give.
func (v *View) Waiting() bool { return v.sure && v.looked.members == nil && len(v.queue) > 0 }

// Lookups gives what should be looked up now, in one call; nil for nothing, or
// while a look-up is under way. PlacesRead or PlacesFailed follows.
func (v *View) Lookups() []ranking.Lookup {
	if !v.Waiting() {
		return nil
	}
	var members []*Followed
	var asked []ranking.Lookup
	rows := 0
	for len(v.queue) > 0 && len(asked) < ranking.MaxLookups {
		f := v.queue[0]
		if v.followed.members[f.member] == f && v.toLookUp(f) {
			l := ranking.Lookup{Member: f.member, Around: f.around}
			if rows += l.Rows(); rows > ranking.MaxLookupRows {
				break
			}
			members, asked = append(members, f), append(asked, l)
		}
		f.queued = false
		v.queue = v.queue[1:]
	}
	if asked != nil {
		v.listen()
		v.looked.members, v.looked.asked, v.looked.from, v.looked.spoiled = members, asked, v.state, false
	}
	return asked
}

// PlacesFailed says that the answer to Lookups will not come.
func (v *View) PlacesFailed() {
	members := v.looked.members
	v.looked.members, v.looked.asked = nil, nil
	v.listen()
	for _, f := range members {
		if v.followed.members[f.member] == f {
			v.enqueue(f)
		}
	}
}

// PlacesRead takes in the answer to Lookups, brought forward by what was heard
// since. It reports whether what it tells of members that were known had been
// right.
func (v *View) PlacesRead(p ranking.Places) (agreed bool) {
	look := v.looked
	came := v.state.Epoch == p.Epoch || p.Epoch == "" && look.from.Epoch == ""
	switch {
	case look.spoiled || !v.sure:
		v.PlacesFailed()
		return true
	case !came || p.Seq < look.from.Seq:
		v.PlacesFailed()
		v.Doubt() // Redis is elsewhere
		return true
	}
	then := v.bringPlaces(look.asked, p)
	v.looked.members = nil // it has come
	v.listen()
	if then == nil {
		v.Doubt()
		return true
	}
	for i, t := range then.list {
		f := v.followed.members[t.member]
		if f == nil {
			continue // not any more
		}
		var rank int64
		if t.on {
			rank = then.ranks.rank(t)
		}
		if f.known {
			if f.on != t.on || f.on && (f.key != t.key || v.followed.ranks.rank(f) != rank) {
				v.Doubt()
				return false
			}
		} else if f.known = true; t.on {
			if v.enter(f, t.key, rank); !v.sure {
				return true
			}
		}
		f.sample = false
		v.settleOwed(f)
		found := Found{Followed: f}
		if t.around > 0 && t.around >= f.around {
			f.near, f.stale = t.near, t.stale
			if t.stale && p.List[i].Entry.Rank > 0 {
				found.AsOf = &Standing{Seq: p.Seq, Total: p.Total, Place: p.List[i]}
			}
		}
		v.found = append(v.found, found)
		if t.around < f.around { // more was asked for meanwhile
			v.enqueue(f)
		}
	}
	return true
}

// brought are places that were read, brought forward to where the view is.
type brought struct {
	following
	list []*Followed // in the order asked
}

// bringPlaces returns nil where what was heard contradicts what was read.
func (v *View) bringPlaces(asked []ranking.Lookup, p ranking.Places) *brought {
	b := &brought{following: following{members: make(map[string]*Followed, len(asked))}}
	for i, l := range asked {
		place := p.List[i]
		f := &Followed{member: l.Member, around: l.Around, known: true}
		b.members[f.member] = f
		b.list = append(b.list, f)
		if place.Entry.Rank == 0 {
			continue
		}
		if f.near = place.Around; !b.enter(f, place.Entry.Key, place.Entry.Rank) {
			return nil
		}
		b.reach = max(b.reach, int64(l.Around))
	}
	for _, c := range v.heard {
		for i, change := range c.List {
			if c.Seq+int64(i) > p.Seq && !b.move(change, func(*Followed) {}) {
				return nil
			}
		}
	}
	return b
}

// Standing tells where a member that is known stands.
func (v *View) Standing(f *Followed) Standing {
	var rank int64
	if f.on {
		rank = v.followed.ranks.rank(f)
	}
	return v.standing(f, rank)
}

func (v *View) standing(f *Followed, rank int64) Standing {
	s := Standing{Seq: v.state.Seq, Total: v.total}
	s.Entry = ranking.Entry{Member: f.member, Rank: rank}
	switch {
	case rank > 0:
		s.Entry.Key, s.Entry.Score = f.key, f.key.Score(v.order)
		if f.around > 0 {
			s.Around = v.neighbours(f, rank)
		}
	case f.around > 0:
		s.Around = []ranking.Entry{}
	}
	return s
}

// neighbours gives those around a member that stands at a rank: from the first
// entries where they reach, else as they were read last. nil: not known.
func (v *View) neighbours(f *Followed, rank int64) []ranking.Entry {
	last := rank + int64(f.around)
	if last <= int64(len(v.entries)) || v.whole() {
		return v.list(int(max(0, rank-1-int64(f.around))), int(min(last, v.total)), v.order)
	}
	if f.stale {
		return nil
	}
	return f.nearAt(rank)
}
