package view

import (
	"slices"

	"rankcast/ranking"
)

// Standing is the place of a followed member at one seq of the board.
type Standing struct {
	Seq   int64
	Total int64
	// Place has rank 0 for a member that is not on the board. Around is nil while the view
	// does not know the neighbours, and may hold more of them than the owner shows.
	ranking.Place
}

// NeighboursWithin returns up to k neighbours on each side, and the member itself.
func (s Standing) NeighboursWithin(k int) []ranking.Entry {
	self := slices.IndexFunc(s.Around, func(e ranking.Entry) bool { return e.Member == s.Entry.Member })
	if self < 0 {
		return nil
	}
	return s.Around[max(0, self-k):min(len(s.Around), self+k+1)]
}

// Standing is the standing of a known member.
func (v *View) Standing(m *Member) Standing {
	var at Placement
	if m.onBoard {
		at = v.members.placement(m)
	}
	return v.StandingAt(m, at)
}

// StandingAt is Standing for a member with a placement that WalkRanks gave.
func (v *View) StandingAt(m *Member, at Placement) Standing {
	s := Standing{Seq: v.state.Seq, Total: v.total}
	s.Entry, s.Position = ranking.Entry{Member: m.name, Rank: at.rank}, at.position
	switch {
	case at.rank > 0:
		s.Entry.Key, s.Entry.Score = m.key, m.key.Score(v.order)
		if m.around > 0 {
			s.Around = v.Neighbours(m, at)
		}
	case m.around > 0:
		s.Around = []ranking.Entry{}
	}
	return s
}

// Neighbours returns the neighbours of a member at a placement, and the member itself: from
// the entries where these reach, otherwise from the last read. It returns nil where the
// view does not know them.
func (v *View) Neighbours(m *Member, at Placement) []ranking.Entry {
	around := int64(m.around)
	if v.inTop(m, at) {
		return v.list(int(max(0, at.position-1-around)), int(min(at.position+around, v.total)))
	}
	if m.neighboursStale {
		return nil
	}
	return m.neighboursAt(at.position, v.members.scores)
}

// inTop reports whether the entries contain all neighbours of a member.
func (v *View) inTop(m *Member, at Placement) bool {
	return at.position+int64(m.around) <= int64(len(v.entries)) || v.isComplete()
}
