package hub

import (
	"slices"
	"time"
)

// largestTop is the largest N that is asked for.
func (b *board) largestTop(tops []*stream) int {
	if len(tops) == 0 {
		return 0
	}
	return tops[len(tops)-1].n
}

// largestPublishedTop is the largest N that has been shown. (A larger one that is not
// shown yet makes nobody wait.)
func (b *board) largestPublishedTop(tops []*stream) int {
	for _, st := range slices.Backward(tops) {
		if st.version.Load() != nil {
			return st.n
		}
	}
	return 0
}

// startStreams shows what was published last to streams that show nothing yet,
// so that from then on all streams of the board move together.
func (b *board) startStreams(tops []*stream) {
	if b.publication == nil {
		return
	}
	for _, st := range tops {
		if st.version.Load() == nil && b.publication.covers(st.n) {
			st.publish(nil, b.publication, nil)
			b.hub.announce(st)
		}
	}
}

// publish shows the view to all streams, and those who moved by themselves where
// they are now.
func (b *board) publish(tops []*stream, now time.Time) {
	s := &publication{
		generation: b.generation, period: b.view.Period(), ends: b.view.Ends(), final: b.view.Final(), missing: b.missing,
		state: b.view.State(), total: b.view.Total(), top: b.view.Top(b.view.PageSize()),
	}
	s.modified, s.since = b.view.LastModified(len(s.top))
	b.attachProfiles(s, now)
	b.publishStreams(s, tops, now)
	b.dirty = false
	b.notifyMoved()
	if b.pageApplied {
		b.pageApplied, b.recovering = false, true
	}
}

// publishStreams gives the streams what they show next.
func (b *board) publishStreams(s *publication, tops []*stream, now time.Time) {
	var difference *encodedRows
	if b.publication != nil && s.continues(b.publication) {
		difference = s.diff(b.publication, b.largestPublishedTop(tops))
	}
	news := make([]*stream, 0, len(tops))
	for _, st := range tops {
		if s.covers(st.n) && st.publish(b.publication, s, difference) {
			news = append(news, st)
		}
	}
	if s.final && (b.publication == nil || !b.publication.final) {
		b.beginDrain()
	}
	b.publication, b.publishedAt, b.publishAsEnd = s, now, false
	b.hub.announce(news...)
}
