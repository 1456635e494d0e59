package hub

import (
	"context"
	"errors"
	"sync"
	"time"

	"rankcast/hub/hubtest"
	"rankcast/ranking"
)

// fakePeople are the People of a fakeBoard, whose members are of a kind or, at first,
// of none.
type fakePeople struct {
	kind string // of the board's members, as its pages tell

	peopleMu sync.Mutex
	profiles map[string]ranking.Profile // that there are; nil: the kind has none
	kept     map[string]fakeKept        // that were read
	reads    []int                      // how many were asked for in each call
	noNames  bool                       // no profile can be read
	unread   string                     // whose profile cannot be
	slow     time.Duration              // that a read takes
}

// fakeKept is a profile as it was read.
type fakeKept struct {
	ranking.Profile
	at time.Time
}

// fakeAge is how long a Store keeps what it has read.
const fakeAge = 30 * time.Second

func newFakePeople() fakePeople { return fakePeople{kept: make(map[string]fakeKept)} }

// dub gives a member a profile, without telling anybody; "" takes it away.
func (f *fakePeople) dub(member, name string) {
	f.peopleMu.Lock()
	defer f.peopleMu.Unlock()
	if f.profiles == nil {
		f.profiles = make(map[string]ranking.Profile)
	}
	if f.profiles[member] = (ranking.Profile{Name: name}); name == "" {
		delete(f.profiles, member)
	}
}

// takeReads gives the sizes of the reads since the last call.
func (f *fakePeople) takeReads() []int {
	f.peopleMu.Lock()
	defer f.peopleMu.Unlock()
	reads := f.reads
	f.reads = nil
	return reads
}

// setSlow has reads take some time, or fail.
func (f *fakePeople) setSlow(slow time.Duration, noNames bool) {
	f.peopleMu.Lock()
	defer f.peopleMu.Unlock()
	f.slow, f.noNames = slow, noNames
}

// named puts profiles beside entries as on the wire.
func (f *fakePeople) named(entries []hubtest.Entry) []hubtest.Entry {
	f.peopleMu.Lock()
	defer f.peopleMu.Unlock()
	for i := range entries {
		entries[i].Name = f.profiles[entries[i].Member].Name
	}
	return entries
}

func (f *fakePeople) Profiled(kind string) bool {
	f.peopleMu.Lock()
	defer f.peopleMu.Unlock()
	return kind == f.kind && f.profiles != nil
}

func (f *fakePeople) KnownProfile(_, member string) (ranking.Profile, bool) {
	f.peopleMu.Lock()
	defer f.peopleMu.Unlock()
	k, known := f.kept[member]
	return k.Profile, known && time.Since(k.at) < fakeAge
}

func (f *fakePeople) Profiles(ctx context.Context, _ string, members []string) (map[string]ranking.Profile, error) {
	f.peopleMu.Lock()
	f.reads = append(f.reads, len(members))
	list := make(map[string]ranking.Profile)
	noNames := f.noNames
	for _, m := range members {
		if f.noNames || m == f.unread {
			noNames = true
			continue
		}
		k, known := f.kept[m]
		if !known || time.Since(k.at) >= fakeAge {
			k = fakeKept{f.profiles[m], time.Now()}
			f.kept[m] = k
		}
		if k.Profile != (ranking.Profile{}) {
			list[m] = k.Profile
		}
	}
	slow := f.slow
	f.peopleMu.Unlock()
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

func (f *fakePeople) ForgetProfile(_, member string) {
	f.peopleMu.Lock()
	defer f.peopleMu.Unlock()
	if f.profiles == nil {
		f.profiles = make(map[string]ranking.Profile)
	}
	delete(f.kept, member)
}

func (f *fakePeople) ForgetProfiles() {
	f.peopleMu.Lock()
	defer f.peopleMu.Unlock()
	clear(f.kept)
}
