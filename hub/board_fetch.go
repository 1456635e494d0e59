package hub

import (
	"context"
	"math/rand/v2"
	"time"

	"rankcast/ranking"
)

// pageDue reports whether the board should read a page of the first n entries now: for a
// verification, if for nothing else. A verification of many entries needs a permit.
func (b *board) pageDue(due *schedule, n int) bool {
	switch {
	case b.view.NeedsPage():
		if b.pageFetch.notBefore.IsZero() {
			b.pageFetch.notBefore = due.now
			if b.publication != nil && !b.view.Valid() {
				// The cause of an invalid view often hits many boards, on all nodes.
				b.pageFetch.notBefore = due.now.Add(rand.N(resyncJitter))
			}
		}
		return due.has(b.pageFetch.notBefore)
	case b.pageFetch.failed(): // clients are stale
		return due.has(b.pageFetch.notBefore)
	case b.rolloverPending():
		return true
	}
	return n <= smallTop && b.verification.isDue(b.hub, due)
}

// verification is the time of a board's next verification.
type verification struct {
	at      time.Time
	granted bool // at is within the hub's budget
}

// nextVerification is at most a VerifyInterval from now. Boards that were read together are
// not verified together.
func (b *board) nextVerification(now time.Time) verification {
	interval := b.hub.cfg.VerifyInterval
	return verification{at: now.Add(interval - rand.N(interval/4))}
}

// isDue reports whether the time has come. When it comes, the hub's budget may defer it.
func (v *verification) isDue(h *Hub, due *schedule) bool {
	if due.has(v.at) && !v.granted {
		v.at, v.granted = due.now.Add(h.verifications.ReserveN(due.now, 1).DelayFrom(due.now)), true
	}
	return due.has(v.at)
}

func (b *board) fetchPage() {
	b.view.BeginPage()
	name, limit := b.pageName(), b.view.PageSize()
	b.requestedName = name
	level := normal
	if b.publication != nil && !b.view.Valid() {
		level = urgent // clients see an old state
	}
	b.pageFetch.start(b, level, func(ctx context.Context) (ranking.Page, error) {
		return b.hub.source.Page(ctx, name, 1, limit)
	})
}

// fetchLookups looks members up, all that wait in one call.
func (b *board) fetchLookups() {
	if lookups := b.view.BeginLookups(); lookups != nil {
		of := b.period
		b.lookupFetch.start(b, urgent, func(ctx context.Context) (ranking.Places, error) {
			return b.hub.source.Places(ctx, of, lookups)
		})
	}
}

// applyAnswers applies the answers whose state the view has reached.
func (b *board) applyAnswers(due *schedule) {
	agreed := true
	if b.profileFetch.held != nil {
		f := *b.profileFetch.held
		b.profileFetch.reset()
		b.applyProfiles(f)
	}
	if p := b.pageFetch.held; p != nil && (!b.view.Behind(&p.Head) || b.pageOverdue(due)) {
		was, period, valid := b.view.State(), b.view.Period(), b.view.Valid()
		agreed = b.view.ApplyPage(*p)
		if is := b.view.State(); is.Epoch != was.Epoch || is.Seq < was.Seq || !p.Columns.Equal(b.columns) {
			if valid && b.view.Period() == period && is != was { // the page was read for another reason
				b.countResync(resyncGap)
			}
			b.beginGeneration()
		}
		b.columns = p.Columns
		b.resolveName(period)
		if b.view.Valid() {
			b.hub.status.confirm(b.pageFetch.began, &b.mark)
		}
		b.pageFetch.reset()
		b.dirty, b.pageToShow = true, true
		if b.verification.granted {
			b.view.Sample(verifiedMembers)
		}
		b.verification = b.nextVerification(due.now)
	}
	if p := b.lookupFetch.held; p != nil && !b.view.BehindLookups(p) && b.profilesReady(&b.lookupFetch.arrivedAt, due, eachNeighbour(p)) {
		was := b.view.Valid()
		same := b.view.ApplyLookups(*p)
		if was && same && !b.view.Valid() { // Redis is at another state
			b.countResync(resyncGap)
		}
		agreed = same && agreed
		b.lookupFetch.reset()
	}
	if !agreed {
		b.countResync(resyncVerification)
		b.hub.log.Error("the view differs from Redis at the same seq; the node resyncs the board", "board", b.name, "state", b.view.State())
	}
}

// lookupsFailed handles a failed lookup. Clients that wait for it see an old state.
func (b *board) lookupsFailed(err error) {
	if isNotFound(err) {
		b.resolved = false // a page will tell whether the period still exists
	} else if b.view.AwaitsUnknown() {
		b.hub.status.lost(&b.mark)
		if b.state == live {
			b.state = recovering
		}
	}
	b.view.CancelLookups()
}

// dropPage drops the page that is being read or held or not yet published.
func (b *board) dropPage() {
	b.view.CancelPage()
	b.pageFetch.drop()
	b.state, b.pageToShow, b.flushing = unsynced, false, false
}

// readDue starts the lookups and the reads of profiles that are due.
func (b *board) readDue(due *schedule) {
	if !b.link.live {
		return
	}
	if b.period != "" && b.view.LookupsQueued() && due.has(b.lookupFetch.notBefore) {
		b.fetchLookups()
	}
	if b.lookupFetch.idle() && b.lookupFetch.failed() && !b.view.LookupsQueued() {
		b.lookupFetch.reset() // the lookup that failed is not needed any more
	}
	if b.profileFetch.idle() && b.profiles.needsFetch() && due.has(b.profileFetch.notBefore) {
		b.fetchProfiles()
	}
}
