package hub

import (
	"maps"
	"slices"
)

// streamSet holds the streams of one board. The hub's lock guards it; the streams' versions
// have their own rules.
type streamSet struct {
	tops    map[int]*stream // by N
	members map[followKey]*stream
	changed []*stream // of members: streams added or removed since the last syncStreams, in order
}

// followKey identifies the stream of a member.
type followKey struct {
	member string
	around int
}

func newStreamSet() streamSet {
	return streamSet{tops: make(map[int]*stream), members: make(map[followKey]*stream)}
}

// signal wakes the board's goroutine: its streams or its profiles have changed.
func (b *board) signal() {
	select {
	case b.streamsChanged <- struct{}{}:
	default:
	}
}

// topStream returns the stream of the first n entries. The caller holds hub.mu.
func (b *board) topStream(n int) *stream {
	st := b.tops[n]
	if st == nil {
		st = &stream{board: b.name, n: n}
		b.tops[n] = st
		b.signal()
	}
	return st
}

// memberStream returns the stream of a member. The caller holds hub.mu.
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

// removeStream removes a stream without deliveries. It reports whether the board has
// others. The caller holds hub.mu.
func (b *board) removeStream(st *stream) bool {
	if st.member == "" {
		delete(b.tops, st.n)
	} else {
		delete(b.members, followKey{st.member, st.around})
		b.changed = append(b.changed, st)
	}
	b.signal()
	return len(b.tops) > 0 // each subscription has one
}

// syncStreams returns the streams of the top, smallest N first. It makes the view follow
// the members of the streams, and no others.
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

// followStream makes the view follow the member of a stream.
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
