package hub

import (
	"bytes"
	"sync"
	"sync/atomic"
	"time"

	"rankcast/ranking"
)

// shown is what a board showed at one moment. It never changes.
type shown struct {
	life    uint64 // of the board's
	period  string
	ends    time.Time
	final   bool
	gone    bool // there is no such board, or no such period of it
	state   ranking.State
	total   int64
	top     []ranking.Entry
	people  []ranking.Profile // for each entry of top, what is shown beside it; nil: nothing
	touched []int64           // as View.Touched, profiles included
	since   int64

	once sync.Once
	all  rows // of top
}

// rows encodes all entries, once, and only if somebody needs a snapshot.
func (s *shown) rows() *rows {
	s.once.Do(func() {
		for i, e := range s.top {
			s.all.buf = append(s.all.buf, ',')
			s.all.buf = appendEntry(s.all.buf, e, s.profile(i))
			s.all.end(i)
		}
	})
	return &s.all
}

// profile is what is shown beside an entry.
func (s *shown) profile(i int) ranking.Profile {
	if s.people == nil {
		return ranking.Profile{}
	}
	return s.people[i]
}

// follows reports whether what old showed can be taken to s by what differs in
// the list: a delta tells nothing else.
func (s *shown) follows(old *shown) bool {
	return s.life == old.life && s.state.Epoch == old.state.Epoch && s.final == old.final && s.ends.Equal(old.ends)
}

// covers reports whether s has the first n entries.
func (s *shown) covers(n int) bool { return len(s.top) >= n || int64(len(s.top)) == s.total }

// atEnd is s as the last of its period.
func (s *shown) atEnd() *shown {
	return &shown{
		life: s.life, period: s.period, ends: s.ends, final: true, state: s.state, total: s.total,
		top: s.top, people: s.people, touched: s.touched, since: s.state.Seq + 1,
	}
}

// difference encodes the places below most at which s is not as old was.
func (s *shown) difference(old *shown, most int) *rows {
	d := &rows{}
	for i, e := range s.top[:min(most, len(s.top))] {
		if i < len(old.top) {
			was := old.top[i]
			if was.Key = e.Key; was == e && s.profile(i) == old.profile(i) { // keys are not shown
				continue
			}
		}
		d.add(i, e, s.profile(i))
	}
	return d
}

// resumed encodes the first n places as they differ from those at a state that
// a client has; nil where that is not known, or a snapshot is smaller.
func (s *shown) resumed(board string, n int, has ranking.State) *Frame {
	if has.Epoch != s.state.Epoch || has.Seq < s.since || has.Seq > s.state.Seq {
		return nil
	}
	d, now := &rows{}, min(n, len(s.top))
	for i, seq := range s.touched[:now] {
		if seq > has.Seq {
			d.add(i, s.top[i], s.profile(i))
		}
	}
	items, count := d.upTo(n)
	if 4*count > 3*now {
		return nil
	}
	return deltaFrame(board, s, n, has.Seq, items)
}

// stream is what everybody who watches the same gets: one board at one N, one
// member's place on it, a feed, or the node's status. Only its newest version
// exists.
type stream struct {
	feed   *eventFeed // nil of anything else
	board  string
	n      int    // of a top
	member string // that is followed, else ""
	around int    // neighbours on each side of the member

	users   int                     // seats; guarded by the hub's lock
	version atomic.Pointer[version] // nil until there is something to show
	number  uint64                  // of the newest version there was; whoever puts versions has it
	// Bits of shards: those in which it has had seats, and those that have been
	// told of a version and have not looked at it yet.
	shards, announced atomic.Uint64

	// The board's, of a member's stream alone.
	followed bool // the view follows the member
	said     said
}

// said is what a member was told last of its place.
type said struct {
	seq         int64
	rank, score int64
	around      []byte // to_next and around, as JSON fields
}

// version is one state of a stream.
type version struct {
	number uint64 // from 1 on
	life   uint64 // of the board: what is of different lives comes with its first entries first
	shown  *shown // of a top
	delta  *Frame // from the version before; nil where a snapshot must go out
	whole  func() *Frame
	end    *end   // of a top
	items  *items // of a feed; nil: none
}

// end is the last version of the period before, which nobody may skip who was
// shown an older one.
type end struct {
	number, life uint64
	whole        func() *Frame
}

// endBefore gives the end that comes before s, in place of v.
func (v *version) endBefore(s *shown) *end {
	if v.shown.final && !v.shown.gone && v.shown.period != s.period {
		return &end{v.number, v.life, v.whole} // without v's own end, or none would ever go
	}
	return v.end
}

// advance takes a top's stream to s. Where it shows something already, that is
// old, and difference holds the places at which s is not as old was. It reports
// whether there is anything new to show.
func (st *stream) advance(old, s *shown, difference *rows) bool {
	next := &version{life: s.life, shown: s}
	next.whole = sync.OnceValue(func() *Frame { return snapshotFrame(st.board, s, st.n) })
	if before := st.version.Load(); before != nil {
		next.end = before.endBefore(s)
		if s.follows(old) {
			items, count := difference.upTo(st.n)
			now, was := min(st.n, len(s.top)), min(st.n, len(old.top))
			if count == 0 && now == was && s.total == old.total {
				return false
			}
			next.delta = deltaFrame(st.board, s, st.n, before.shown.state.Seq, items)
			// Where most places differ the snapshot is the smaller frame.
			if 4*count > 3*now && len(next.whole().wire) < len(next.delta.wire) {
				next.delta = nil
			}
		}
	}
	st.put(next)
	return true
}

// say tells a member's place on a board. It reports whether that is news.
func (st *stream) say(s Standing, b *board) bool {
	is := said{seq: s.Seq, rank: s.Entry.Rank, score: s.Entry.Score}
	if st.around > 0 && s.Around != nil {
		is.around = appendAround(nil, s, st.around, b)
	}
	was, first := st.said, st.version.Load() == nil
	same := is.rank == was.rank && is.score == was.score && (is.around == nil || bytes.Equal(is.around, was.around))
	if !first && (same || is.seq < was.seq) {
		return false
	}
	st.said = is
	frame := meFrame(st.board, s, is.around)
	st.put(&version{life: b.life, whole: func() *Frame { return frame }})
	return true
}

// void takes back what was told: it was of another life of the board.
func (st *stream) void() { st.version.Store(nil) }

// put makes v the stream's newest version.
func (st *stream) put(v *version) {
	st.number++
	v.number = st.number
	st.version.Store(v)
}
