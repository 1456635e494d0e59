package hub

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"rankcast/hub/view"
	"rankcast/ranking"
)

const (
	// profileTimeout is how long a change waits for the profile of who comes with it:
	// one read, where all is well.
	profileTimeout = 100 * time.Millisecond
	// profileLag is for how long after a profile was seen to change other nodes may
	// show what was before, and their clients come here with that.
	profileLag = 2 * time.Minute
	// spareProfiles is how many profiles a board keeps at least of those that it does not
	// show any more.
	spareProfiles = 1024
)

// boardProfiles are the profiles of those whom a board shows, in its first entries or around a
// follower, of a kind that has any. They are the board's goroutine's.
type boardProfiles struct {
	kind         string
	byMember     map[string]*memberProfile // nil: the kind has no profiles
	urgent       []string                  // to be read: whoever was not yet, or has changed
	refresh      []string                  // to be read again
	refreshAt    time.Time                 // when all are to be read again
	retained     int                       // how many were shown when the others were let go last
	waitingSince time.Time                 // when what is to be published began to wait for a profile; zero: it does not
	// changed are those whose profile has changed since it was shown, and of whom the
	// followers around them were not told; renaming those of whom they are being told.
	changed, notifying map[string]bool
}

// memberProfile is what a board knows of a member's profile.
type memberProfile struct {
	profile   ranking.Profile
	known     bool
	overdue   bool      // it is shown without, as long as it is not known
	queued    bool      // to be read
	changedAt time.Time // when it came to be what it is, as was seen here
	// modified is as view.View.LastModified: who has a lower seq may show another profile. A profile
	// has no seq of its own; so it is counted to that of the board that comes next.
	modified int64
}

// queueChangedProfiles has those read again whose profiles have changed.
func (b *board) queueChangedProfiles() {
	b.changedMu.Lock()
	defer b.changedMu.Unlock()
	for m := range b.changedProfiles {
		if m.kind == b.profiles.kind {
			b.profiles.enqueue(m.id)
		}
	}
	clear(b.changedProfiles)
}

// loadProfiles begins to know the profiles of a kind, or none, and what has become due of them.
func (b *board) loadProfiles(isDue func(time.Time) bool) {
	p, kind := &b.profiles, b.kind
	profiled := kind != "" && b.hub.source.Profiled(kind)
	if kind != p.kind || profiled != (p.byMember != nil) {
		named := p.byMember != nil
		b.resetProfiles()
		b.profiles = boardProfiles{kind: kind, changed: make(map[string]bool)}
		if named { // by what counts no more
			p.changed = b.visibleMembers()
			b.dirty, b.ranksDirty = true, true
		}
		if profiled {
			p.byMember = make(map[string]*memberProfile)
			p.refreshAt = p.nextRefresh(b.hub.cfg.ProfileInterval)
			b.loadVisible()
		}
	}
	if p.byMember == nil {
		return
	}
	b.queueChangedProfiles()
	if len(p.byMember) > 2*p.retained+spareProfiles {
		b.evictProfiles()
	}
	if isDue(p.refreshAt) {
		p.refresh, p.refreshAt = slices.Collect(maps.Keys(p.byMember)), p.nextRefresh(b.hub.cfg.ProfileInterval)
	}
}

// nextRefresh is when all are read again; boards that began together do not go on so.
func (p *boardProfiles) nextRefresh(interval time.Duration) time.Time {
	return time.Now().Add(interval - rand.N(interval/8+1))
}

// loadVisible has those read who are shown already, by their ids alone.
func (b *board) loadVisible() {
	if b.publication == nil {
		return
	}
	for id := range b.visibleMembers() {
		who := b.profileEntry(id)
		if who.overdue = !who.known; who.profile != (ranking.Profile{}) {
			b.markProfileChanged(id)
		}
	}
}

// markProfileChanged notes that somebody is shown with another profile than it has.
func (b *board) markProfileChanged(id string) {
	b.profiles.changed[id] = true
	b.dirty, b.ranksDirty = true, true
}

// visibleMembers are the members of the first entries and those around followers.
func (b *board) visibleMembers() map[string]bool {
	ids := make(map[string]bool)
	b.view.EachVisible(func(id string) { ids[id] = true })
	return ids
}

// evictProfiles forgets those who are not shown any more.
func (b *board) evictProfiles() {
	p, shown := &b.profiles, b.visibleMembers()
	for id := range p.byMember {
		if !shown[id] {
			delete(p.byMember, id)
			b.hub.profiles.remove(profileKey{p.kind, id}, b)
		}
	}
	p.retained = len(p.byMember)
}

// resetProfiles ends knowing profiles.
func (b *board) resetProfiles() {
	for id := range b.profiles.byMember {
		b.hub.profiles.remove(profileKey{b.profiles.kind, id}, b)
	}
	b.profileFetch.drop()
}

// profileEntry gives what is known of a member, who is to be shown. Whoever was unknown is asked
// for.
func (b *board) profileEntry(id string) *memberProfile {
	p := &b.profiles
	if known := p.byMember[id]; known != nil {
		return known
	}
	who := &memberProfile{changedAt: time.Now()}
	p.byMember[id] = who
	// Before it is looked up: what changes from here on is heard.
	b.hub.profiles.add(profileKey{p.kind, id}, b)
	if who.profile, who.known = b.hub.source.KnownProfile(p.kind, id); !who.known {
		p.enqueue(id)
	}
	return who
}

// enqueue has a profile read soon.
func (p *boardProfiles) enqueue(id string) {
	if who := p.byMember[id]; who != nil && !who.queued {
		who.queued = true
		p.urgent = append(p.urgent, id)
	}
}

