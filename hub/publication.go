package hub

import (
	"sync"
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
	touched []int64           // as view.View.LastModified, profiles included
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
