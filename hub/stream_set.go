package hub

import (
	"slices"
	"sort"

	"rankcast/hub/view"
)

// streamSet holds the streams of one board. The inbox's lock guards it; the streams'
// versions have their own rules.
type streamSet struct {
	tops    []*stream // by N; never changed in place, so that a turn may keep the slice
	members map[followKey]*stream
}

// followKey identifies the stream of a member.
type followKey struct {
	member string
	around int
}

// findTop returns the index at which the stream of the first n entries is, or would be.
func (s *streamSet) findTop(n int) (i int, found bool) {
	i = sort.Search(len(s.tops), func(i int) bool { return s.tops[i].n >= n })
	return i, i < len(s.tops) && s.tops[i].n == n
}

// topStream returns the stream of the first n entries. The caller holds mu.
func (b *board) topStream(n int) *stream {
	i, found := b.findTop(n)
	if !found {
		tops := make([]*stream, 0, len(b.tops)+1)
		tops = append(append(tops, b.tops[:i]...), &stream{board: b, n: n})
		b.tops = append(tops, b.tops[i:]...)
	}
	return b.tops[i]
}

// memberStream returns the stream of a member. The caller holds mu.
func (b *board) memberStream(member string, around int) *stream {
	key := followKey{member, around}
	st := b.members[key]
	if st == nil {
		if b.members == nil {
			b.members = make(map[followKey]*stream)
		}
		st = &stream{board: b, member: member, around: around}
		b.members[key] = st
		b.work.members = append(b.work.members, st)
		b.hub.followed.Add(1)
	}
	return st
}

// removeStream removes a stream without deliveries. The caller holds mu.
func (b *board) removeStream(st *stream) {
	if st.member == "" {
		if i, found := b.findTop(st.n); found {
			b.tops = slices.Delete(slices.Clone(b.tops), i, i+1)
		}
		return
	}
	delete(b.members, followKey{st.member, st.around})
	b.work.members = append(b.work.members, st)
	b.hub.followed.Add(-1)
}

// addDeliveries adds a subscription's deliveries to their streams, and queues a turn.
func (b *board) addDeliveries(c *Client, w Watch) *Subscription {
	sub := &Subscription{client: c}
	b.post(normal, func(todo *work) {
		sub.top = &delivery{client: c, stream: b.topStream(w.Top), resumeFrom: w.Resume, info: w.Info}
		if w.Top > smallTop && sub.top.stream.version.Load() == nil {
			todo.largeCallers = append(todo.largeCallers, c.caller)
		}
		if w.Me != "" {
			sub.me = &delivery{client: c, stream: b.memberStream(w.Me, w.Around), requires: sub.top}
			sub.top.dependent = sub.me
		}
		for _, d := range sub.deliveries() {
			d.stream.refs++
			d.stream.shards.Or(c.shard.bit)
		}
	})
	return sub
}

// removeDelivery removes a delivery from its stream, and queues a turn.
func (b *board) removeDelivery(d *delivery) {
	b.post(normal, func(*work) {
		if d.stream.refs--; d.stream.refs == 0 {
			b.removeStream(d.stream)
		}
	})
}

// syncMembers makes the view follow the members of streams that were added, and those of
// streams that were removed no more.
func (b *board) syncMembers(changed []*stream) {
	for _, st := range changed {
		if !st.followed {
			b.followStream(st)
		} else {
			b.unfollowStream(st)
		}
	}
}

// followStream makes the view follow the member of a stream.
func (b *board) followStream(st *stream) {
	around := st.around
	if f := b.view.Member(st.member); f != nil {
		around = max(around, f.Around())
	}
	f := b.view.Follow(st.member, around)
	if b.streamsOf == nil {
		b.streamsOf = make(map[*view.Member][]*stream)
	}
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
