package hub

import (
	"rankcast/ranking"
	"rankcast/ranking/feed"
)

// replaces reports whether a message says that its board-period was replaced as a
// whole.
func replaces(c *feed.Changes) bool { return len(c.List) == 0 }

// leadsTo is the state to which a message takes its board-period.
func leadsTo(c *feed.Changes) ranking.State {
	return ranking.State{Epoch: c.Epoch, Seq: max(c.Seq, c.Last())} // a replaced one has no last change
}

// course is what a View has heard of one period of its board, to notice when the
// board goes back: a replica takes over that did not have all.
type course struct {
	period string
	last   ranking.State // where the last changes heard took it
	peak   ranking.State // the highest seq that it was ever known to be at, in this epoch
	twice  int64         // seqs below may have been two states each, for it went back; 0: none
}

// hear notes a batch. It reports false where the period has gone back: one
// subscription never repeats itself.
func (k *course) hear(c *feed.Changes) (forward bool) {
	forward = c.Epoch != k.last.Epoch || c.Seq > k.last.Seq
	if !forward {
		k.wentBack()
	}
	k.last = leadsTo(c)
	k.reached(k.last)
	return forward
}

// reached notes that the period was at a state.
func (k *course) reached(s ranking.State) {
	if s.Epoch != k.peak.Epoch {
		k.peak, k.twice = s, 0
	}
	k.peak.Seq = max(k.peak.Seq, s.Seq)
}

// read notes the state that a page took a view to.
func (k *course) read(s ranking.State) {
	if s.Epoch == k.peak.Epoch && s.Seq < k.peak.Seq {
		k.wentBack()
	}
	k.reached(s)
}

// wentBack notes that seqs up to the highest come a second time.
func (k *course) wentBack() { k.twice = k.peak.Seq + 1 }
