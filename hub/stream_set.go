package hub

import (
	"maps"
	"slices"
)

// streamSet are what is watched of one board. Guarded by the hub's lock, but for
// what the streams themselves show.
type streamSet struct {
	tops    map[int]*stream // by N
	members map[followKey]*stream
	changed []*stream // of members: come or gone since the board's goroutine looked, in order
}

// followKey tells one stream of a member from another.
type followKey struct {
	member string
	around int
}

func newStreamSet() streamSet {
	return streamSet{tops: make(map[int]*stream), members: make(map[followKey]*stream)}
}

// signal says that streams have come or gone.
func (b *board) signal() {
	select {
	case b.streamsChanged <- struct{}{}:
	default:
	}
}

// topStream gives the stream of the first n entries. The caller holds hub.mu.
func (b *board) topStream(n int) *stream {
	st := b.tops[n]
	if st == nil {
		st = &stream{board: b.name, n: n}
		b.tops[n] = st
		b.signal()
	}
	return st
}

// memberStream gives the stream of a member's place. The caller holds hub.mu.
func (b *board) memberStream(member string, around int) *stream {
	key := followKey{member, around}
	st := b.members[key]
	if st == nil {
		st = &stream{board: b.name, member: member, around: around}
		b.members[key] = st
		b.changed = append(b.changed, st)
		b.signal()
	}
	return st
}

// removeStream ends a stream that nobody watches, and reports whether anybody watches
// the board at all. The caller holds hub.mu.
func (b *board) removeStream(st *stream) bool {
	if st.member == "" {
		delete(b.tops, st.n)
	} else {
		delete(b.members, followKey{st.member, st.around})
		b.changed = append(b.changed, st)
	}
	b.signal()
	return len(b.tops) > 0 // which every subscription has
}

// syncStreams lists the streams of the top, smallest N first, and follows the
// members that somebody follows now.
func (b *board) syncStreams() []*stream {
	b.hub.mu.Lock()
	tops := slices.SortedFunc(maps.Values(b.tops), func(a, b *stream) int { return a.n - b.n })
	changed := b.changed
	b.changed = nil
	b.hub.mu.Unlock()
	for _, st := range changed {
		if !st.followed {
			b.followStream(st)
		} else {
			b.unfollowStream(st)
		}
	}
	return tops
}

// followStream has the view keep the rank of a stream's member.
func (b *board) followStream(st *stream) {
	around := st.around
	if f := b.view.Member(st.member); f != nil {
		around = max(around, f.Around())
	}
	f := b.view.Follow(st.member, around)
	b.streamsOf[f] = append(b.streamsOf[f], st)
	st.followed = true
	if f.Known() {
		b.notifyStanding(f, b.view.Standing(f))
	}
}

func (b *board) unfollowStream(st *stream) {
	f := b.view.Member(st.member)
	streams := slices.DeleteFunc(b.streamsOf[f], func(other *stream) bool { return other == st })
	if b.streamsOf[f] = streams; len(streams) == 0 {
		delete(b.streamsOf, f)
		b.view.Unfollow(f)
		return
	}
	around := 0
	for _, other := range streams {
		around = max(around, other.around)
	}
	b.view.Follow(f.Name(), around)
}
