package hub

import (
	"errors"
	"strings"
	"time"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/feed"
)

// A board as named may come to mean another period, which is its turn, or the
// period that it means may close. Either way the end of the period is read by the
// period's own name, brought forward as any page, and shown to all; followers are
// told their last places; then a page is read by the board's name, and where it
// is of another period the view starts over with that.

const (
	// endPatience is how long the page of a period that has closed waits for the
	// changes that lead there; what was lost of them will never come.
	endPatience = 200 * time.Millisecond
	// partPatience is for how long followers may be told their last places before
	// the next period is shown. Together they leave half of the second within which
	// it has to be.
	partPatience = 250 * time.Millisecond
	// leastLeft is the pause before a period is read again that should have closed
	// just now.
	leastLeft = time.Millisecond
)

// meaning is how a name tells the period that it means.
type meaning int

const (
	current  meaning = iota // "stars": the one that takes updates
	relative                // "stars@-1": so many before
	absolute                // "stars@2026-W46": that very one
)

// naming is what a board's goroutine knows of what the board's name means.
type naming struct {
	meaning meaning
	fixed   string // the period's name, of an absolute one

	of      string          // the period that the view is of, by its qualified name; "" where none is known
	asked   string          // by which the last page was read, or is being read
	settled bool            // the name means that period still, as far as is known
	due     time.Time       // when that may end; zero: never
	passed  string          // the other period that was heard of last
	gone    bool            // there is nothing of that name
	unread  bool            // the period has closed and cannot be read any more, and what was shown last is to be shown as its end
	parting bool            // followers are still to be told their last places
	parted  <-chan struct{} // closed when the shards have told them; nil while there is more to tell
}

func newNaming(named ranking.Board) naming {
	period, qualified := strings.CutPrefix(named.Name, named.Instance+"@")
	switch {
	case !qualified:
		return naming{meaning: current}
	case strings.HasPrefix(period, "-"):
		return naming{meaning: relative}
	}
	return naming{meaning: absolute, fixed: period}
}

// concerns reports whether changes can be of the period that the view shows, or of
// the one that it shows next, and notes what they tell: of a turn, or that there
// is something of that name again.
func (b *board) concerns(c *feed.Changes) bool {
	if b.meaning == absolute && c.Period != b.fixed {
		return false
	}
	switch {
	case b.gone && b.meaning != relative:
		b.settled = false
	case b.of != "" && c.Period != b.view.Period() && c.Period != b.passed:
		b.passed, b.settled = c.Period, false
	}
	return b.meaning != relative // what is before has closed: nothing changes there
}

// pageName is the name by which a page is read now. A period that is not known to
// have closed is read by its own name, so that it is seen to its end.
func (b *board) pageName() string {
	if b.of == "" || b.closed() {
		return b.name
	}
	return b.of
}

// closed reports whether the end of the view's period has been shown.
func (b *board) closed() bool {
	return b.view.Final() && b.shown != nil && b.shown.final && b.shown.period == b.view.Period()
}

// turned reports whether the view shows the end of a period and that is news, or
// what comes after an end: either waits for nothing.
func (b *board) turned() bool { return b.shown != nil && b.view.Final() != b.shown.final }

// turning reports whether a page is to be read because the name may mean another
// period, or the period may have closed.
func (b *board) turning() bool {
	if b.settled {
		return false
	}
	return !b.view.Final() || b.closed() && !b.parting
}

// waitedLong reports whether the page that is held has waited long enough for the
// changes that lead there: those of the end of a period may not come any more.
func (b *board) waitedLong(isDue func(time.Time) bool) bool {
	return (b.page.held.Final || !b.settled) && isDue(b.page.at.Add(endPatience))
}

// learn notes what the page that was taken in tells of what the name means. period
// is that of the view before.
func (b *board) learn(period string) {
	p := b.page.held
	b.kind = p.Kind
	if b.gone = b.page.gone; b.gone {
		b.of, b.settled, b.due = "", true, time.Time{}
		return
	}
	if is := b.view.Period(); b.of == "" || is != period {
		b.of = definition.Qualify(b.instance, is)
		if b.meaning == current || b.passed == is {
			b.passed = period // what is heard of it now comes late
		}
	}
	byName := b.asked == b.name
	// A page that was of no use has to be read again.
	b.settled = (byName || !p.Final) && p.Final == b.view.Final()
	if b.due = (time.Time{}); p.Left > 0 {
		b.due = b.page.at.Add(max(p.Left, leastLeft))
	}
}

// beginLife voids what was of another life of the board, or of another period.
func (b *board) beginLife() {
	b.life++
	b.doubted = nil
	b.voidMembers()
	b.ranksCursor = nil
	b.people.restart(time.Now())
	b.view.PlacesFailed()
	b.places.settle()
}

// nothingThere takes it that there is nothing to read by the name that was asked.
func (b *board) nothingThere(a answer[ranking.Page]) {
	b.page.forget()
	if b.asked == b.name || errors.Is(a.err, ranking.ErrUnknownBoard) {
		b.page.held, b.page.at, b.page.gone = &ranking.Page{Bounds: ranking.Bounds{Final: true}}, a.at, true
		return
	}
	// The period is not kept any more: what is known of it is its end.
	b.view.PageFailed()
	b.page.settle()
	if b.settled = false; b.shown == nil || b.shown.period != b.view.Period() {
		b.of = "" // and nobody has seen any of it
		return
	}
	b.view.Close()
	b.moved, b.unread = true, true
}

// showedEnd has followers told their last places.
func (b *board) showedEnd() {
	b.parting, b.parted = true, nil
	b.ranksMoved, b.told = true, time.Time{}
}

// part sees to it that parting ends once followers were told, or it takes too
// long.
func (b *board) part(isDue func(time.Time) bool) {
	switch {
	case !b.parting:
	case isDue(b.published.Add(partPatience)):
		b.parting, b.parted = false, nil
	case b.parted == nil && (!b.view.Shows(0) || !b.told.IsZero() && b.ranksCursor == nil && b.places.idle() && !b.view.Waiting()):
		// Else the next period would void what the shards have not looked at yet.
		b.parted = b.hub.sent()
	}
}
