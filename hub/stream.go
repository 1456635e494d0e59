package hub

import (
	"strconv"
	"sync"
	"sync/atomic"

	"rankcast/ranking"
)

// shown is what a board showed at one moment. It never changes.
type shown struct {
	period string
	state  ranking.State
	total  int64
	top    []ranking.Entry

	once sync.Once
	all  rows // of top
}

// rows encodes all entries, once, and only if somebody needs a snapshot.
func (s *shown) rows() *rows {
	s.once.Do(func() {
		for i, e := range s.top {
			s.all.buf = append(s.all.buf, ',')
			s.all.buf = appendEntry(s.all.buf, e)
			s.all.end(i)
		}
	})
	return &s.all
}

// difference encodes the places below most at which s is not as old was.
func (s *shown) difference(old *shown, most int) *rows {
	d := &rows{}
	for i, e := range s.top[:min(most, len(s.top))] {
		if i < len(old.top) && old.top[i].Member == e.Member && old.top[i].Score == e.Score {
			continue
		}
		d.buf = append(d.buf, ',', '[')
		d.buf = strconv.AppendInt(d.buf, int64(i), 10)
		d.buf = append(d.buf, ',')
		d.buf = appendEntry(d.buf, e)
		d.buf = append(d.buf, ']')
		d.end(i)
	}
	return d
}

// stream is one board at one N (or the node's status): what everybody who
// watches just that gets. Only its newest version exists.
type stream struct {
	board   string
	n       int
	version atomic.Pointer[version] // nil until there is something to show
	users   int                     // subscriptions; guarded by the hub's lock
}

// version is one state of a stream.
type version struct {
	number uint64 // from 1 on
	seq    int64  // of the board
	delta  *Frame // from the version before; nil where a snapshot must go out
	whole  func() *Frame
}

// frame is what a client needs that has the version numbered have: 0 for none.
func (v *version) frame(have uint64) *Frame {
	if v.delta != nil && have+1 == v.number {
		return v.delta
	}
	return v.whole()
}

// advance takes the stream to s. Where it shows something already, that is old,
// and difference holds the places at which s is not as old was. It reports
// whether there is anything new to show.
func (st *stream) advance(old, s *shown, difference *rows) bool {
	next := &version{seq: s.state.Seq}
	next.whole = sync.OnceValue(func() *Frame { return snapshotFrame(st.board, s, st.n) })
	if before := st.version.Load(); before != nil {
		if s.state.Epoch == old.state.Epoch && s.state.Seq >= old.state.Seq {
			items, count := difference.upTo(st.n)
			now, was := min(st.n, len(s.top)), min(st.n, len(old.top))
			if count == 0 && now == was && s.total == old.total {
				return false
			}
			next.delta = deltaFrame(st.board, s, st.n, before.seq, items)
			// Where most places differ the snapshot is the smaller frame.
			if 4*count > 3*now && len(next.whole().wire) < len(next.delta.wire) {
				next.delta = nil
			}
		}
	}
	st.put(next)
	return true
}

// put makes v the stream's newest version.
func (st *stream) put(v *version) {
	v.number = 1
	if before := st.version.Load(); before != nil {
		v.number = before.number + 1
	}
	st.version.Store(v)
}
