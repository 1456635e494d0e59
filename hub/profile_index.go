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

// changed returns the boards that show a member whose profile has changed. It reports
// whether it is the first change of that kind.
func (r *profileIndex) changed(m profileKey) (boards []*board, first bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	first = !r.kinds[m.kind]
	r.kinds[m.kind] = true
	return slices.Clone(r.boards[m]), first
}

// FeedProfile makes the boards that show a member read its profile again.
func (h *Hub) FeedProfile(kind, id string) {
	h.source.ForgetProfile(kind, id)
	m := profileKey{kind, id}
	boards, first := h.profiles.changed(m)
	for _, b := range boards {
		b.post(urgent, func(w *work) {
			if w.profiles == nil {
				w.profiles = make(map[profileKey]bool)
			}
			w.profiles[m] = true
		})
	}
	if first { // boards may have taken the kind for one without profiles
		for _, b := range h.boardList() {
			b.wake(normal)
		}
	}
}
