package hub

import (
	"time"

	"rankcast/hub/view"
)

// notifyBatch is how many members are told of their ranks in one step, so that the
// board's goroutine is back at the changes within a few milliseconds.
const notifyBatch = 1024

// notifyMember tells the followers of a member where it stands, at the end of the
// step.
func (b *board) notifyMember(f *view.Member, s view.Standing) {
	for _, st := range b.streamsOf[f] {
		if st.setStanding(s, b) {
			b.updated = append(b.updated, st)
		}
	}
}

// notifyStanding tells where a member stands now.
func (b *board) notifyStanding(f *view.Member, s view.Standing) {
	b.notifyMember(f, s)
	b.view.MarkNotified(f, s)
}

// notifyFound tells of those who became known.
func (b *board) notifyFound() {
	for _, found := range b.view.TakeFound() {
		if found.AsOf != nil {
			b.notifyMember(found.Member, *found.AsOf)
			b.ranksDirty = true // since then
		} else {
			b.notifyStanding(found.Member, b.view.Standing(found.Member))
		}
	}
}

// notifyMoved tells of those who moved by themselves, without their neighbours where
// these are not known.
func (b *board) notifyMoved() {
	for _, f := range b.view.TakeMoved() {
		b.notifyStanding(f, b.view.Standing(f))
	}
}

// notifyRanks tells of those whose rank or neighbours have changed, as many as may
// be in one step; ranksCursor says where it goes on. Neighbours that are not known
// are asked for, and told with the rank when they have come. Where that takes
// long, the rank does not wait for them.
func (b *board) notifyRanks(now time.Time) {
	if b.ranksCursor == nil {
		b.ranksNotifiedAt, b.ranksDirty = now, false
		b.profiles.beginNotifying()
	}
	slow := !b.lookupFetch.idle() || b.lookupFetch.failed()
	b.ranksCursor = b.view.WalkRanks(b.ranksCursor, notifyBatch, func(f *view.Member, at view.Placement) {
		if b.view.IsNotified(f, at) && !b.neighbourProfileChanged(f, at) {
			return
		}
		s := b.view.StandingAt(f, at)
		if f.Around() > 0 && s.Around == nil {
			b.view.RequestLookup(f)
			b.ranksDirty = true // look again, whatever comes of it
			if !slow {
				return
			}
		}
		b.notifyStanding(f, s)
	})
}

// resetMemberStreams takes back what was told of all members: the board has another
// life, or has gone back in this one.
func (b *board) resetMemberStreams() {
	for _, streams := range b.streamsOf {
		for _, st := range streams {
			st.reset()
		}
	}
}
