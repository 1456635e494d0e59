package hub

import (
	"sync"
	"time"
	"weak"

	"rankcast/ranking"
)

// publication is what a board published at one moment. It never changes.
type publication struct {
	generation uint64 // of the board
	period     string
	ends       time.Time
	final      bool
	missing    bool // the board or the period does not exist
	state      ranking.State
	total      int64
	top        []ranking.Entry
	profiles   []ranking.Profile // for each entry of top; nil: none
	modified   []int64           // as in view.View.LastModified, changes of profiles included
	since      int64

	mu      sync.Mutex
	encoded weak.Pointer[encodedRows] // top, encoded
	resumed resumedFrame
}

// resumedFrame is the frame of the last client that resumed. Those of a crowd that reconnects hold
// the same state, mostly.
type resumedFrame struct {
	n     int
	from  int64 // the seq of the state that the client held
	frame weak.Pointer[Frame]
}

// rows encodes all entries. The encoding exists while a frame needs it, and is shared.
func (s *publication) rows() *encodedRows {
	s.mu.Lock()
	defer s.mu.Unlock()
	rows := s.encoded.Value()
	if rows == nil {
		rows = &encodedRows{}
		for i, e := range s.top {
			rows.buf = append(rows.buf, ',')
			rows.buf = appendEntry(rows.buf, e, s.profile(i))
			rows.endRow(i)
		}
		s.encoded = weak.Make(rows)
	}
	return rows
}

// profile is the profile beside an entry.
func (s *publication) profile(i int) ranking.Profile {
	if s.profiles == nil {
		return ranking.Profile{}
	}
	return s.profiles[i]
}

// continues reports whether a delta can lead from old to s: a delta holds differences of
// rows and nothing else.
func (s *publication) continues(old *publication) bool {
	return s.generation == old.generation && s.state.Epoch == old.state.Epoch && s.final == old.final && s.ends.Equal(old.ends)
}

// covers reports whether s has the first n entries.
func (s *publication) covers(n int) bool { return len(s.top) >= n || int64(len(s.top)) == s.total }

// asFinal is s as the final publication of its period.
func (s *publication) asFinal() *publication {
	return &publication{
		generation: s.generation, period: s.period, ends: s.ends, final: true, state: s.state, total: s.total,
		top: s.top, profiles: s.profiles, modified: s.modified, since: s.state.Seq + 1,
	}
}

// diff encodes those of the first most rows in which s differs from old.
func (s *publication) diff(old *publication, most int) *encodedRows {
	d := &encodedRows{}
	for i, e := range s.top[:min(most, len(s.top))] {
		if i < len(old.top) {
			was := old.top[i]
			if was.Key = e.Key; was == e && s.profile(i) == old.profile(i) { // clients do not see keys
				continue
			}
		}
		d.add(i, e, s.profile(i))
	}
	return d
}

// resumeFrame is the difference of the first n rows from the state that a client has. It is nil
// where the difference is not known, or a snapshot is smaller. Clients share it.
func (s *publication) resumeFrame(board string, n int, has ranking.State) *Frame {
	if has.Epoch != s.state.Epoch || has.Seq < s.since || has.Seq > s.state.Seq {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if last := s.resumed; last.n == n && last.from == has.Seq {
		if f := last.frame.Value(); f != nil {
			return f
		}
	}
	d, now := &encodedRows{}, min(n, len(s.top))
	for i, seq := range s.modified[:now] {
		if seq > has.Seq {
			d.add(i, s.top[i], s.profile(i))
		}
	}
	if _, count := d.prefix(n); 4*count > 3*now {
		return nil
	}
	f := deltaFrame(board, s, n, has.Seq, d)
	s.resumed = resumedFrame{n, has.Seq, weak.Make(f)}
	return f
}
