package hub

import (
	"context"
	"slices"
	"time"

	"rankcast/ranking"
)

// A page of many entries holds Redis for as long as many updates do. Clients that subscribe to many
// large tops must not keep Redis busy. So a board reads such a page with a permit of the hub, unless
// clients see an old state until it is read.

// smallTop is the largest N whose page needs no permit. Such a page holds Redis for little longer
// than an update does.
const smallTop = 100

// largePage is what a board knows of the page that needs a permit.
type largePage struct {
	permit    *permit       // nil: the board has not asked for one
	given     bool          // the board has the permit, and has not used it
	reading   bool          // the page that is pending is this one
	callers   []any         // those who wait for the page; none: the board needs it for a verification
	notBefore time.Time     // the board asks for a permit no earlier
	backoff   time.Duration // after a failed read
}

// readyTop is the largest N that the board shows, or may show without a permit. It reports false if
// there is none.
func (b *board) readyTop() (n int, ok bool) {
	for _, st := range slices.Backward(b.shown) {
		if st.n <= smallTop || st.version.Load() != nil || b.view.Covers(st.n) {
			return st.n, true
		}
	}
	return 0, false
}

// viewSize is how many entries the view shows: those of the large page only while that is pending.
// Where clients need another page sooner, viewSize gives up the large one.
func (b *board) viewSize() int {
	ready, ok := b.readyTop()
	if b.large.reading = b.large.reading && b.view.PagePending(); !b.large.reading {
		return ready
	}
	if ok && !b.view.Covers(ready) {
		b.view.CancelPage()
		b.pageFetch.drop()
		b.large.reading = false
		return ready
	}
	return largestTop(b.shown)
}

// addLargeCallers notes who waits for a large page.
func (b *board) addLargeCallers(callers []any) {
	for _, c := range callers {
		if slices.Contains(b.large.callers, c) {
			continue
		}
		b.large.callers = append(b.large.callers, c)
		if b.large.permit != nil {
			b.large.permit.wait(c)
		}
	}
}

// stepLarge asks for a permit, or reads the large page, if that is due. ready is readyTop.
func (b *board) stepLarge(due *schedule, ready int) {
	wanted := largestTop(b.shown) > ready || ready > smallTop && b.verification.isDue(b.hub, due)
	switch l := &b.large; {
	case !wanted || !b.link.live:
		b.returnPermit()
		if !wanted {
			*l = largePage{permit: l.permit}
		}
	case b.view.PagePending():
	case l.given:
		b.fetchLargePage()
	case l.permit == nil && due.has(l.notBefore):
		l.permit = &permit{board: b, reads: b.hub.largeReads}
		for _, c := range l.callers {
			l.permit.wait(c)
		}
		if len(l.callers) == 0 {
			l.permit.wait(b.callers.first())
		}
	}
}

// returnPermit gives a permit back that the board does not need any more. One for which the board
// still waits stays: a client that subscribes and unsubscribes does not make the queue longer.
func (b *board) returnPermit() {
	if b.large.given {
		b.large.permit.end()
		b.large.permit, b.large.given = nil, false
	}
}

// fetchLargePage reads the large page with the permit, which ends with the read.
func (b *board) fetchLargePage() {
	p := b.large.permit
	b.large.permit, b.large.given, b.large.reading = nil, false, true
	b.view.BeginPage()
	b.view.Resize(largestTop(b.shown))
	name, limit := b.pageName(), b.view.PageSize()
	b.requestedName = name
	read := b.pageFetch.begin(b, normal, func(ctx context.Context) (ranking.Page, error) {
		return b.hub.source.Read(ranking.WithCaller(ctx, p.caller), name, ranking.Query{Limit: limit})
	})
	b.hub.running.Go(func() {
		read()
		p.end()
	})
}

// largePageFailed handles a failed read of the large page. No client sees an old state because of it.
func (b *board) largePageFailed() {
	b.pageFetch.drop()
	b.view.CancelPage()
	b.large.backoff, b.large.notBefore = nextBackoff(b.large.backoff)
}

// endLarge gives up what the board waits for. It is part of the board's last turn.
func (b *board) endLarge() {
	if b.large.permit != nil {
		b.large.permit.end()
	}
}
