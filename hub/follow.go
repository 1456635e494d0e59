package hub

import (
	"math"
	"slices"

	"rankcast/ranking"
	"rankcast/ranking/feed"
	"rankcast/ranking/sortkey"
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
	key   sortkey.Key // while on

	around int             // neighbours on each side that are wanted
	near   []ranking.Entry // those that were read last and the member itself, in order; their ranks are old, or were told last where there are tiers
	reads  int             // how often near was read
	old    bool            // near is not what it would be now

	toldRank  int64 // that the streams were told last
	toldReads int   // and of near; -1: what follows from the first entries

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

// nearAt gives near with the ranks that follow from the member's own position, or
// from the tiers.
func (f *Followed) nearAt(position int64, t *tiers) []ranking.Entry {
	near := slices.Clone(f.near)
	if t != nil {
		t.each(near, func(i int, rank int64) { near[i].Rank = rank })
		return near
	}
	self := slices.IndexFunc(near, func(e ranking.Entry) bool { return e.Member == f.member })
	for i := range near {
		near[i].Rank = position + int64(i-self)
	}
	return near
}

// where is the place of a member on the board.
type where struct {
	rank     int64 // by the ties; 0: it is not on the board
	position int64 // in the order: the rank, but for ties shared and dense
}

// following is a set of followed members, and the places of those that are known
// and on the board.
type following struct {
	members map[string]*Followed
	ranks   ranks              // positions
	tiers   *tiers             // nil where these are the ranks
	arounds [MaxAround + 1]int // how many want so many neighbours on each side
	reach   int64              // the most that anybody wants
}

// want sets how many neighbours are wanted with a member.
func (g *following) want(f *Followed, around int) {
	g.arounds[f.around]--
	f.around = around
	g.arounds[around]++
	g.setReach()
	g.trim(f)
}

// trim drops neighbours beyond those that are wanted: nobody minds who comes or
// leaves there, and a tier that nobody holds any more must not be held.
func (g *following) trim(f *Followed) {
	self := slices.IndexFunc(f.near, func(e ranking.Entry) bool { return e.Member == f.member })
	if f.old || self < 0 {
		return
	}
	from, to := max(0, self-f.around), min(len(f.near), self+f.around+1)
	g.tiers.dropAll(f.near[:from])
	g.tiers.dropAll(f.near[to:])
	f.near = f.near[from:to]
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
func (g *following) move(c feed.Change, changed func(*Followed)) bool {
	f := g.members[c.Member]
	if f != nil {
		if f.known && (f.on != (c.Old != nil) || f.on && f.key != *c.Old) {
			return false
		}
		g.leave(f)
		f.known, f.on = true, false
		changed(f)
	}
	if c.Old != nil && !(g.shift(place{*c.Old, c.Member}, -1) && g.tiers.left(c)) {
		return false
	}
	if c.New == nil {
		return true
	}
	if !(g.shift(place{*c.New, c.Member}, 1) && g.tiers.came(c)) {
		return false
	}
	return f == nil || g.enter(f, *c.New, where{c.Rank, c.Position})
}

// shift moves all that stand behind p.
func (g *following) shift(p place, by int64) bool {
	b, i, ok := g.ranks.shift(p, by)
	if ok && g.reach > 0 {
		g.ranks.near(b, i, g.reach, func(f *Followed) {
			if !f.old {
				if f.mind(p); f.old {
					g.tiers.dropAll(f.near)
				}
			}
		})
	}
	return ok
}

// enter has a member stand at a key.
func (g *following) enter(f *Followed, key sortkey.Key, at where) bool {
	f.known, f.on, f.key = true, true, key
	return g.ranks.insert(f, at.position) && g.tiers.hold(tierOf(key), at.rank)
}

// leave has a member stand nowhere.
func (g *following) leave(f *Followed) {
	if f.known && f.on {
		g.ranks.remove(f)
		g.tiers.drop(tierOf(f.key))
	}
	g.age(f)
}

// age has near be old.
func (g *following) age(f *Followed) {
	if !f.old {
		f.old = true
		g.tiers.dropAll(f.near)
	}
}

// keep takes near in, which is what it would be now, ranks included. It reports
// false where these contradict what is held.
func (g *following) keep(f *Followed, near []ranking.Entry) bool {
	ok := true
	if g.tiers != nil {
		for _, e := range near {
			ok = ok && g.tiers.hold(tierOf(e.Key), e.Rank)
		}
	}
	g.age(f)
	f.near, f.old = near, false
	return ok
}

// where is the place of a member that is known and on the board.
func (g *following) where(f *Followed) where {
	at := where{position: g.ranks.rank(f)}
	if at.rank = at.position; g.tiers != nil {
		at.rank = g.tiers.rank(tierOf(f.key))
	}
	return at
}

// each is as ranks.each, with ranks by the ties.
func (g *following) each(cursor *place, most int, do func(*Followed, where)) *place {
	if g.tiers == nil {
		return g.ranks.each(cursor, most, func(f *Followed, rank int64) { do(f, where{rank, rank}) })
	}
	first := sortkey.Key(math.Inf(-1))
	if cursor != nil {
		first = tierOf(cursor.key)
	}
	walk := g.tiers.from(first)
	return g.ranks.each(cursor, most, func(f *Followed, position int64) {
		do(f, where{walk.to(tierOf(f.key)), position})
	})
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
	self := slices.IndexFunc(s.Around, func(e ranking.Entry) bool { return e.Member == s.Entry.Member })
	if self < 0 {
		return nil
	}
	return s.Around[max(0, self-k):min(len(s.Around), self+k+1)]
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
	if around > f.around {
		v.followed.age(f)
	}
	v.followed.want(f, around)
	v.enqueue(f)
	return f
}

// Unfollow ends Follow.
func (v *View) Unfollow(f *Followed) {
	v.followed.leave(f)
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

// Ranks calls do for followed members that are known and on the board, in order: for most of them at most, from a cursor on, nil being the first. It returns the
// cursor to go on from, nil after the last.
func (v *View) Ranks(cursor *place, most int, do func(*Followed, where)) *place {
	return v.followed.each(cursor, most, do)
}

// Unchanged reports whether the streams were told all that a member's standing at
// a place would tell. (Its own changes are told by Own.)
func (v *View) Unchanged(f *Followed, at where) bool {
	if f.toldRank != at.rank {
		return false
	}
	return f.around == 0 || !f.old && f.toldReads == f.reads && !v.reaches(f, at) && v.followed.toldNear(f)
}

// toldNear reports whether the neighbours that are kept have the ranks that were
// told: with ties these may change though nobody came or left among them.
func (g *following) toldNear(f *Followed) bool {
	same := true
	g.tiers.each(f.near, func(i int, rank int64) { same = same && f.near[i].Rank == rank })
	return same
}

// Told notes that the streams were told how a member stands now.
func (v *View) Told(f *Followed, s Standing) {
	f.toldRank = s.Entry.Rank
	if s.Around == nil {
		return
	}
	if f.toldReads = f.reads; v.followed.tiers == nil || !f.on {
		return
	}
	if v.reaches(f, where{s.Entry.Rank, s.Position}) {
		f.toldReads = -1 // it is not known which ranks near has then
		return
	}
	for i, e := range s.Around {
		f.near[i].Rank = e.Rank
	}
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
	var at where
	if f.on {
		at = v.followed.where(f)
	}
	return v.standing(f, at)
}

func (v *View) standing(f *Followed, at where) Standing {
	s := Standing{Seq: v.state.Seq, Total: v.total}
	s.Entry, s.Position = ranking.Entry{Member: f.member, Rank: at.rank}, at.position
	switch {
	case at.rank > 0:
		s.Entry.Key, s.Entry.Score = f.key, f.key.Score(v.order)
		if f.around > 0 {
			s.Around = v.neighbours(f, at)
		}
	case f.around > 0:
		s.Around = []ranking.Entry{}
	}
	return s
}

// neighbours gives those around a member that stands at a place: from the first
// entries where they reach, else as they were read last. nil: not known.
func (v *View) neighbours(f *Followed, at where) []ranking.Entry {
	around := int64(f.around)
	if v.reaches(f, at) {
		return v.list(int(max(0, at.position-1-around)), int(min(at.position+around, v.total)))
	}
	if f.old {
		return nil
	}
	return f.nearAt(at.position, v.followed.tiers)
}

// reaches reports whether the first entries reach over a member's neighbours.
func (v *View) reaches(f *Followed, at where) bool {
	return at.position+int64(f.around) <= int64(len(v.entries)) || v.whole()
}
