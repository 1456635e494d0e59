package hub

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"rankcast/ranking"
	"rankcast/ranking/feed"
)

const (
	// profilePatience is how long a change waits for the profile of who comes with it:
	// one read, where all is well.
	profilePatience = 100 * time.Millisecond
	// profileSettles is for how long after a profile was seen to change other nodes may
	// show what was before, and their clients come here with that.
	profileSettles = 2 * time.Minute
	// peopleSpare is how many profiles a board keeps at least of those that it does not
	// show any more.
	peopleSpare = 1024
)

// people are the profiles of those whom a board shows, in its first entries or around a
// follower, of a kind that has any. They are the board's goroutine's.
type people struct {
	kind   string
	known  map[string]*person // nil: the kind has no profiles
	urgent []string           // to be read: whoever was not yet, or has changed
	aged   []string           // to be read again
	due    time.Time          // when all are to be read again
	kept   int                // how many were shown when the others were let go last
	since  time.Time          // when what is to be published began to wait for a profile; zero: it does not
	// renamed are those whose profile has changed since it was shown, and of whom the
	// followers around them were not told; renaming those of whom they are being told.
	renamed, renaming map[string]bool
}

// person is what a board knows of a member's profile.
type person struct {
	profile ranking.Profile
	known   bool
	late    bool      // it is shown without, as long as it is not known
	queued  bool      // to be read
	since   time.Time // when it came to be what it is, as was seen here
	// touched is as View.Touched: who has a lower seq may show another profile. A profile
	// has no seq of its own; so it is counted to that of the board that comes next.
	touched int64
}

// takeRenamed has those read again whose profiles have changed.
func (b *board) takeRenamed() {
	b.renamedMu.Lock()
	defer b.renamedMu.Unlock()
	for m := range b.renamed {
		if m.kind == b.people.kind {
			b.people.queue(m.id)
		}
	}
	clear(b.renamed)
}

// meet begins to know the profiles of a kind, or none, and what has become due of them.
func (b *board) meet(isDue func(time.Time) bool) {
	p, kind := &b.people, b.kind
	profiled := kind != "" && b.hub.source.Profiled(kind)
	if kind != p.kind || profiled != (p.known != nil) {
		named := p.known != nil
		b.partPeople()
		b.people = people{kind: kind, renamed: make(map[string]bool)}
		if named { // by what counts no more
			p.renamed = b.whoIsShown()
			b.moved, b.ranksMoved = true, true
		}
		if profiled {
			p.known = make(map[string]*person)
			p.due = p.next(b.hub.cfg.ProfileInterval)
			b.meetShown()
		}
	}
	if p.known == nil {
		return
	}
	b.takeRenamed()
	if len(p.known) > 2*p.kept+peopleSpare {
		b.letGo()
	}
	if isDue(p.due) {
		p.aged, p.due = slices.Collect(maps.Keys(p.known)), p.next(b.hub.cfg.ProfileInterval)
	}
}

// next is when all are read again; boards that began together do not go on so.
func (p *people) next(interval time.Duration) time.Time {
	return time.Now().Add(interval - rand.N(interval/8+1))
}

// meetShown has those read who are shown already, by their ids alone.
func (b *board) meetShown() {
	if b.shown == nil {
		return
	}
	for id := range b.whoIsShown() {
		who := b.know(id)
		if who.late = !who.known; who.profile != (ranking.Profile{}) {
			b.changedName(id)
		}
	}
}

// changedName notes that somebody is shown with another profile than it has.
func (b *board) changedName(id string) {
	b.people.renamed[id] = true
	b.moved, b.ranksMoved = true, true
}

// whoIsShown are the members of the first entries and those around followers.
func (b *board) whoIsShown() map[string]bool {
	ids := make(map[string]bool)
	for _, r := range b.view.entries {
		ids[r.member] = true
	}
	b.view.Each(func(f *Followed) {
		for _, e := range f.near {
			ids[e.Member] = true
		}
	})
	return ids
}

// letGo forgets those who are not shown any more.
func (b *board) letGo() {
	p, shown := &b.people, b.whoIsShown()
	for id := range p.known {
		if !shown[id] {
			delete(p.known, id)
			b.hub.register.leave(member{p.kind, id}, b)
		}
	}
	p.kept = len(p.known)
}

// partPeople ends knowing profiles.
func (b *board) partPeople() {
	for id := range b.people.known {
		b.hub.register.leave(member{b.people.kind, id}, b)
	}
	b.profiles.forget()
}

// know gives what is known of a member, who is to be shown. Whoever was unknown is asked
// for.
func (b *board) know(id string) *person {
	p := &b.people
	if known := p.known[id]; known != nil {
		return known
	}
	who := &person{since: time.Now()}
	p.known[id] = who
	// Before it is looked up: what changes from here on is heard.
	b.hub.register.enter(member{p.kind, id}, b)
	if who.profile, who.known = b.hub.source.KnownProfile(p.kind, id); !who.known {
		p.queue(id)
	}
	return who
}

// queue has a profile read soon.
func (p *people) queue(id string) {
	if who := p.known[id]; who != nil && !who.queued {
		who.queued = true
		p.urgent = append(p.urgent, id)
	}
}

