package hub

import (
	"context"
	"sync"
	"time"

	"rankcast/ranking"
	"rankcast/ranking/fairqueue"
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
	// profilePiece is the most boards that the node tells of changed profiles at one time.
	profilePiece = 20
	// profilePause is the least time between two such pieces. So 2,000 boards a second learn of
	// changes, and a member that thousands of boards show costs others nothing.
	profilePause = 10 * time.Millisecond
	// maxKinds is how many kinds of members wake all boards at their first change, at most. With
	// that many a ProfileSource takes every kind for one with profiles.
	maxKinds = 1001
)

// profileIndex maps a member to the boards that show it, and queues those boards when its profile has
// changed. A change costs other boards nothing. Its methods may be called concurrently.
type profileIndex struct {
	signal chan struct{} // queue is not empty; holds one

	mu     sync.Mutex
	places map[profileKey][]*profilePlace
	kinds  map[string]bool // kinds of which a change was received, maxKinds at most
	queue  fairqueue.Queue[profileKey, *profilePlace]
	queued map[profileKey]*queuedProfile
}

// profileKey identifies the profile of a member. The zero profileKey stands for all members.
type profileKey struct{ kind, id string }

// profilePlace is a board that shows a member.
type profilePlace struct {
	board  *board
	member profileKey
	index  int // in places of the member
}

// queuedProfile is a change that some boards have not heard of yet.
type queuedProfile struct {
	boards int  // how many of the member's boards are in the queue
	again  bool // the profile has changed again
}

func newProfileIndex() *profileIndex {
	return &profileIndex{
		signal: make(chan struct{}, 1), places: make(map[profileKey][]*profilePlace),
		kinds: make(map[string]bool), queued: make(map[profileKey]*queuedProfile),
	}
}

func (r *profileIndex) add(m profileKey, b *board) *profilePlace {
	r.mu.Lock()
	defer r.mu.Unlock()
	place := &profilePlace{b, m, len(r.places[m])}
	r.places[m] = append(r.places[m], place)
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

// change queues the boards that show a member whose profile has changed. Boards that are in the
// queue already come again after all have had their turn. It reports whether it is the first change
// of that kind.
func (r *profileIndex) change(m profileKey) (first bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if first = !r.kinds[m.kind] && len(r.kinds) < maxKinds; first {
		r.kinds[m.kind] = true
	}
	r.enqueue(m, r.places[m])
	return first
}

// changeAll queues boards that may have taken a kind for one without profiles.
func (r *profileIndex) changeAll(boards []*board) {
	places := make([]*profilePlace, len(boards))
	for i, b := range boards {
		places[i] = &profilePlace{board: b}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.enqueue(profileKey{}, places)
}

// enqueue queues places of a member. The caller holds mu.
func (r *profileIndex) enqueue(m profileKey, places []*profilePlace) {
	if q := r.queued[m]; q != nil {
		q.again = true
		return
	}
	if len(places) == 0 {
		return
	}
	for _, place := range places {
		r.queue.Push(m, place)
	}
	r.queued[m] = &queuedProfile{boards: len(places)}
	select {
	case r.signal <- struct{}{}:
	default:
	}
}

// next removes the first place from the queue. Members take turns. It returns nil for an empty queue.
// again says that it was the last place of its member, and that the member's profile has changed since.
func (r *profileIndex) next() (place *profilePlace, again bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	place, ok := r.queue.Pop()
	if !ok {
		return nil, false
	}
	q := r.queued[place.member]
	if q.boards--; q.boards > 0 {
		return place, false
	}
	delete(r.queued, place.member)
	return place, q.again
}

// FeedProfile makes the boards that show a member read its profile again.
func (h *Hub) FeedProfile(kind, id string) {
	h.source.ForgetProfile(kind, id)
	if first := h.profiles.change(profileKey{kind, id}); first { // boards may have taken the kind for one without profiles
		h.profiles.changeAll(h.boardList())
	}
}

// runProfileChanges tells boards of changed profiles, a piece at a time.
func (h *Hub) runProfileChanges(ctx context.Context) {
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-h.profiles.signal:
		}
		for more := true; more; {
			more = h.tellProfiles()
			pause.Reset(profilePause)
			select {
			case <-ctx.Done():
				return
			case <-pause.C:
			}
		}
	}
}

// tellProfiles tells a piece of the boards in the queue. It reports whether there are more.
func (h *Hub) tellProfiles() (more bool) {
	for range profilePiece {
		place, again := h.profiles.next()
		if place == nil {
			return false
		}
		place.board.post(normal, func(w *work) {
			if w.profiles == nil {
				w.profiles = make(map[profileKey]bool)
			}
			w.profiles[place.member] = true
		})
		switch m := place.member; {
		case again && m == profileKey{}:
			h.profiles.changeAll(h.boardList())
		case again:
			h.profiles.change(m)
		}
	}
	return true
}
