package hub

import (
	"sync"
	"time"

	"rankcast/ranking"
)

// publication is what a board showed at one moment. It never changes.
type publication struct {
	generation uint64 // of the board's
	period     string
	ends       time.Time
	final      bool
	missing    bool // there is no such board, or no such period of it
	state      ranking.State
	total      int64
	top        []ranking.Entry
	profiles   []ranking.Profile // for each entry of top, what is shown beside it; nil: nothing
	modified   []int64           // as view.View.LastModified, profiles included
	since      int64

	once    sync.Once
	encoded encodedRows // of top
}

// rows encodes all entries, once, and only if somebody needs a snapshot.
func (s *publication) rows() *encodedRows {
	s.once.Do(func() {
		for i, e := range s.top {
			s.encoded.buf = append(s.encoded.buf, ',')
			s.encoded.buf = appendEntry(s.encoded.buf, e, s.profile(i))
			s.encoded.endRow(i)
		}
	})
	return &s.encoded
}

// profile is what is shown beside an entry.
func (s *publication) profile(i int) ranking.Profile {
	if s.profiles == nil {
		return ranking.Profile{}
	}
	return s.profiles[i]
}

// continues reports whether what old showed can be taken to s by what differs in
// the list: a delta tells nothing else.
func (s *publication) continues(old *publication) bool {
	return s.generation == old.generation && s.state.Epoch == old.state.Epoch && s.final == old.final && s.ends.Equal(old.ends)
}

// covers reports whether s has the first n entries.
func (s *publication) covers(n int) bool { return len(s.top) >= n || int64(len(s.top)) == s.total }

// asFinal is s as the last of its period.
func (s *publication) asFinal() *publication {
	return &publication{
		generation: s.generation, period: s.period, ends: s.ends, final: true, state: s.state, total: s.total,
		top: s.top, profiles: s.profiles, modified: s.modified, since: s.state.Seq + 1,
	}
}

// diff encodes the places below most at which s is not as old was.
func (s *publication) diff(old *publication, most int) *encodedRows {
	d := &encodedRows{}
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

// resumeFrame encodes the first n places as they differ from those at a state that
// a client has; nil where that is not known, or a snapshot is smaller.
func (s *publication) resumeFrame(board string, n int, has ranking.State) *Frame {
	if has.Epoch != s.state.Epoch || has.Seq < s.since || has.Seq > s.state.Seq {
		return nil
	}
	d, now := &encodedRows{}, min(n, len(s.top))
	for i, seq := range s.modified[:now] {
		if seq > has.Seq {
			d.add(i, s.top[i], s.profile(i))
		}
	}
	items, count := d.prefix(n)
	if 4*count > 3*now {
		return nil
	}
	return deltaFrame(board, s, n, has.Seq, items)
}
