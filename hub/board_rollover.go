package hub

import (
	"errors"
	"strings"
	"time"

	"rankcast/ranking"
)

// A board as named may come to mean another period, which is its turn, or the
// period that it means may close. Either way the end of the period is read by the
// period's own name, brought forward as any page, and shown to all; followers are
// told their last places; then a page is read by the board's name, and where it
// is of another period the view starts over with that.

const (
	// endTimeout is how long the page of a period that has closed waits for the
	// changes that lead there; what was lost of them will never come.
	endTimeout = 200 * time.Millisecond
	// drainTimeout is for how long followers may be told their last places before
	// the next period is shown. Together they leave half of the second within which
	// it has to be.
	drainTimeout = 250 * time.Millisecond
	// minPeriodLeft is the pause before a period is read again that should have closed
	// just now.
	minPeriodLeft = time.Millisecond
)

// nameKind is how a name tells the period that it means.
type nameKind int

const (
	current  nameKind = iota // "stars": the one that takes updates
	relative                 // "stars@-1": so many before
	absolute                 // "stars@2026-W46": that very one
)

// nameState is what a board's goroutine knows of what the board's name means.
type nameState struct {
	nameKind    nameKind
	fixedPeriod string // the period's name, of an absolute one

	period        string          // the period that the view is of, by its qualified name; "" where none is known
	requestedName string          // by which the last page was read, or is being read
	resolved      bool            // the name means that period still, as far as is known
	rolloverDue   time.Time       // when that may end; zero: never
	otherPeriod   string          // the other period that was heard of last
	missing       bool            // there is nothing of that name
	publishAsEnd  bool            // the period has closed and cannot be read any more, and what was shown last is to be shown as its end
	draining      bool            // followers are still to be told their last places
	drained       <-chan struct{} // closed when the shards have told them; nil while there is more to tell
}

func newNameState(named ranking.Board) nameState {
	period, qualified := strings.CutPrefix(named.Name, named.Instance+"@")
	switch {
	case !qualified:
		return nameState{nameKind: current}
	case strings.HasPrefix(period, "-"):
		return nameState{nameKind: relative}
	}
	return nameState{nameKind: absolute, fixedPeriod: period}
}

// isRelevant reports whether changes can be of the period that the view shows, or of
// the one that it shows next, and notes what they tell: of a turn, or that there
// is something of that name again.
func (b *board) isRelevant(c *ranking.Changes) bool {
	if b.nameKind == absolute && c.Period != b.fixedPeriod {
		return false
	}
	switch {
	case b.missing && b.nameKind != relative:
		b.resolved = false
	case b.period != "" && c.Period != b.view.Period() && c.Period != b.otherPeriod:
		b.otherPeriod, b.resolved = c.Period, false
	}
	return b.nameKind != relative // what is before has closed: nothing changes there
}

// pageName is the name by which a page is read now. A period that is not known to
// have closed is read by its own name, so that it is seen to its end.
func (b *board) pageName() string {
	if b.period == "" || b.endPublished() {
		return b.name
	}
	return b.period
}

// endPublished reports whether the end of the view's period has been shown.
func (b *board) endPublished() bool {
	return b.view.Final() && b.publication != nil && b.publication.final && b.publication.period == b.view.Period()
}

// rolledOver reports whether the view shows the end of a period and that is news, or
// what comes after an end: either waits for nothing.
func (b *board) rolledOver() bool {
	return b.publication != nil && b.view.Final() != b.publication.final
}

// rolloverPending reports whether a page is to be read because the name may mean another
// period, or the period may have closed.
func (b *board) rolloverPending() bool {
	if b.resolved {
		return false
	}
	return !b.view.Final() || b.endPublished() && !b.draining
}

// pageOverdue reports whether the page that is held has waited long enough for the
// changes that lead there: those of the end of a period may not come any more.
func (b *board) pageOverdue(isDue func(time.Time) bool) bool {
	return (b.pageFetch.held.Final || !b.resolved) && isDue(b.pageFetch.arrivedAt.Add(endTimeout))
}

// resolveName notes what the page that was taken in tells of what the name means. period
// is that of the view before.
func (b *board) resolveName(period string) {
	p := b.pageFetch.held
	b.kind = p.Kind
	if b.missing = b.pageFetch.missing; b.missing {
		b.period, b.resolved, b.rolloverDue = "", true, time.Time{}
		return
	}
	if is := b.view.Period(); b.period == "" || is != period {
		b.period = ranking.Qualify(b.instance, is)
		if b.nameKind == current || b.otherPeriod == is {
			b.otherPeriod = period // what is heard of it now comes late
		}
	}
	byName := b.requestedName == b.name
	// A page that was of no use has to be read again.
	b.resolved = (byName || !p.Final) && p.Final == b.view.Final()
	if b.rolloverDue = (time.Time{}); p.Left > 0 {
		b.rolloverDue = b.pageFetch.arrivedAt.Add(max(p.Left, minPeriodLeft))
	}
}

// beginGeneration voids what was of another life of the board, or of another period.
func (b *board) beginGeneration() {
	b.generation++
	b.redisAhead = nil
	b.resetMemberStreams()
	b.ranksCursor = nil
	b.profiles.beginGeneration(time.Now())
	b.view.CancelLookups()
	b.lookupFetch.reset()
}

// pageNotFound takes it that there is nothing to read by the name that was asked.
func (b *board) pageNotFound(a fetchResult[ranking.Page]) {
	b.pageFetch.drop()
	if b.requestedName == b.name || errors.Is(a.err, ranking.ErrUnknownBoard) {
		b.pageFetch.held, b.pageFetch.arrivedAt, b.pageFetch.missing = &ranking.Page{Bounds: ranking.Bounds{Final: true}}, a.at, true
		return
	}
	// The period is not kept any more: what is known of it is its end.
	b.view.CancelPage()
	b.pageFetch.reset()
	if b.resolved = false; b.publication == nil || b.publication.period != b.view.Period() {
		b.period = "" // and nobody has seen any of it
		return
	}
	b.view.MarkFinal()
	b.dirty, b.publishAsEnd = true, true
}

// beginDrain has followers told their last places.
func (b *board) beginDrain() {
	b.draining, b.drained = true, nil
	b.ranksDirty, b.ranksNotifiedAt = true, time.Time{}
}

// drain sees to it that parting ends once followers were told, or it takes too
// long.
func (b *board) drain(isDue func(time.Time) bool) {
	switch {
	case !b.draining:
	case isDue(b.publishedAt.Add(drainTimeout)):
		b.draining, b.drained = false, nil
	case b.drained == nil && (!b.view.Valid() || !b.ranksNotifiedAt.IsZero() && b.ranksCursor == nil && b.lookupFetch.idle() && !b.view.LookupsQueued()):
		// Else the next period would void what the shards have not looked at yet.
		b.drained = b.hub.flushed()
	}
}
