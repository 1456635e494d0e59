package hub

import (
	"errors"
	"strings"
	"time"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/feed"
)

// Rollover: a name may come to mean another period, or its period may close. In both cases
// the board reads the period by its own name to the end, and publishes the end. The
// followers get their final places. Then the board reads a page by its name. If the page is
// of another period, the view starts over with that one.

const (
	// endTimeout is how long the page of a closed period waits for the changes that lead to
	// it. After that they are lost.
	endTimeout = 200 * time.Millisecond
	// drainTimeout is how long the board waits for the followers to get their final places,
	// before it shows the next period. Both timeouts leave half of the second within which
	// clients have to see the next period.
	drainTimeout = 250 * time.Millisecond
	// minPeriodLeft is the pause before the board reads a period again that should have
	// closed just now.
	minPeriodLeft = time.Millisecond
)

// nameKind says how a name refers to a period.
type nameKind int

const (
	current  nameKind = iota // "stars": the period that takes updates
	relative                 // "stars@-1": a number of periods before
	absolute                 // "stars@2026-W46": one certain period
)

// nameState is the state of a board's name: the period that it means, and how far a
// rollover is.
type nameState struct {
	nameKind    nameKind
	fixedPeriod string // of an absolute name

	period        string        // the qualified name of the view's period; "": not known
	requestedName string        // the name by which the last page was requested
	resolved      bool          // the name still means that period, as far as the board knows
	rolloverDue   time.Time     // when that may end; zero: never
	otherPeriod   string        // the other period that changed last
	freezeAt      ranking.State // after the last message about a freeze
	missing       bool          // the board or the period does not exist
	publishAsEnd  bool          // the period is closed and not kept any more: the last publication becomes its end
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

// isRelevant reports whether a batch may be of the period that the view shows, or of the
// next one. It also notes whether the name has to be resolved again: the batch may be of a
// new period, or of a board that did not exist.
func (b *board) isRelevant(c *feed.Changes) bool {
	if b.nameKind == absolute && c.Period != b.fixedPeriod {
		return false
	}
	switch {
	case b.missing && b.nameKind != relative:
		b.resolved = false
	case b.period != "" && c.Period != b.view.Period() && c.Period != b.otherPeriod:
		b.otherPeriod, b.resolved = c.Period, false
	}
	return b.nameKind != relative || !b.view.Final() // an earlier period does not change, unless something of it is pending yet
}

// pageName is the name by which the board reads the next page. A period whose end is not
// published yet is read by its own name.
func (b *board) pageName() string {
	if b.period == "" || b.endPublished() {
		return b.name
	}
	return b.period
}

// endPublished reports whether the end of the view's period has been published.
func (b *board) endPublished() bool {
	return b.view.Final() && b.publication != nil && b.publication.final && b.publication.period == b.view.Period()
}

// rolledOver reports whether the next publication ends a period or begins one. Such a
// publication does not wait for the interval.
func (b *board) rolledOver() bool {
	return b.publication != nil && b.view.Final() != b.publication.final
}

// rolloverPending reports whether the board has to read a page because the name may mean
// another period, or the period may have closed.
func (b *board) rolloverPending() bool {
	if b.resolved {
		return false
	}
	return !b.view.Final() || b.endPublished() && b.state != ending
}

// pageOverdue reports whether the held page has waited long enough for the changes that
// lead to it. The last changes of a period may be lost.
func (b *board) pageOverdue(due *schedule) bool {
	return (b.pageFetch.held.Final || !b.resolved) && due.has(b.pageFetch.arrivedAt.Add(endTimeout))
}

// resolveName updates the name's state after a page was applied. period is the view's
// period before that.
func (b *board) resolveName(period string) {
	p := b.pageFetch.held
	b.kind = p.Kind
	if b.missing = b.pageFetch.missing; b.missing {
		b.period, b.resolved, b.rolloverDue = "", true, time.Time{}
		return
	}
	if is := b.view.Period(); b.period == "" || is != period {
		b.period = definition.Qualify(b.instance, is)
		if b.nameKind == current || b.otherPeriod == is {
			b.otherPeriod = period // its further changes arrive late
		}
	}
	byName := b.requestedName == b.name
	// The board reads a page again that the view has discarded, or that is older than the last message about a freeze.
	b.resolved = (byName || !p.Final) && p.Final == b.view.Final() && (p.Epoch != b.freezeAt.Epoch || p.Seq >= b.freezeAt.Seq)
	if b.rolloverDue = (time.Time{}); p.Left > 0 {
		b.rolloverDue = b.pageFetch.arrivedAt.Add(max(p.Left, minPeriodLeft))
	}
}

// beginGeneration resets what is of another epoch or period.
func (b *board) beginGeneration() {
	b.generation++
	b.redisAhead = nil
	b.resetMemberStreams()
	b.ranks.cursor = nil
	b.view.CancelLookups()
	b.lookupFetch.reset()
}

// pageNotFound handles a page that does not exist.
func (b *board) pageNotFound(a *fetchResult[ranking.Page]) {
	b.pageFetch.drop()
	if b.requestedName == b.name || errors.Is(a.err, definition.ErrUnknownBoard) {
		b.pageFetch.held, b.pageFetch.missing = &ranking.Page{Head: ranking.Head{Bounds: ranking.Bounds{Final: true}}}, true
		b.pageFetch.began, b.pageFetch.arrivedAt = a.began, a.at
		return
	}
	// The period is not kept any more: the view's state is its end.
	b.view.CancelPage()
	b.pageFetch.reset()
	if b.resolved = false; b.publication == nil || b.publication.period != b.view.Period() {
		b.period = "" // and nothing of it was published
		return
	}
	b.view.MarkFinal()
	b.dirty, b.publishAsEnd = true, true
}

// beginDrain makes notifyRanks publish the final standings.
func (b *board) beginDrain() {
	b.state, b.flushing = ending, false
	b.ranks.dirty, b.ranks.beganAt = true, time.Time{}
}

// drain ends the state ending once the followers have got their final standings, or after
// drainTimeout.
func (b *board) drain(due *schedule) {
	switch {
	case b.state != ending:
	case due.has(b.publishedAt.Add(drainTimeout)):
		b.endDrain()
	case !b.flushing && (!b.view.Valid() || b.finalsPublished()):
		// Otherwise the next period would replace what the shards have not sent yet.
		b.flushing = true
		of := b.publication
		b.hub.afterFlush(func() { b.postEvent(urgent, finalsSent{of}) })
	}
}

// finalsPublished reports whether each follower's stream has the final standing.
func (b *board) finalsPublished() bool {
	return !b.ranks.beganAt.IsZero() && b.ranks.cursor == nil && b.lookupFetch.idle() && !b.view.LookupsQueued()
}

func (b *board) endDrain() { b.state, b.flushing = recovering, false }
