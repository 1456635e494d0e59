package hub

import (
	"context"
	"slices"
	"sync"

	"rankcast/ranking"
)

// ProfileSource is the store of profiles, with its cache; a ranking.Store implements it.
type ProfileSource interface {
	// Profiled reports, without I/O, whether any member of a kind may have a profile. The
	// hub asks nothing else of a kind without profiles.
	Profiled(kind string) bool
	// KnownProfile returns, without I/O, the profile of a member where the cache has it; an
	// empty one for a member without.
	KnownProfile(kind, member string) (p ranking.Profile, known bool)
	// Profiles reads the profiles of up to ranking.MaxPage members. The result omits
	// members without a profile. Beside an error it holds the profiles that could be read;
	// KnownProfile tells which of the others have none.
	Profiles(ctx context.Context, kind string, members []string) (map[string]ranking.Profile, error)
	// ForgetProfile removes a member from the cache, ForgetProfiles all members. They MUST
	// NOT block.
	ForgetProfile(kind, member string)
	ForgetProfiles()
}

// profileIndex maps a member to the boards that show it. The change of a profile costs
// other boards nothing.
type profileIndex struct {
	mu     sync.Mutex
	boards map[profileKey][]*board
	kinds  map[string]bool // kinds of which a change was received
}

// profileKey identifies the profile of a member.
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

// invalidate passes a change to the boards that show the member. It reports whether it is
// the first change of that kind.
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

// FeedProfile makes the boards that show a member read its profile again.
func (h *Hub) FeedProfile(kind, id string) {
	h.source.ForgetProfile(kind, id)
	if first := h.profiles.invalidate(profileKey{kind, id}); first { // boards may have taken the kind for one without profiles
		for _, b := range h.boardList() {
			b.signal()
		}
	}
}

// invalidateProfile notes that the profile of a member has changed. Any goroutine may call
// it.
func (b *board) invalidateProfile(m profileKey) {
	b.changedMu.Lock()
	b.changedProfiles[m] = true
	b.changedMu.Unlock()
	b.signal()
}
