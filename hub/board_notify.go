package hub

import (
	"time"

	"rankcast/hub/view"
)

// notifyBatch is the most members that notifyRanks handles in one turn. The next
// turn with changes comes within a few milliseconds.
const notifyBatch = 1024

// rankRun is the state of notifyRanks.
type rankRun struct {
	dirty   bool           // ranks may have changed since the last run began
	cursor  *view.OrderKey // where the run under way goes on; nil: none is
	beganAt time.Time      // when the last run began
}

// notifyDue publishes the standings that are due.
func (b *board) notifyDue(due *schedule) {
	if b.pageToShow {
		return // the top goes first: the page may be of another generation
	}
	b.notifyFound()
	// After the publication: both are then as of one seq.
	begins := b.ranks.dirty && !b.dirty && due.has(slotAfter(b.phase, b.ranks.beganAt, b.hub.cfg.MeInterval))
	if !b.view.Valid() || b.ranks.cursor == nil && !begins {
		return
	}
	if b.notifyRanks(due.now); b.ranks.cursor != nil {
		b.wake(urgent) // the next turn goes on, after other boards' changes
	}
}

// notifyMember publishes a standing to the streams of a member. The end of the turn
// announces them.
func (b *board) notifyMember(f *view.Member, s view.Standing) {
	for _, st := range b.streamsOf[f] {
		if st.setStanding(s, b) {
			b.updated = append(b.updated, st)
		}
	}
}

// notifyStanding is notifyMember with the current standing.
func (b *board) notifyStanding(f *view.Member, s view.Standing) {
	b.notifyMember(f, s)
	b.view.MarkNotified(f, s)
}

// notifyFound publishes the standings of members that became known.
func (b *board) notifyFound() {
	for _, found := range b.view.TakeFound() {
		if found.AsOf != nil {
			b.notifyMember(found.Member, *found.AsOf)
			b.ranks.dirty = true // other changes may have moved it since the lookup
		} else {
			b.notifyStanding(found.Member, b.view.Standing(found.Member))
		}
	}
}

// notifyMoved publishes the standings of members whose own score changed, without
// neighbours where the view does not know these. Members whose places it does not know either, as on a board
// with shards, are looked up first, all in one call.
func (b *board) notifyMoved() {
	for _, f := range b.view.TakeMoved() {
		if f.Known() {
			b.notifyStanding(f, b.view.Standing(f))
		} else {
			b.view.RequestLookup(f)
		}
	}
}

// notifyRanks publishes the standings of members whose rank or neighbours other changes
// have moved, at most notifyBatch in one turn. It goes on at ranks.cursor. Neighbours that
// the view does not know are looked up first. While lookups are slow or fail, notifyRanks
// publishes the rank without them.
func (b *board) notifyRanks(now time.Time) {
	if b.ranks.cursor == nil {
		b.ranks.beganAt, b.ranks.dirty = now, false
		b.profiles.notifying, b.profiles.changed = b.profiles.changed, false
	}
	slow := !b.lookupFetch.idle() || b.lookupFetch.failed()
	b.ranks.cursor = b.view.WalkRanks(b.ranks.cursor, notifyBatch, func(f *view.Member, at view.Placement) {
		if b.view.IsNotified(f, at) && !(b.profiles.notifying && f.Around() > 0) {
			return
		}
		s := b.view.StandingAt(f, at)
		if f.Around() > 0 && s.Around == nil {
			b.view.RequestLookup(f)
			b.ranks.dirty = true // look again after the lookup, also if it fails
			if !slow {
				return
			}
		}
		b.notifyStanding(f, s)
	})
}

// resetMemberStreams removes what all members were notified of: the board has another
// epoch, or its seq has gone back.
func (b *board) resetMemberStreams() {
	for _, streams := range b.streamsOf {
		for _, st := range streams {
			st.reset()
		}
	}
}
