package hub

import (
	"context"
	"math/rand/v2"
	"time"

	"rankcast/ranking"
)

// pageDue is the time of the next page: of a verification, if of nothing else.
func (b *board) pageDue(now time.Time) time.Time {
	if !b.view.NeedsPage() {
		if b.pageFetch.failed() {
			return b.pageFetch.notBefore // the last read failed, and clients are stale
		}
		if b.rolloverPending() {
			return now
		}
		return b.verifiedAt.Add(b.hub.cfg.VerifyInterval)
	}
	if b.pageFetch.notBefore.IsZero() {
		b.pageFetch.notBefore = now
		if b.publication != nil && !b.view.Valid() {
			// The cause of an invalid view often hits many boards, on all nodes.
			b.pageFetch.notBefore = now.Add(rand.N(resyncJitter))
		}
	}
	return b.pageFetch.notBefore
}

func (b *board) fetchPage() {
	b.view.BeginPage()
	name, limit := b.pageName(), b.view.PageSize()
	b.requestedName = name
	b.pageFetch.start(b, func(ctx context.Context) (ranking.Page, error) {
		return b.hub.source.Page(ctx, name, 1, limit)
	})
}

// fetchLookups looks members up, all that wait in one call.
func (b *board) fetchLookups() {
	if lookups := b.view.BeginLookups(); lookups != nil {
		of := b.period
		b.lookupFetch.start(b, func(ctx context.Context) (ranking.Places, error) {
			return b.hub.source.Places(ctx, of, lookups)
		})
	}
}

// applyAnswers applies the answers whose state the view has reached.
func (b *board) applyAnswers(now time.Time, isDue func(time.Time) bool) {
	agreed := true
	if b.profileFetch.held != nil {
		f := *b.profileFetch.held
		b.profileFetch.reset()
		b.applyProfiles(f, now)
	}
	if p := b.pageFetch.held; p != nil && (!b.view.Behind(p.State) || b.pageOverdue(isDue)) {
		was, period := b.view.State(), b.view.Period()
		agreed = b.view.ApplyPage(*p)
		if is := b.view.State(); is.Epoch != was.Epoch || is.Seq < was.Seq {
			b.beginGeneration()
		}
		b.resolveName(period)
		b.pageFetch.reset()
		b.dirty, b.pageApplied = true, true
		if !b.verifiedAt.IsZero() && now.Sub(b.verifiedAt) >= b.hub.cfg.VerifyInterval {
			b.view.Sample(verifiedMembers)
		}
		// Boards that were read together are not verified together.
		b.verifiedAt = now.Add(-rand.N(b.hub.cfg.VerifyInterval / 4))
	}
	if p := b.lookupFetch.held; p != nil && !b.view.Behind(p.State) && b.profilesReady(&b.lookupFetch.arrivedAt, isDue, eachNeighbour(p)) {
		agreed = b.view.ApplyLookups(*p) && agreed
		b.lookupsDone()
	}
	if !agreed {
		b.hub.log.Error("the view differs from Redis at the same seq; the node resyncs the board", "board", b.name, "state", b.view.State())
	}
}

// lookupsDone ends the backoff of lookups, and lets clients recover from a failure.
func (b *board) lookupsDone() {
	if b.lookupFetch.failed() {
		b.recovering = true
	}
	b.lookupFetch.reset()
}

// dropPage drops the page that is being read or held or not yet published.
func (b *board) dropPage() {
	b.view.CancelPage()
	b.pageFetch.drop()
	b.pageApplied, b.recovering = false, false
}
