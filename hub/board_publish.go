package hub

import (
	"slices"
	"time"
)

// most is the largest N that is asked for.
func (b *board) most(tops []*stream) int {
	if len(tops) == 0 {
		return 0
	}
	return tops[len(tops)-1].n
}

// mostShown is the largest N that has been shown. (A larger one that is not
// shown yet makes nobody wait.)
func (b *board) mostShown(tops []*stream) int {
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
	if b.shown == nil {
		return
	}
	for _, st := range tops {
		if st.version.Load() == nil && b.shown.covers(st.n) {
			st.advance(nil, b.shown, nil)
			b.hub.announce(st)
		}
	}
}

// publish shows the view to all streams, and those who moved by themselves where
// they are now.
func (b *board) publish(tops []*stream, now time.Time) {
	s := &shown{
		life: b.life, period: b.view.Period(), ends: b.view.Ends(), final: b.view.Final(), gone: b.gone,
		state: b.view.State(), total: b.view.Total(), top: b.view.Top(b.view.PageSize()),
	}
	s.touched, s.since = b.view.LastModified(len(s.top))
	b.introduce(s, now)
	b.show(s, tops, now)
	b.moved = false
	b.tellOwn()
	if b.renewed {
		b.renewed, b.recovering = false, true
	}
}

// show gives the streams what they show next.
func (b *board) show(s *shown, tops []*stream, now time.Time) {
	var difference *rows
	if b.shown != nil && s.follows(b.shown) {
		difference = s.difference(b.shown, b.mostShown(tops))
	}
	news := make([]*stream, 0, len(tops))
	for _, st := range tops {
		if s.covers(st.n) && st.advance(b.shown, s, difference) {
			news = append(news, st)
		}
	}
	if s.final && (b.shown == nil || !b.shown.final) {
		b.showedEnd()
	}
	b.shown, b.published, b.unread = s, now, false
	b.hub.announce(news...)
}
