package hub

import (
	"slices"

	"rankcast/ranking"
	"rankcast/ranking/sortkey"
)

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
	found []Found
	owed  int // how many are
}

// Found is a followed member that has become known.
type Found struct {
	*Followed
	// AsOf is where it stood at the moment of a look-up, where its neighbours have
	// changed again since; nil otherwise.
	AsOf *Standing
}

// Found gives those who became known since the last call.
func (v *View) Found() []Found {
	found := v.found
	v.found = nil
	return found
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
		f.known, f.on, f.old, f.queued, f.sample = false, false, true, false, false
	}
	v.followed.ranks.clear()
	v.followed.tiers.clear()
	v.queue, v.found, v.looked.spoiled = nil, nil, true
	v.Own()
}

// placeFollowed makes known who is among the entries, and queues the rest.
func (v *View) placeFollowed() {
	if len(v.followed.members) == 0 {
		return
	}
	at := make(map[string]int, len(v.entries))
	for i, r := range v.entries {
		at[r.member] = i
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
		v.enter(f, v.entries[i].key, v.at(i))
	} else if v.whole() {
		f.known = true
	}
	if f.known {
		v.settleOwed(f)
		v.found = append(v.found, Found{Followed: f})
	}
}

// enter has a member stand where it was read to stand.
func (v *View) enter(f *Followed, key sortkey.Key, at where) {
	if !v.followed.enter(f, key, at) {
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

// trimQueue drops those who are not followed any more, once they are the most.
func (v *View) trimQueue() {
	if len(v.queue) > 2*len(v.followed.members)+ranking.MaxLookups {
		v.queue = slices.DeleteFunc(v.queue, func(f *Followed) bool { return v.followed.members[f.member] != f })
	}
}

// toLookUp reports whether there is anything to look up.
func (v *View) toLookUp(f *Followed) bool {
	return !f.known || f.sample || f.on && f.around > 0 && f.old && v.neighbours(f, v.followed.where(f)) == nil
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

// Missing reports whether somebody is being looked up whose place is not known.
func (v *View) Missing() bool {
	return slices.ContainsFunc(v.looked.members, func(f *Followed) bool { return !f.known })
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
	switch {
	case look.spoiled || !v.sure:
		v.PlacesFailed()
		return true
	case p.Epoch != v.state.Epoch || p.Seq < look.from.Seq:
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
		var at where
		if t.on {
			at = then.where(t)
		}
		if f.known {
			if f.on != t.on || f.on && (f.key != t.key || v.followed.where(f) != at) {
				v.Doubt()
				return false
			}
		} else if f.known = true; t.on {
			if v.enter(f, t.key, at); !v.sure {
				return true
			}
		}
		f.sample = false
		v.settleOwed(f)
		found := Found{Followed: f}
		if t.around > 0 && t.around >= f.around { // else it is queued for more
			if !v.takeNear(f, t, then) {
				v.Doubt()
				return false
			}
			f.reads++
			if t.old && p.List[i].Entry.Rank > 0 {
				found.AsOf = &Standing{Seq: p.Seq, Total: p.Total, Place: p.List[i]}
			}
		}
		v.found = append(v.found, found)
	}
	return true
}

// takeNear takes the neighbours that were read. It reports false where their ranks
// are not those that are held.
func (v *View) takeNear(f, t *Followed, then *brought) bool {
	if t.old {
		v.followed.age(f)
		f.near = t.near
		return true
	}
	near := t.near
	if then.tiers != nil {
		near = t.nearAt(then.ranks.rank(t), then.tiers)
	}
	ok := v.followed.keep(f, near)
	v.followed.trim(f)
	return ok
}

// brought are places that were read, brought forward to where the view is.
type brought struct {
	following
	list []*Followed // in the order asked
}

// bringPlaces returns nil where what was heard contradicts what was read.
func (v *View) bringPlaces(asked []ranking.Lookup, p ranking.Places) *brought {
	b := &brought{following: following{members: make(map[string]*Followed, len(asked)), tiers: newTiers(v.ties)}}
	for i, l := range asked {
		place := p.List[i]
		f := &Followed{member: l.Member, around: l.Around, known: true, old: true}
		b.members[f.member] = f
		b.list = append(b.list, f)
		if place.Entry.Rank == 0 {
			continue
		}
		at := where{place.Entry.Rank, place.Position}
		if !b.enter(f, place.Entry.Key, at) || !b.keep(f, place.Around) {
			return nil
		}
		b.reach = max(b.reach, int64(l.Around))
	}
	for _, c := range v.heard {
		if c.Period != v.period {
			continue
		}
		for i, change := range c.List {
			if c.Seq+int64(i) > p.Seq && !b.move(change, func(*Followed) {}) {
				return nil
			}
		}
	}
	return b
}
