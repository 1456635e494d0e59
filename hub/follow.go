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
	reads  int             // how often near was read
	old    bool            // near is not what it would be now

	toldRank  int64 // that the streams were told last
	toldReads int   // and of near

	queued bool // waits to be looked up
	sample bool // to be looked up though it is known
	owed   bool // was followed when the view was read anew, and is not known yet
	own    bool // is in View.own
}

func (f *Followed) place() place { return place{f.key, f.member} }

// mind notes that somebody came to p or left it.
func (f *Followed) mind(p place) {
	if len(f.near) == 0 || f.old {
		return
	}
	self := slices.IndexFunc(f.near, func(e ranking.Entry) bool { return e.Member == f.member })
	// Past neighbours as many as are wanted it changes nothing.
	beyond := p.before(placeOf(f.near[0])) && self >= f.around ||
		placeOf(f.near[len(f.near)-1]).before(p) && len(f.near)-1-self >= f.around
	f.old = !beyond
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
	arounds [MaxAround + 1]int // how many want so many neighbours on each side
	reach   int64              // the most that anybody wants
}

// want sets how many neighbours are wanted with a member.
func (g *following) want(f *Followed, around int) {
	g.arounds[f.around]--
	f.around = around
	g.arounds[around]++
	g.setReach()
}

func (g *following) setReach() {
	g.reach = 0
	for around, n := range g.arounds {
		if n > 0 {
			g.reach = int64(around)
		}
	}
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
		f.known, f.on, f.old = true, false, true
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
		f = &Followed{member: member, old: true}
		v.followed.members[member] = f
		v.followed.arounds[0]++
		if v.sure {
			v.placeOne(f, slices.IndexFunc(v.entries, func(r row) bool { return r.member == member }))
		}
	}
	f.old = f.old || around > f.around
	v.followed.want(f, around)
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
	v.followed.arounds[f.around]--
	v.followed.setReach()
	v.settleOwed(f)
	v.trimQueue()
}

// Following gives a member that is followed, or nil.
func (v *View) Following(member string) *Followed { return v.followed.members[member] }

// Each calls do for all followed members.
func (v *View) Each(do func(*Followed)) {
	for _, f := range v.followed.members {
		do(f)
	}
}

// Ranks calls do for followed members that are known and on the board, by rank:
// for most of them at most, from a cursor on, nil being the first. It returns the
// cursor to go on from, nil after the last.
func (v *View) Ranks(cursor *place, most int, do func(f *Followed, rank int64)) *place {
	return v.followed.ranks.each(cursor, most, do)
}

// Unchanged reports whether the streams were told all that a member's standing at
// a rank would tell. (Its own changes are told by Own.)
func (v *View) Unchanged(f *Followed, rank int64) bool {
	return f.toldRank == rank && (f.around == 0 || !f.old && f.toldReads == f.reads && !v.reaches(f, rank))
}

// Followed is how many members are followed.
func (v *View) Followed() int { return len(v.followed.members) }

// Recovered reports whether all members are known that were followed when the
// view was last read anew.
func (v *View) Recovered() bool { return v.sure && v.owed == 0 }

// Own gives those who moved by themselves since the last call. Some may not be
// followed any more.
func (v *View) Own() []*Followed {
	own := v.own
	v.own = nil
	for _, f := range own {
		f.own = false
	}
	return own
}

// changed notes that a followed member moved by itself.
func (v *View) changed(f *Followed) {
	v.settleOwed(f)
	if !f.own {
		f.own = true
		v.own = append(v.own, f)
	}
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
	around := int64(f.around)
	if v.reaches(f, rank) {
		return v.list(int(max(0, rank-1-around)), int(min(rank+around, v.total)))
	}
	if f.old {
		return nil
	}
	return f.nearAt(rank)
}

// reaches reports whether the first entries reach over a member's neighbours.
func (v *View) reaches(f *Followed, rank int64) bool {
	return rank+int64(f.around) <= int64(len(v.entries)) || v.whole()
}