// expect asks early for those whom changes bring among the first entries.
func (b *board) expect(c *feed.Changes) {
	if b.people.known == nil || c.Period != b.view.Period() {
		return
	}
	for _, change := range c.List {
		if change.New != nil && change.Position <= int64(b.view.Window()) {
			b.know(change.Member)
		}
	}
}

// introduced reports whether the profiles of all are known whom each calls its argument
// for, or are not to be waited for any longer than since then; zero: since now.
func (b *board) introduced(since *time.Time, isDue func(time.Time) bool, each func(do func(id string))) bool {
	p := &b.people
	if p.known == nil {
		return true
	}
	var missing []*person
	each(func(id string) {
		if who := b.know(id); !who.known && !who.late {
			missing = append(missing, who)
		}
	})
	if len(missing) == 0 {
		return true
	}
	if since.IsZero() {
		*since = time.Now()
	}
	if b.heard && !b.profiles.failed() && !isDue(since.Add(profilePatience)) {
		return false
	}
	for _, who := range missing {
		who.late = true
	}
	return true
}

// first calls do for the members of the first entries.
func (b *board) first(do func(id string)) {
	for _, r := range b.view.entries {
		do(r.member)
	}
}

// around gives those around the members of an answer to what it is called with.
func around(p *ranking.Places) func(do func(id string)) {
	return func(do func(id string)) {
		for _, place := range p.List {
			if len(place.Around) > 1 { // else nobody asked for more than the member
				for _, e := range place.Around {
					do(e.Member)
				}
			}
		}
	}
}

// introduce puts the profiles beside what is to be shown, and has their changes count as
// those of places.
func (b *board) introduce(s *shown, now time.Time) {
	p := &b.people
	p.since = time.Time{}
	if p.known == nil {
		return
	}
	s.people = make([]ranking.Profile, len(s.top))
	for i, e := range s.top {
		who := b.know(e.Member)
		who.late = who.late || !who.known
		if !who.known || now.Sub(who.since) < profileSettles {
			who.touched = s.state.Seq + 1
		}
		s.people[i] = who.profile
		s.touched[i] = max(s.touched[i], who.touched)
	}
}

// profileOf is what is shown of a member at this moment.
func (b *board) profileOf(id string) ranking.Profile {
	if b.people.known == nil {
		return ranking.Profile{}
	}
	who := b.know(id)
	who.late = who.late || !who.known
	return who.profile
}

// renamedAround reports whether the profile of one of those around a follower has
// changed since all were told.
func (b *board) renamedAround(f *Followed, at where) bool {
	renaming := b.people.renaming
	return len(renaming) > 0 && f.around > 0 && slices.ContainsFunc(b.view.neighbours(f, at), func(e ranking.Entry) bool {
		return renaming[e.Member]
	})
}

// waiting reports whether there is anything to read.
func (p *people) waiting() bool { return len(p.urgent)+len(p.aged) > 0 }

// tell begins to tell of those who were renamed.
func (p *people) tell() {
	if p.renaming = nil; len(p.renamed) > 0 {
		p.renaming, p.renamed = p.renamed, make(map[string]bool)
	}
}

// found is what was read of some profiles.
type found struct {
	kind    string
	members []string
	list    map[string]ranking.Profile
}

// readProfiles reads profiles, in one call as many as may be: first of those who wait
// for theirs.
func (b *board) readProfiles() {
	p := &b.people
	var members []string
	for len(members) < ranking.MaxPage && len(p.urgent)+len(p.aged) > 0 {
		from := &p.urgent
		if len(p.urgent) == 0 {
			from = &p.aged
		}
		id := (*from)[0]
		*from = (*from)[1:]
		if who := p.known[id]; who != nil {
			who.queued = false
			members = append(members, id)
		}
	}
	if len(members) == 0 {
		return
	}
	kind := p.kind
	b.profiles.start(b, func(ctx context.Context) (found, error) {
		list, err := b.hub.source.Profiles(ctx, kind, members)
		return found{kind, members, list}, err
	})
}

// missedProfiles takes in those that were read where others were not, who are read later.
func (b *board) missedProfiles(f found) {
	read := found{kind: f.kind, list: make(map[string]ranking.Profile)}
	for _, id := range f.members {
		is, there := f.list[id]
		if !there {
			is, there = b.hub.source.KnownProfile(f.kind, id)
		}
		if !there {
			b.people.queue(id)
			continue
		}
		read.members, read.list[id] = append(read.members, id), is
	}
	b.tookProfiles(read, time.Now())
}

// tookProfiles takes in what was read.
func (b *board) tookProfiles(f found, now time.Time) {
	p := &b.people
	if f.kind != p.kind {
		return
	}
	for _, id := range f.members {
		who := p.known[id]
		if who == nil {
			continue
		}
		is := f.list[id]
		if is != who.profile {
			if who.known || who.late {
				b.changedName(id)
			}
			who.profile, who.since = is, now
		}
		who.known, who.late = true, false
	}
}

// restart has what is known count for another life of the board.
func (p *people) restart(now time.Time) {
	for _, who := range p.known {
		who.touched, who.since = 0, now
	}
}

// forgetPeople has all profiles be read again, soon: changes may have been missed.
func (b *board) forgetPeople() { b.people.due = time.Now().Add(rand.N(resyncJitter)) }
