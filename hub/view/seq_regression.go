package view

import (
	"rankcast/ranking"
	"rankcast/ranking/feed"
)

// isReplacement reports whether a message says that its board-period was replaced as a
// whole.
func isReplacement(c *feed.Changes) bool { return len(c.List) == 0 }

// stateAfter is the state to which a message takes its board-period.
func stateAfter(c *feed.Changes) ranking.State {
	return ranking.State{Epoch: c.Epoch, Seq: max(c.Seq, c.Last())} // a replacement has no last change
}

// regressionTracker notices that a period of a board has gone back: after a failover to a
// replica that had not received all writes.
type regressionTracker struct {
	period    string
	last      ranking.State // after the last batch
	peak      ranking.State // the highest known seq of this epoch
	ambiguous int64         // below this seq one seq may have been two states; 0: none
}

// observe records a batch. It reports false where the period has gone back: one
// subscription never repeats a seq.
func (k *regressionTracker) observe(c *feed.Changes) (forward bool) {
	forward = c.Epoch != k.last.Epoch || c.Seq > k.last.Seq
	if !forward {
		k.markRegressed()
	}
	k.last = stateAfter(c)
	k.raisePeak(k.last)
	return forward
}

// raisePeak records that the period was at a state.
func (k *regressionTracker) raisePeak(s ranking.State) {
	if s.Epoch != k.peak.Epoch {
		k.peak, k.ambiguous = s, 0
	}
	k.peak.Seq = max(k.peak.Seq, s.Seq)
}

// observePage records the state of a page.
func (k *regressionTracker) observePage(s ranking.State) {
	if s.Epoch == k.peak.Epoch && s.Seq < k.peak.Seq {
		k.markRegressed()
	}
	k.raisePeak(s)
}

// markRegressed records that the seqs up to the peak occur a second time.
func (k *regressionTracker) markRegressed() { k.ambiguous = k.peak.Seq + 1 }
