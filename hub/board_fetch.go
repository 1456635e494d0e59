package hub

import (
	"context"
	"math/rand/v2"
	"time"

	"rankcast/ranking"
)

// pageDue is when the next page should be read: for an audit, if nothing else.
func (b *board) pageDue(now time.Time) time.Time {
	if !b.view.NeedsPage() {
		if b.page.failed() {
			return b.page.after // the last could not be read, and clients were told
		}
		if b.turning() {
			return now
		}
		return b.audited.Add(b.hub.cfg.AuditInterval)
	}
	if b.page.after.IsZero() {
		b.page.after = now
		if b.shown != nil && !b.view.Valid() {
			// What made this view unsure may have done so to many, on all nodes.
			b.page.after = now.Add(rand.N(resyncJitter))
		}
	}
	return b.page.after
}

func (b *board) readPage() {
	b.view.BeginPage()
	name, limit := b.pageName(), b.view.PageSize()
	b.asked = name
	b.page.start(b, func(ctx context.Context) (ranking.Page, error) {
		return b.hub.source.Page(ctx, name, 1, limit)
	})
}

// readPlaces looks up who is to be, all that have come meanwhile in one call.
func (b *board) readPlaces() {
	if lookups := b.view.BeginLookups(); lookups != nil {
		of := b.of
		b.places.start(b, func(ctx context.Context) (ranking.Places, error) {
			return b.hub.source.Places(ctx, of, lookups)
		})
	}
}

// takeAnswers takes in what was read, once the view is not on its way there any
// more.
func (b *board) takeAnswers(now time.Time, isDue func(time.Time) bool) {
	agreed := true
	if b.profiles.held != nil {
		f := *b.profiles.held
		b.profiles.settle()
		b.tookProfiles(f, now)
	}
	if p := b.page.held; p != nil && (!b.view.Behind(p.State) || b.waitedLong(isDue)) {
		was, period := b.view.State(), b.view.Period()
		agreed = b.view.ApplyPage(*p)
		if is := b.view.State(); is.Epoch != was.Epoch || is.Seq < was.Seq {
			b.beginLife()
		}
		b.learn(period)
		b.page.settle()
		b.moved, b.renewed = true, true
		if !b.audited.IsZero() && now.Sub(b.audited) >= b.hub.cfg.AuditInterval {
			b.view.Sample(auditMembers)
		}
		// Boards that were read together are not audited together.
		b.audited = now.Add(-rand.N(b.hub.cfg.AuditInterval / 4))
	}
	if p := b.places.held; p != nil && !b.view.Behind(p.State) && b.introduced(&b.places.at, isDue, around(p)) {
		agreed = b.view.ApplyLookups(*p) && agreed
		b.placesSettled()
	}
	if !agreed {
		b.hub.log.Error("view differed from Redis at the same seq", "board", b.name, "state", b.view.State())
	}
}

// placesSettled ends the pauses between look-ups, and what clients were told of
// them.
func (b *board) placesSettled() {
	if b.places.failed() {
		b.recovering = true
	}
	b.places.settle()
}

// forgetPage drops the page that is being read, or was read and is not shown yet.
func (b *board) forgetPage() {
	b.view.CancelPage()
	b.page.forget()
	b.renewed, b.recovering = false, false
}
