package hub

import (
	"context"
	"errors"
	"sync"
	"time"

	"rankcast/hub/hubtest"
	"rankcast/ranking"
)

// fakeProfiles are the People of a fakeBoard, whose members are of a kind or, at first,
// of none.
type fakeProfiles struct {
	kind string // of the board's members, as its pages tell

	profilesMu    sync.Mutex
	profiles      map[string]ranking.Profile // that there are; nil: the kind has none
	cache         map[string]cachedProfile   // that were read
	reads         []int                      // how many were asked for in each call
	failing       bool                       // no profile can be read
	failingMember string                     // whose profile cannot be
	slow          time.Duration              // that a read takes
}

// cachedProfile is a profile as it was read.
type cachedProfile struct {
	ranking.Profile
	at time.Time
}

// cacheTTL is how long a Store keeps what it has read.
const cacheTTL = 30 * time.Second

func newFakeProfiles() fakeProfiles { return fakeProfiles{cache: make(map[string]cachedProfile)} }

// setProfile gives a member a profile, without telling anybody; "" takes it away.
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

// takeReads gives the sizes of the reads since the last call.
func (f *fakeProfiles) takeReads() []int {
	f.profilesMu.Lock()
	defer f.profilesMu.Unlock()
	reads := f.reads
	f.reads = nil
	return reads
}

// setSlow has reads take some time, or fail.
func (f *fakeProfiles) setSlow(slow time.Duration, noNames bool) {
	f.profilesMu.Lock()
	defer f.profilesMu.Unlock()
	f.slow, f.failing = slow, noNames
}

// withProfiles puts profiles beside entries as on the wire.
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
