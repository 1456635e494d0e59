package hub

import (
	"context"
	"errors"
	"sync"
	"time"

	"rankcast/hub/hubtest"
	"rankcast/ranking"
)

// fakeProfiles is the ProfileSource of a fakeBoard. At first its members are of no kind.
type fakeProfiles struct {
	kind string // of the members, as in pages

	profilesMu    sync.Mutex
	profiles      map[string]ranking.Profile // nil: the kind has none
	cache         map[string]cachedProfile   // profiles that were read
	reads         []int                      // number of members in each read
	failing       bool                       // all reads fail
	failingMember string                     // reads of this member fail
	slow          time.Duration              // how long a read takes
}

// cachedProfile is a profile at the time of its read.
type cachedProfile struct {
	ranking.Profile
	at time.Time
}

// cacheTTL is how long a Store caches a profile.
const cacheTTL = 30 * time.Second

func newFakeProfiles() fakeProfiles { return fakeProfiles{cache: make(map[string]cachedProfile)} }

// setProfile changes a member's profile without a message; "" removes it.
func (f *fakeProfiles) setProfile(member, name string) {
	f.profilesMu.Lock()
	defer f.profilesMu.Unlock()
	if f.profiles == nil {
		f.profiles = make(map[string]ranking.Profile)
	}
	if f.profiles[member] = (ranking.Profile{Name: name}); name == "" {
		delete(f.profiles, member)
	}
}

// takeReads returns the sizes of the reads since the last call.
func (f *fakeProfiles) takeReads() []int {
	f.profilesMu.Lock()
	defer f.profilesMu.Unlock()
	reads := f.reads
	f.reads = nil
	return reads
}

// setSlow makes reads slow, or fail.
func (f *fakeProfiles) setSlow(slow time.Duration, noNames bool) {
	f.profilesMu.Lock()
	defer f.profilesMu.Unlock()
	f.slow, f.failing = slow, noNames
}

// withProfiles adds profiles to entries as on the wire.
func (f *fakeProfiles) withProfiles(entries []hubtest.Entry) []hubtest.Entry {
	f.profilesMu.Lock()
	defer f.profilesMu.Unlock()
	for i := range entries {
		entries[i].Name = f.profiles[entries[i].Member].Name
	}
	return entries
}

func (f *fakeProfiles) Profiled(kind string) bool {
	f.profilesMu.Lock()
	defer f.profilesMu.Unlock()
	return kind == f.kind && f.profiles != nil
}

func (f *fakeProfiles) KnownProfile(_, member string) (ranking.Profile, bool) {
	f.profilesMu.Lock()
	defer f.profilesMu.Unlock()
	k, known := f.cache[member]
	return k.Profile, known && time.Since(k.at) < cacheTTL
}

func (f *fakeProfiles) Profiles(ctx context.Context, _ string, members []string) (map[string]ranking.Profile, error) {
	f.profilesMu.Lock()
	f.reads = append(f.reads, len(members))
	list := make(map[string]ranking.Profile)
	noNames := f.failing
	for _, m := range members {
		if f.failing || m == f.failingMember {
			noNames = true
			continue
		}
		k, known := f.cache[m]
		if !known || time.Since(k.at) >= cacheTTL {
			k = cachedProfile{f.profiles[m], time.Now()}
			f.cache[m] = k
		}
		if k.Profile != (ranking.Profile{}) {
			list[m] = k.Profile
		}
	}
	slow := f.slow
	f.profilesMu.Unlock()
	if slow > 0 {
		select {
		case <-time.After(slow):
		case <-ctx.Done():
		}
	}
	if noNames || len(members) > ranking.MaxPage {
		return list, errors.New("no profiles")
	}
	return list, nil
}

func (f *fakeProfiles) ForgetProfile(_, member string) {
	f.profilesMu.Lock()
	defer f.profilesMu.Unlock()
	if f.profiles == nil {
		f.profiles = make(map[string]ranking.Profile)
	}
	delete(f.cache, member)
}

func (f *fakeProfiles) ForgetProfiles() {
	f.profilesMu.Lock()
	defer f.profilesMu.Unlock()
	clear(f.cache)
}
