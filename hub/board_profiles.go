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
	// profileTimeout is how long a change waits for the profiles of members that it brings:
	// one read, normally.
	profileTimeout = 100 * time.Millisecond
	// spareProfiles is the least number of profiles that a board keeps beyond those that it
	// shows.
	spareProfiles = 1024
)

// boardProfiles holds the profiles of the members that a board shows, in its top or around
// a follower. Only the board's turns access it.
type boardProfiles struct {
	kind         string
	byMember     map[string]*memberProfile // nil: the kind has no profiles
	urgent       []string                  // to read first: not read yet, or changed
	refresh      []string                  // to read again
	refreshAt    time.Time                 // when all profiles are read again
	retained     int                       // how many profiles the last eviction kept
	waitingSince time.Time                 // since when a publication waits for profiles; zero: none waits
	// changed says that a profile has changed since notifyRanks last began, notifying that one had changed when the run
	// under way began.
	changed, notifying bool
}

// memberProfile is what a board knows of a member's profile.
type memberProfile struct {
	place   *profilePlace
	profile ranking.Profile
	known   bool
	overdue bool // the member is shown without a profile until that is known
	queued  bool // is in urgent or refresh
}

// loadProfiles follows the kind of the board's members. It queues the profiles that have
// changed, and those that are due.
func (b *board) loadProfiles(due *schedule, changed map[profileKey]bool) {
	p, kind := &b.profiles, b.kind
	profiled := kind != "" && b.hub.source.Profiled(kind)
	if kind != p.kind || profiled != (p.byMember != nil) {
		named := p.byMember != nil
		b.resetProfiles()
		b.profiles = boardProfiles{kind: kind}
		if named { // the profiles shown are of another kind
			b.markProfileChanged()
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
	for m := range changed {
		if m.kind == p.kind {
			p.enqueue(m.id)
		}
	}
	if len(p.byMember) > 2*p.retained+spareProfiles {
		b.evictProfiles()
	}
	if due.has(p.refreshAt) {
		p.refresh, p.refreshAt = slices.Collect(maps.Keys(p.byMember)), p.nextRefresh(b.hub.cfg.ProfileInterval)
	}
}

// nextRefresh is when all profiles are read again. The jitter spreads boards that began
// together.
func (p *boardProfiles) nextRefresh(interval time.Duration) time.Time {
	return time.Now().Add(interval - rand.N(interval/8+1))
}

// loadVisible loads the profiles of the members that clients already see without them.
func (b *board) loadVisible() {
	if b.publication == nil {
		return
	}
	for id := range b.view.Visible() {
		entry := b.profileEntry(id)
		if entry.overdue = !entry.known; entry.profile != (ranking.Profile{}) {
			b.markProfileChanged()
		}
	}
}

// markProfileChanged notes that clients see an old profile.
func (b *board) markProfileChanged() { b.profiles.changed, b.dirty, b.ranks.dirty = true, true, true }

// evictProfiles removes the profiles that the board does not show any more.
func (b *board) evictProfiles() {
	p, shown := &b.profiles, b.view.Visible()
	for id, entry := range p.byMember {
		if !shown[id] {
			delete(p.byMember, id)
			b.hub.profiles.remove(entry.place)
		}
	}
	p.retained = len(p.byMember)
}

// resetProfiles removes all profiles.
func (b *board) resetProfiles() {
	for _, entry := range b.profiles.byMember {
		b.hub.profiles.remove(entry.place)
	}
	b.profileFetch.drop()
}

// profileEntry returns the profile of a member that is to be shown. It queues a read where
// the profile is not known.
func (b *board) profileEntry(id string) *memberProfile {
	p := &b.profiles
	if known := p.byMember[id]; known != nil {
		return known
	}
	entry := &memberProfile{}
	p.byMember[id] = entry
	// Before the lookup: from here on no change is missed.
	entry.place = b.hub.profiles.add(profileKey{p.kind, id}, b)
	if entry.profile, entry.known = b.hub.source.KnownProfile(p.kind, id); !entry.known {
		p.enqueue(id)
	}
	return entry
}

// enqueue queues a read of a profile.
func (p *boardProfiles) enqueue(id string) {
	if entry := p.byMember[id]; entry != nil && !entry.queued {
		entry.queued = true
		p.urgent = append(p.urgent, id)
	}
}

// prefetchProfiles loads the profiles of members that changes bring into the top.
func (b *board) prefetchProfiles(c *feed.Changes) {
	if b.profiles.byMember == nil || c.Period != b.view.Period() {
		return
	}
	for _, change := range c.List {
		if change.New != nil && change.Position <= int64(b.view.PageSize()) {
			b.profileEntry(change.Member)
		}
	}
}

// profilesReady reports whether the publication need not wait for the profiles of the
// members that each gives: all are known, or the wait since then has taken profileTimeout.
// A zero since starts the wait.
func (b *board) profilesReady(since *time.Time, due *schedule, each func(do func(id string))) bool {
	p := &b.profiles
	if p.byMember == nil {
		return true
	}
	var missing []*memberProfile
	each(func(id string) {
		if entry := b.profileEntry(id); !entry.known && !entry.overdue {
			missing = append(missing, entry)
		}
	})
	if len(missing) == 0 {
		return true
	}
	if since.IsZero() {
		*since = time.Now()
	}
	if b.link.live && !b.profileFetch.failed() && !due.has(since.Add(profileTimeout)) {
		return false
	}
	for _, entry := range missing {
		entry.overdue = true
	}
	return true
}

// eachNeighbour returns a function that calls do for the members around those in an answer.
func eachNeighbour(p *ranking.Places) func(do func(id string)) {
	return func(do func(id string)) {
		for _, place := range p.List {
			if len(place.Around) > 1 { // otherwise no client asked for neighbours
				for _, e := range place.Around {
					do(e.Member)
				}
			}
		}
	}
}

// attachProfiles adds the profiles to a publication.
func (b *board) attachProfiles(s *publication) {
	p := &b.profiles
	p.waitingSince = time.Time{}
	if p.byMember == nil {
		return
	}
	s.profiles = make([]ranking.Profile, len(s.top))
	for i, e := range s.top {
		entry := b.profileEntry(e.Member)
		entry.overdue = entry.overdue || !entry.known
		s.profiles[i] = entry.profile
	}
}

// profileOf is the profile that clients see of a member now.
func (b *board) profileOf(id string) ranking.Profile {
	if b.profiles.byMember == nil {
		return ranking.Profile{}
	}
	entry := b.profileEntry(id)
	entry.overdue = entry.overdue || !entry.known
	return entry.profile
}

// needsFetch reports whether a profile waits for a read.
func (p *boardProfiles) needsFetch() bool { return len(p.urgent)+len(p.refresh) > 0 }

// profileResult is the result of a read of profiles.
type profileResult struct {
	kind    string
	members []string
	list    map[string]ranking.Profile
}

// fetchProfiles reads profiles, as many as one call may: the urgent ones first.
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
		if entry := p.byMember[id]; entry != nil {
			entry.queued = false
			members = append(members, id)
		}
	}
	if len(members) == 0 {
		return
	}
	kind := p.kind
	b.profileFetch.start(b, urgent, func(ctx context.Context) (profileResult, error) {
		list, err := b.hub.source.Profiles(ctx, kind, members)
		return profileResult{kind, members, list}, err
	})
}

// applyPartialProfiles applies the profiles that a failed read returned, and queues the
// others again.
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
	b.applyProfiles(read)
}

// applyProfiles applies profiles that were read.
func (b *board) applyProfiles(f profileResult) {
	p := &b.profiles
	if f.kind != p.kind {
		return
	}
	for _, id := range f.members {
		entry := p.byMember[id]
		if entry == nil {
			continue
		}
		is := f.list[id]
		if is != entry.profile {
			if entry.known || entry.overdue {
				b.markProfileChanged()
			}
			entry.profile = is
		}
		entry.known, entry.overdue = true, false
	}
}

// refreshProfiles makes all profiles due soon: changes may have been missed.
func (b *board) refreshProfiles() { b.profiles.refreshAt = time.Now().Add(rand.N(resyncJitter)) }
