package hub

import (
	"context"
	"slices"
	"sync"

	"rankcast/ranking"
)

// ProfileSource is where profiles are read from, and what a hub tells of what it hears of
// them; a ranking.Store is one.
type ProfileSource interface {
	// Profiled reports, without I/O, whether any member of a kind may have a profile. Of
	// a kind that has none nothing else is asked.
	Profiled(kind string) bool
	// KnownProfile gives, without I/O, the profile of a member where it is known; an
	// empty one for none.
	KnownProfile(kind, member string) (p ranking.Profile, known bool)
	// Profiles reads those of up to ranking.MaxPage members. Who has none is left out.
	// Beside an error there are those that could be read; of the others KnownProfile
	// tells who has none.
	Profiles(ctx context.Context, kind string, members []string) (map[string]ranking.Profile, error)
	// ForgetProfile says that what is known of a member is old, ForgetProfiles all. They
	// MUST NOT block.
	ForgetProfile(kind, member string)
	ForgetProfiles()
}

// profileIndex tells which boards show a member, so that a change of a profile costs the
// other boards nothing.
type profileIndex struct {
	mu     sync.Mutex
	boards map[profileKey][]*board
	kinds  map[string]bool // of which a change was heard
}

// profileKey is one of a kind.
type profileKey struct{ kind, id string }

func (r *profileIndex) add(m profileKey, b *board) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.boards[m] = append(r.boards[m], b)
}

func (r *profileIndex) remove(m profileKey, b *board) {
	r.mu.Lock()
	defer r.mu.Unlock()
	left := slices.DeleteFunc(r.boards[m], func(other *board) bool { return other == b })
	if r.boards[m] = left; len(left) == 0 {
		delete(r.boards, m)
	}
}

// invalidate passes a change on to the boards that show the member. It reports whether it
// is the first of its kind that was heard.
func (r *profileIndex) invalidate(m profileKey) (first bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	first = !r.kinds[m.kind]
	r.kinds[m.kind] = true
	for _, b := range r.boards[m] {
		b.invalidateProfile(m)
	}
	return first
}

// FeedProfile has the boards that show a member show its profile anew.
func (h *Hub) FeedProfile(kind, id string) {
	h.source.ForgetProfile(kind, id)
	if first := h.profiles.invalidate(profileKey{kind, id}); first { // and boards may show nobody's yet
		for _, b := range h.boardList() {
			b.signal()
		}
	}
}

// invalidateProfile notes, from any goroutine, that the profile of a member has changed.
func (b *board) invalidateProfile(m profileKey) {
	b.changedMu.Lock()
	b.changedProfiles[m] = true
	b.changedMu.Unlock()
	b.signal()
}
