package hub

import (
	"crypto/rand"
	"slices"
	"strconv"
	"sync"
	"time"
	"weak"

	"rankcast/ranking"
	"rankcast/ranking/definition"
)

// Position names the list that a client holds of a board. Life is a random token that no other life has, of no
// board and no node, and then the top of the client; "" is no position. In one life a seq may stand for two lists:
// a later publication of the same seq counts as a change after it.
type Position struct {
	Life string
	Seq  int64
}

// lifeChars is how many characters of rand.Text a life has: 60 bits.
const lifeChars = 12

// publication is what a board published at one moment. It never changes.
type publication struct {
	generation uint64             // of the board
	life       string             // a run of publications, each of which continues the one before
	columns    definition.Columns // of the scores
	period     string
	ends       time.Time
	final      bool
	frozen     *ranking.Frozen // nil: it is not frozen
	frozenSeq  int64           // the seq since when this life is frozen so, or is not frozen
	missing    bool            // the board or the period does not exist
	state      ranking.State
	total      int64
	top        []ranking.Entry
	profiles   []ranking.Profile // for each entry of top; nil: none
	modified   []int64           // for each entry, the seq since when this life shows it so

	mu      sync.Mutex
	encoded weak.Pointer[encodedRows] // top, encoded
	resumed resumedFrame
}

// resumedFrame is the frame of the last client that resumed. Those of a crowd that reconnects hold
// the same state, mostly.
type resumedFrame struct {
	n     int
	from  int64 // the seq of the client's position
	frame weak.Pointer[Frame]
}

// rows encodes all entries. The encoding exists while a frame needs it, and is shared.
func (s *publication) rows() *encodedRows {
	s.mu.Lock()
	defer s.mu.Unlock()
	rows := s.encoded.Value()
	if rows == nil {
		rows = &encodedRows{columns: s.columns}
		for i, e := range s.top {
			rows.buf = append(rows.buf, ',')
			rows.buf = appendEntry(rows.buf, e, s.columns, s.profile(i))
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
// rows, a board frame before it tells a freeze, and its seq never goes back.
func (s *publication) continues(old *publication) bool {
	return s.generation == old.generation && s.state.Epoch == old.state.Epoch && s.state.Seq >= old.state.Seq &&
		s.final == old.final && s.ends.Equal(old.ends)
}

// isFrozenAs reports whether two publications say the same about a freeze.
func (s *publication) isFrozenAs(old *publication) bool {
	if s.frozen == nil || old.frozen == nil {
		return s.frozen == old.frozen
	}
	return *s.frozen == *old.frozen
}

// position is what a client holds that has got the first n entries of s. A list of fewer entries lacks those behind
// them, so it is another position. A publication of no life has no position.
func (s *publication) position(n int) Position {
	if s.life == "" {
		return Position{}
	}
	return Position{s.life + "-" + strconv.Itoa(n), s.state.Seq}
}

// follow makes s the publication after old, or the first one for nil. It continues the life of old where a
// delta can lead from old to s, and begins a life otherwise. It returns the rows of that delta, of the first
// most entries, or nil.
func (s *publication) follow(old *publication, most int) *encodedRows {
	at, d := s.state.Seq, &encodedRows{columns: s.columns}
	s.modified, s.frozenSeq = slices.Repeat([]int64{at}, len(s.top)), at
	if old == nil || !s.continues(old) {
		s.life = rand.Text()[:lifeChars]
		return nil
	}
	s.life = old.life
	if at == old.state.Seq {
		at++ // a client at this seq may hold old
	}
	if s.frozenSeq = at; s.isFrozenAs(old) {
		s.frozenSeq = old.frozenSeq
	}
	for i, e := range s.top {
		if i < len(old.top) {
			was := old.top[i]
			if was.Key = e.Key; was == e && s.profile(i) == old.profile(i) { // clients do not see keys
				s.modified[i] = old.modified[i]
				continue
			}
		}
		if s.modified[i] = at; i < most {
			d.add(i, e, s.profile(i))
		}
	}
	return d
}

// covers reports whether s has the first n entries.
func (s *publication) covers(n int) bool { return len(s.top) >= n || int64(len(s.top)) == s.total }

// asFinal is s as the final publication of its period.
func (s *publication) asFinal() *publication {
	return &publication{
		generation: s.generation, columns: s.columns, period: s.period, ends: s.ends, final: true, state: s.state, total: s.total,
		top: s.top, profiles: s.profiles,
	}
}

// resumeFrame is the difference of the first n rows from the position of a client. It is nil
// where the position is of another life or another n, or a snapshot is smaller. Clients share it.
func (s *publication) resumeFrame(board string, n int, has Position) *Frame {
	if at := s.position(n); has.Life != at.Life || has.Seq > at.Seq {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if last := s.resumed; last.n == n && last.from == has.Seq {
		if f := last.frame.Value(); f != nil {
			return f
		}
	}
	d, now := &encodedRows{columns: s.columns}, min(n, len(s.top))
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
