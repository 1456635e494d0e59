package hub

import (
	"bytes"
	"sync/atomic"
	"time"

	"rankcast/hub/view"
)

// stream is shared by all clients that watch the same: one board at one N, one member's
// place, a feed, or the node's status. It holds its newest version only.
type stream struct {
	feed   *eventFeed // nil unless the stream is of a feed
	board  *board     // nil unless the stream is of a board
	n      int        // of a top
	member string     // the followed member, or ""
	around int        // neighbours on each side of the member

	refs    int                     // how many deliveries there are; the lock of the board's inbox guards it
	version atomic.Pointer[version] // nil until something is published
	number  uint64                  // of the newest version so far; only the publisher accesses it
	// Bits of shards: those that have had deliveries, and those that were notified of a
	// version and have not sent it yet.
	shards, announced atomic.Uint64

	// Of a member's stream; only the board's turns access these.
	followed bool // the view follows the member
	last     notifiedStanding
}

// notifiedStanding is the last standing that a stream published.
type notifiedStanding struct {
	seq         int64
	rank, score int64
	around      []byte // to_next and around, as JSON fields
}

// version is one state of a stream.
type version struct {
	number      uint64         // from 1 on
	changedAt   time.Time      // of a top: when the oldest change was made that it is the first to show; zero: none
	before      [3]versionTime // of the versions before it, the latest first
	generation  uint64         // of the board: the top of a generation goes out before its me frames
	publication *publication   // of a top
	delta       *versionDelta  // of a top, from the version before; nil: the full frame goes out
	end         *periodEnd     // of a top
	frame       *Frame         // of anything but a top; nil: nothing new
	batch       *itemBatch     // of a feed; nil: none
}

// versionTime is the changedAt of a version.
type versionTime struct {
	number    uint64
	changedAt time.Time
}

// changedSince returns when the oldest change was made that a client does not see who has an earlier version, as far as
// that is known; zero: none.
func (v *version) changedSince(number uint64) time.Time {
	at := v.changedAt
	for _, b := range v.before {
		if b.number > number {
			at = earlier(at, b.changedAt)
		}
	}
	return at
}

// versionDelta is what has changed since the version before.
type versionDelta struct {
	from   int64 // the seq of that version
	rows   *encodedRows
	freeze bool // has begun or ended since then
}

// periodEnd is the last version of the period before. A client that has an older version of
// that period must get it.
type periodEnd struct {
	number, generation uint64
	publication        *publication
}

// fullFrame makes the frame for a client that has no version of a top.
func (st *stream) fullFrame(v *version) *Frame {
	return snapshotFrame(st.board.name, v.publication, st.n)
}

// deltaFrame makes the frame for a client that has the version of a top before.
func (st *stream) deltaFrame(v *version) *Frame {
	return deltaFrame(st.board.name, v.publication, st.n, v.delta.from, v.delta.rows)
}

// endBefore returns the final version that a client must get before s, or nil. v is the
// version that s replaces.
func (v *version) endBefore(s *publication) *periodEnd {
	if v.publication.final && !v.publication.missing && v.publication.period != s.period {
		// Without v.end: otherwise a slow client would never get past the ends.
		return &periodEnd{v.number, v.generation, v.publication}
	}
	return v.end
}

// publish publishes s to a stream of a top. Where the stream has a version of the same life, difference holds the
// rows that differ. changedAt is when the oldest change was made that s shows and that version does not. publish
// reports whether there is anything new to send.
func (st *stream) publish(s *publication, difference *encodedRows, changedAt time.Time) bool {
	next := &version{generation: s.generation, publication: s, changedAt: changedAt}
	if before := st.version.Load(); before != nil {
		next.end = before.endBefore(s)
		copy(next.before[1:], before.before[:])
		next.before[0] = versionTime{before.number, before.changedAt}
		if old := before.publication; s.life == old.life {
			_, count := difference.prefix(st.n)
			now, was := min(st.n, len(s.top)), min(st.n, len(old.top))
			if count == 0 && now == was && s.total == old.total && s.isFrozenAs(old) {
				return false
			}
			next.delta = &versionDelta{old.state.Seq, difference, !s.isFrozenAs(old)}
			// Where most rows differ, the snapshot is the smaller frame.
			if 4*count > 3*now && st.fullFrame(next).Size() < st.deltaFrame(next).Size() {
				next.delta = nil
			}
		}
	}
	st.setVersion(next)
	return true
}

// setStanding publishes a member's standing. It reports whether it differs from the last
// one.
func (st *stream) setStanding(s view.Standing, b *board) bool {
	is := notifiedStanding{seq: s.Seq, rank: s.Entry.Rank, score: s.Entry.Score}
	if st.around > 0 && s.Around != nil {
		is.around = appendAround(nil, s, st.around, b.columns, b.profileOf)
	}
	was, first := st.last, st.version.Load() == nil
	same := is.rank == was.rank && is.score == was.score && (is.around == nil || bytes.Equal(is.around, was.around))
	if !first && (same || is.seq < was.seq) {
		return false
	}
	st.last = is
	st.setVersion(&version{generation: b.generation, frame: meFrame(b.name, s, b.columns, is.around)})
	return true
}

// reset removes the version: it is of another generation of the board.
func (st *stream) reset() { st.version.Store(nil) }

// setVersion makes v the stream's newest version.
func (st *stream) setVersion(v *version) {
	st.number++
	v.number = st.number
	st.version.Store(v)
}
