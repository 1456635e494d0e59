package hub

import (
	"bytes"
	"sync"
	"sync/atomic"

	"rankcast/hub/view"
)

// stream is what everybody who watches the same gets: one board at one N, one
// member's place on it, a feed, or the node's status. Only its newest version
// exists.
type stream struct {
	feed   *feed // nil of anything else
	board  string
	n      int    // of a top
	member string // that is followed, else ""
	around int    // neighbours on each side of the member

	refs    int                     // seats; guarded by the hub's lock
	version atomic.Pointer[version] // nil until there is something to show
	number  uint64                  // of the newest version there was; whoever puts versions has it
	// Bits of shards: those in which it has had seats, and those that have been
	// told of a version and have not looked at it yet.
	shards, announced atomic.Uint64

	// The board's, of a member's stream alone.
	followed bool // the view follows the member
	last     notifiedStanding
}

// notifiedStanding is what a member was told last of its place.
type notifiedStanding struct {
	seq         int64
	rank, score int64
	around      []byte // to_next and around, as JSON fields
}

// version is one state of a stream.
type version struct {
	number      uint64       // from 1 on
	generation  uint64       // of the board: what is of different lives comes with its first entries first
	publication *publication // of a top
	delta       *Frame       // from the version before; nil where a snapshot must go out
	full        func() *Frame
	end         *periodEnd // of a top
	batch       *itemBatch // of a feed; nil: none
}

// periodEnd is the last version of the period before, which nobody may skip who was
// shown an older one.
type periodEnd struct {
	number, generation uint64
	full               func() *Frame
}

// endBefore gives the end that comes before s, in place of v.
func (v *version) endBefore(s *publication) *periodEnd {
	if v.publication.final && !v.publication.missing && v.publication.period != s.period {
		return &periodEnd{v.number, v.generation, v.full} // without v's own end, or none would ever go
	}
	return v.end
}

// publish takes a top's stream to s. Where it shows something already, that is
// old, and difference holds the places at which s is not as old was. It reports
// whether there is anything new to show.
func (st *stream) publish(old, s *publication, difference *encodedRows) bool {
	next := &version{generation: s.generation, publication: s}
	next.full = sync.OnceValue(func() *Frame { return snapshotFrame(st.board, s, st.n) })
	if before := st.version.Load(); before != nil {
		next.end = before.endBefore(s)
		if s.continues(old) {
			items, count := difference.prefix(st.n)
			now, was := min(st.n, len(s.top)), min(st.n, len(old.top))
			if count == 0 && now == was && s.total == old.total {
				return false
			}
			next.delta = deltaFrame(st.board, s, st.n, before.publication.state.Seq, items)
			// Where most places differ the snapshot is the smaller frame.
			if 4*count > 3*now && len(next.full().wire) < len(next.delta.wire) {
				next.delta = nil
			}
		}
	}
	st.setVersion(next)
	return true
}

// setStanding tells a member's place on a board. It reports whether that is news.
func (st *stream) setStanding(s view.Standing, b *board) bool {
	is := notifiedStanding{seq: s.Seq, rank: s.Entry.Rank, score: s.Entry.Score}
	if st.around > 0 && s.Around != nil {
		is.around = appendAround(nil, s, st.around, b)
	}
	was, first := st.last, st.version.Load() == nil
	same := is.rank == was.rank && is.score == was.score && (is.around == nil || bytes.Equal(is.around, was.around))
	if !first && (same || is.seq < was.seq) {
		return false
	}
	st.last = is
	frame := meFrame(st.board, s, is.around)
	st.setVersion(&version{generation: b.generation, full: func() *Frame { return frame }})
	return true
}

// reset takes back what was told: it was of another life of the board.
func (st *stream) reset() { st.version.Store(nil) }

// setVersion makes v the stream's newest version.
func (st *stream) setVersion(v *version) {
	st.number++
	v.number = st.number
	st.version.Store(v)
}
