package hub

import (
	"slices"
	"time"
)

// largestTop is the largest N of streams that are sorted by N.
func largestTop(tops []*stream) int {
	if len(tops) == 0 {
		return 0
	}
	return tops[len(tops)-1].n
}

// largestPublishedTop is the largest N that has a version. A larger N without one delays no
// other.
func (b *board) largestPublishedTop() int {
	for _, st := range slices.Backward(b.shown) {
		if st.version.Load() != nil {
			return st.n
		}
	}
	return 0
}

// startStreams publishes the last publication to streams without a version. From then on
// all streams of the board move together.
func (b *board) startStreams() {
	if b.publication == nil {
		return
	}
	for _, st := range b.shown {
		if st.version.Load() == nil && b.publication.covers(st.n) {
			st.publish(b.publication, nil, time.Time{})
			b.updated = append(b.updated, st)
		}
	}
}

// publishDue publishes the view, if that is due.
func (b *board) publishDue(due *schedule) {
	if b.dirty && b.view.Covers(b.largestPublishedTop()) &&
		(b.rolledOver() || due.has(slotAfter(b.phase, b.publishedAt, b.hub.cfg.Interval))) &&
		b.profilesReady(&b.profiles.waitingSince, due, b.view.EachTopMember) {
		b.publish(due.now)
	} else if b.publishAsEnd {
		b.publishStreams(b.publication.asFinal(), due.now, time.Time{})
	}
}

// publish publishes the view to all streams, and the standings of members that their own
// changes moved.
func (b *board) publish(now time.Time) {
	s := &publication{
		generation: b.generation, columns: b.columns, period: b.view.Period(), ends: b.view.Ends(), final: b.view.Final(),
		frozen: b.view.Frozen(), missing: b.missing, state: b.view.State(), total: b.view.Total(), top: b.view.Top(b.view.PageSize()),
	}
	b.attachProfiles(s)
	if b.pageToShow && b.state != ending {
		b.state = recovering
	}
	b.publishStreams(s, now, b.changedAt)
	b.dirty, b.pageToShow, b.changedAt = false, false, time.Time{}
	b.notifyMoved()
}

// slotAfter is the begin of the slot behind that of a time; zero for the zero time. Slots of a length follow one another from
// phase on. A board or a feed has the phase of what its first client watches already: what they publish when a slot begins goes out
// together.
func slotAfter(phase, at time.Time, length time.Duration) time.Time {
	if at.IsZero() {
		return at
	}
	return at.Add(length - at.Sub(phase)%length)
}

// publishStreams gives the streams of the top a publication. changedAt is when the oldest change was made that it is the
// first to show.
func (b *board) publishStreams(s *publication, now, changedAt time.Time) {
	difference := s.follow(b.publication, b.largestPublishedTop())
	for _, st := range b.shown {
		if s.covers(st.n) && st.publish(s, difference, changedAt) {
			b.updated = append(b.updated, st)
		}
	}
	if s.final && (b.publication == nil || !b.publication.final) {
		b.beginDrain()
	}
	b.publication, b.publishedAt, b.publishAsEnd = s, now, false
}
