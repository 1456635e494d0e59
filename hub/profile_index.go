package hub

import (
	"context"
	"maps"
	"sync"
	"time"

	"rankcast/ranking"
	"rankcast/ranking/fair"
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

const (
	// profilePiece is the most boards that the node notifies of changed profiles at one time.
	profilePiece = 20
	// profilePause is the least time between two such pieces. So the node notifies 2,000 boards a
	// second, and a member that thousands of boards show costs others nothing.
	profilePause = 10 * time.Millisecond
	// maxKinds is how many kinds of members wake all boards at their first change, at most. With
	// that many a ProfileSource takes every kind for one with profiles.
	maxKinds = 1001
)

// profileIndex maps a member to the boards that show it, and queues those boards when its profile has
// changed. A change costs other boards nothing. Its methods may be called concurrently.
type profileIndex struct {
	wake chan struct{} // queue is not empty; holds one

	mu      sync.Mutex
	places  map[profileKey][]*profilePlace
	kinds   map[string]bool                // kinds of which a change was received, maxKinds at most
	queue   fair.Queue[any, *board]        // by caller, each board once
	changed map[*board]map[profileKey]bool // of each board in the queue: the members because of whom it is there
	queued  map[profileKey]bool            // members for which each of their boards is in the queue
}

// profileKey identifies the profile of a member. The zero profileKey stands for all members.
type profileKey struct{ kind, id string }

// profilePlace is a board that shows a member.
type profilePlace struct {
	board  *board
	member profileKey
	index  int // in places of the member
}

func newProfileIndex() *profileIndex {
	return &profileIndex{
		wake: make(chan struct{}, 1), places: make(map[profileKey][]*profilePlace), kinds: make(map[string]bool),
		changed: make(map[*board]map[profileKey]bool), queued: make(map[profileKey]bool),
	}
}

func (r *profileIndex) add(m profileKey, b *board) *profilePlace {
	r.mu.Lock()
	defer r.mu.Unlock()
	place := &profilePlace{b, m, len(r.places[m])}
	r.places[m] = append(r.places[m], place)
	delete(r.queued, m) // this board is not in the queue
	return place
}

func (r *profileIndex) remove(place *profilePlace) {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := r.places[place.member]
	end := len(list) - 1
	list[place.index], list[end].index = list[end], place.index
	list[end] = nil
	if list = list[:end]; end == 0 {
		delete(r.places, place.member)
	} else {
		r.places[place.member] = list
	}
}

// change queues the boards that show a member whose profile has changed. It reports whether it is the
// first change of that kind.
func (r *profileIndex) change(m profileKey) (first bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if first = !r.kinds[m.kind] && len(r.kinds) < maxKinds; first {
		r.kinds[m.kind] = true
	}
	if !r.queued[m] && len(r.places[m]) > 0 { // else the boards of the member are in the queue already
		r.queued[m] = true
		for _, place := range r.places[m] {
			r.enqueue(m, place.board)
		}
	}
	return first
}

// changeAll queues boards that may have taken a kind for one without profiles.
func (r *profileIndex) changeAll(boards []*board) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, b := range boards {
		r.enqueue(profileKey{}, b)
	}
}

// enqueue queues a board because of a member. A board in the queue stays where it is, so each board gets one turn for
// all changes since the last. The caller holds mu.
func (r *profileIndex) enqueue(m profileKey, b *board) {
	if r.changed[b] == nil {
		r.changed[b] = make(map[profileKey]bool)
		r.queue.Push(b.callers.first(), b)
		signal(r.wake)
	}
	r.changed[b][m] = true
}

// next removes the first board from the queue; nil for an empty one. changed holds the members whose profiles have changed.
func (r *profileIndex) next() (b *board, changed map[profileKey]bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	b, _ = r.queue.Pop()
	changed = r.changed[b]
	delete(r.changed, b)
	for m := range changed {
		delete(r.queued, m)
	}
	return b, changed
}

// FeedProfile makes the boards that show a member read its profile again.
func (h *Hub) FeedProfile(kind, id string) {
	h.source.ForgetProfile(kind, id)
	if first := h.profiles.change(profileKey{kind, id}); first { // boards may have taken the kind for one without profiles
		h.profiles.changeAll(h.boardList())
	}
}

// runProfileChanges notifies boards of changed profiles, a piece at a time.
func (h *Hub) runProfileChanges(ctx context.Context) {
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-h.profiles.wake:
		}
		for more := true; more; {
			more = h.notifyProfiles()
			pause.Reset(profilePause)
			select {
			case <-ctx.Done():
				return
			case <-pause.C:
			}
		}
	}
}

// notifyProfiles notifies a piece of the boards in the queue. It reports whether there are more.
func (h *Hub) notifyProfiles() (more bool) {
	for range profilePiece {
		b, changed := h.profiles.next()
		if b == nil {
			return false
		}
		b.post(normal, func(w *work) {
			if w.profiles == nil {
				w.profiles = changed
			} else {
				maps.Copy(w.profiles, changed)
			}
		})
	}
	return true
}
