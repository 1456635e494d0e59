package hub

import (
	"rankcast/hub/view"
	"rankcast/ranking"
	"rankcast/ranking/definition"
)

// PageFrames encodes what a page of a board holds until its socket has frames: the frames that a subscription would
// begin with, of a page that the caller has read. They are of no life, so no client resumes from them.
type PageFrames struct {
	Board    string
	Columns  definition.Columns         // of the board
	Profiles map[string]ranking.Profile // by member; nil: none
}

// Snapshot is the snapshot of all entries of a page. info is the field info, as JSON.
func (p PageFrames) Snapshot(page ranking.Page, info []byte) *Frame {
	s := &publication{columns: p.Columns, period: page.Period, ends: page.Ends, final: page.Final, state: page.State,
		total: page.Total, top: page.Entries}
	for _, e := range page.Entries {
		s.profiles = append(s.profiles, p.Profiles[e.Member])
	}
	return snapshotFrame(p.Board, s, len(s.top)).withInfo(info)
}

// Standing is the frame of a followed member with all its neighbours, as of a seq of the board. A place whose entry has
// the rank 0 is that of a member that is not on the board.
func (p PageFrames) Standing(seq, total int64, place ranking.Place) *Frame {
	s := view.Standing{Seq: seq, Total: total, Place: place}
	profileOf := func(member string) ranking.Profile { return p.Profiles[member] }
	return meFrame(p.Board, s, p.Columns, appendAround(nil, s, len(place.Around), p.Columns, profileOf))
}
