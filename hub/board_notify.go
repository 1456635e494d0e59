package hub

import (
	"time"

	"rankcast/hub/view"
)

// tellMost is how many members are told of their ranks in one step, so that the
// board's goroutine is back at the changes within a few milliseconds.
const tellMost = 1024

// tellMember tells the followers of a member where it stands, at the end of the
// step.
func (b *board) tellMember(f *view.Member, s view.Standing) {
	for _, st := range b.shows[f] {
		if st.say(s, b) {
			b.news = append(b.news, st)
		}
	}
}

// tellNow tells where a member stands now.
func (b *board) tellNow(f *view.Member, s view.Standing) {
	b.tellMember(f, s)
	b.view.MarkNotified(f, s)
}

// tellFound tells of those who became known.
func (b *board) tellFound() {
	for _, found := range b.view.TakeFound() {
		if found.AsOf != nil {
			b.tellMember(found.Member, *found.AsOf)
			b.ranksMoved = true // since then
		} else {
			b.tellNow(found.Member, b.view.Standing(found.Member))
		}
	}
}

// tellOwn tells of those who moved by themselves, without their neighbours where
// these are not known.
func (b *board) tellOwn() {
	for _, f := range b.view.TakeMoved() {
		b.tellNow(f, b.view.Standing(f))
	}
}

// tellRanks tells of those whose rank or neighbours have changed, as many as may
// be in one step; ranksCursor says where it goes on. Neighbours that are not known
// are asked for, and told with the rank when they have come. Where that takes
// long, the rank does not wait for them.
func (b *board) tellRanks(now time.Time) {
	if b.ranksCursor == nil {
		b.told, b.ranksMoved = now, false
		b.people.tell()
	}
	slow := !b.places.idle() || b.places.failed()
	b.ranksCursor = b.view.WalkRanks(b.ranksCursor, tellMost, func(f *view.Member, at view.Placement) {
		if b.view.IsNotified(f, at) && !b.renamedAround(f, at) {
			return
		}
		s := b.view.StandingAt(f, at)
		if f.Around() > 0 && s.Around == nil {
			b.view.RequestLookup(f)
			b.ranksMoved = true // look again, whatever comes of it
			if !slow {
				return
			}
		}
		b.tellNow(f, s)
	})
}

// voidMembers takes back what was told of all members: the board has another
// life, or has gone back in this one.
func (b *board) voidMembers() {
	for _, streams := range b.shows {
		for _, st := range streams {
			st.void()
		}
	}
}