// prefetchProfiles asks early for those whom changes bring among the first entries.
func (b *board) prefetchProfiles(c *ranking.Changes) {
	if b.profiles.byMember == nil || c.Period != b.view.Period() {
		return
	}
	for _, change := range c.List {
		if change.New != nil && change.Position <= int64(b.view.PageSize()) {
			b.profileEntry(change.Member)
		}
	}
}

// profilesReady reports whether the profiles of all are known whom each calls its argument
// for, or are not to be waited for any longer than since then; zero: since now.
func (b *board) profilesReady(since *time.Time, isDue func(time.Time) bool, each func(do func(id string))) bool {
	p := &b.profiles
	if p.byMember == nil {
		return true
	}
	var missing []*memberProfile
	each(func(id string) {
		if who := b.profileEntry(id); !who.known && !who.overdue {
			missing = append(missing, who)
		}
	})
	if len(missing) == 0 {
		return true
	}
	if since.IsZero() {
		*since = time.Now()
	}
	if b.feedLive && !b.profileFetch.failed() && !isDue(since.Add(profileTimeout)) {
		return false
	}
	for _, who := range missing {
		who.overdue = true
	}
	return true
}

// eachTopMember calls do for the members of the first entries.
func (b *board) eachTopMember(do func(id string)) { b.view.EachTopMember(do) }

// eachNeighbour gives those around the members of an answer to what it is called with.
func eachNeighbour(p *ranking.Places) func(do func(id string)) {
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

// attachProfiles puts the profiles beside what is to be shown, and has their changes count as
// those of places.
func (b *board) attachProfiles(s *publication, now time.Time) {
	p := &b.profiles
	p.waitingSince = time.Time{}
	if p.byMember == nil {
		return
	}
	s.profiles = make([]ranking.Profile, len(s.top))
	for i, e := range s.top {
		who := b.profileEntry(e.Member)
		who.overdue = who.overdue || !who.known
		if !who.known || now.Sub(who.changedAt) < profileLag {
			who.modified = s.state.Seq + 1
		}
		s.profiles[i] = who.profile
		s.modified[i] = max(s.modified[i], who.modified)
	}
}

// profileOf is what is shown of a member at this moment.
func (b *board) profileOf(id string) ranking.Profile {
	if b.profiles.byMember == nil {
		return ranking.Profile{}
	}
	who := b.profileEntry(id)
	who.overdue = who.overdue || !who.known
	return who.profile
}

// neighbourProfileChanged reports whether the profile of one of those around a follower has
// changed since all were told.
func (b *board) neighbourProfileChanged(f *view.Member, at view.Placement) bool {
	renaming := b.profiles.notifying
	return len(renaming) > 0 && f.Around() > 0 && slices.ContainsFunc(b.view.Neighbours(f, at), func(e ranking.Entry) bool {
		return renaming[e.Member]
	})
}

// needsFetch reports whether there is anything to read.
func (p *boardProfiles) needsFetch() bool { return len(p.urgent)+len(p.refresh) > 0 }

// beginNotifying begins to tell of those who were renamed.
func (p *boardProfiles) beginNotifying() {
	if p.notifying = nil; len(p.changed) > 0 {
		p.notifying, p.changed = p.changed, make(map[string]bool)
	}
}

// profileResult is what was read of some profiles.
type profileResult struct {
	kind    string
	members []string
	list    map[string]ranking.Profile
}

// fetchProfiles reads profiles, in one call as many as may be: first of those who wait
// for theirs.
func (b *board) fetchProfiles() {
	p := &b.profiles
	var members []string
	for len(members) < ranking.MaxPage && len(p.urgent)+len(p.refresh) > 0 {
		from := &p.urgent
		if len(p.urgent) == 0 {
			from = &p.refresh
		}
		id := (*from)[0]
		*from = (*from)[1:]
		if who := p.byMember[id]; who != nil {
			who.queued = false
			members = append(members, id)
		}
	}
	if len(members) == 0 {
		return
	}
	kind := p.kind
	b.profileFetch.start(b, func(ctx context.Context) (profileResult, error) {
		list, err := b.hub.source.Profiles(ctx, kind, members)
		return profileResult{kind, members, list}, err
	})
}

// applyPartialProfiles takes in those that were read where others were not, who are read later.
func (b *board) applyPartialProfiles(f profileResult) {
	read := profileResult{kind: f.kind, list: make(map[string]ranking.Profile)}
	for _, id := range f.members {
		is, there := f.list[id]
		if !there {
			is, there = b.hub.source.KnownProfile(f.kind, id)
		}
		if !there {
			b.profiles.enqueue(id)
			continue
		}
		read.members, read.list[id] = append(read.members, id), is
	}
	b.applyProfiles(read, time.Now())
}

// applyProfiles takes in what was read.
func (b *board) applyProfiles(f profileResult, now time.Time) {
	p := &b.profiles
	if f.kind != p.kind {
		return
	}
	for _, id := range f.members {
		who := p.byMember[id]
		if who == nil {
			continue
		}
		is := f.list[id]
		if is != who.profile {
			if who.known || who.overdue {
				b.markProfileChanged(id)
			}
			who.profile, who.changedAt = is, now
		}
		who.known, who.overdue = true, false
	}
}

// beginGeneration has what is known count for another life of the board.
func (p *boardProfiles) beginGeneration(now time.Time) {
	for _, who := range p.byMember {
		who.modified, who.changedAt = 0, now
	}
}

// refreshProfiles has all profiles be read again, soon: changes may have been missed.
func (b *board) refreshProfiles() { b.profiles.refreshAt = time.Now().Add(rand.N(resyncJitter)) }
