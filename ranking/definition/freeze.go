package definition

import (
	"cmp"
	"fmt"
	"time"

	"rankcast/ranking/calendar"
)

// Reveal says who shows the scores that a frozen board has kept back.
type Reveal string

// The ways to reveal.
const (
	RevealAuto Reveal = "auto" // the store, once the period or the activity has ended
	RevealHost Reveal = "host" // a moderator, member by member; the store reveals what is left after RevealWithin
)

// FreezeOthers says what an event may update besides a board that freezes.
type FreezeOthers string

// OthersOpen allows an event to update boards that are not frozen over the same span. The sums of a frozen board may be read there.
const OthersOpen FreezeOthers = "open"

// FreezeFeed says what becomes of the feed of an event while one of its boards is frozen.
type FreezeFeed string

// FeedOn lets the feed go on: whoever reads it can count what a frozen board keeps back.
const FeedOn FreezeFeed = "on"

var (
	freezeRange       = durationRange{minDuration, 7 * day, "is not a whole number of s, m, h or d, such as 10m, from 1s to 7d"}
	revealWithinRange = durationRange{time.Minute, 30 * day, "is not a whole number of s, m, h or d, such as 24h, from 1m to 30d"}
)

// defaultRevealWithin is the time for which a frozen board waits for its host.
const defaultRevealWithin = 24 * time.Hour

// checkFreeze refuses the fields of a freeze on a board that cannot freeze.
func (d *Board) checkFreeze(FamilyName) error {
	if err := cmp.Or(fault("freeze", freezeRange.fault(d.Freeze)), fault("reveal_within", revealWithinRange.fault(d.RevealWithin)),
		optional("reveal", d.Reveal, RevealAuto, RevealHost), optional("freeze_others", d.FreezeOthers, OthersOpen)); err != nil {
		return err
	}
	given := firstGiven([]presence{{"freeze", d.Freeze != 0}, {"reveal", d.Reveal != ""}, {"reveal_within", d.RevealWithin != 0},
		{"freeze_others", d.FreezeOthers != ""}})
	if given == "" {
		return nil
	}
	if reason := d.FreezeFault(); reason != "" {
		return Invalid(given, reason+"; omit it")
	}
	span := d.leastSpan()
	switch {
	case d.Freeze > 0 && d.Period == "" && d.Ends.IsZero():
		return Invalid("freeze", "needs an end that it comes before: want a period or ends; a board without an end is frozen by hand")
	case d.Freeze > 0 && span > 0 && d.Freeze >= span:
		return Invalid("freeze", fmt.Sprintf("is %s, but the span before whose end the board freezes is %s: want less",
			FormatDuration(d.Freeze), FormatDuration(span)))
	case d.Reveal == RevealHost && d.Period != "":
		return Invalid("reveal", "is host, but the next period begins when one has ended: want auto on a board with a period")
	case d.RevealWithin > 0 && d.Reveal != RevealHost:
		return Invalid("reveal_within", "applies only with reveal host; omit it")
	}
	if d.Freeze > 0 && d.Reveal == "" {
		d.Reveal = RevealAuto
	}
	if d.Reveal == RevealHost && d.RevealWithin == 0 {
		d.RevealWithin = defaultRevealWithin
	}
	return nil
}

// FreezeFault says why the board cannot freeze; "" if it can.
func (d *Board) FreezeFault() string {
	for _, f := range []presence{{"window", d.Window != 0}, {"member_ttl", d.MemberTTL != 0}, {"limit", d.Limit != 0},
		{"union", d.Union != nil}, {"shards", d.Shards != 0}} {
		if f.is {
			return "does not apply to a board with " + f.field
		}
	}
	return ""
}

// MayBeFrozen reports whether a period of the board may be frozen still: the board may have got a limit since.
func (d *Board) MayBeFrozen() bool {
	without := *d
	without.Limit = 0
	return without.FreezeFault() == ""
}

// leastSpan is the least length of a period, or the length of the activity; 0: not bounded.
func (d *Board) leastSpan() time.Duration {
	const clockChange = time.Hour // a day may be shorter by this
	switch d.Period {
	case "":
		if d.Starts.IsZero() || d.Ends.IsZero() {
			return 0
		}
		return d.Ends.Sub(d.Starts)
	case "hour":
		return time.Hour
	case "day":
		return day - clockChange
	case "week":
		return 7*day - clockChange
	case "month", "year":
		return 28*day - clockChange
	}
	length, _ := ParseDuration(d.Period)
	return length
}

// RevealedBy says who reveals. A board without an end, which a moderator has frozen, waits for its host.
func (d *Board) RevealedBy() Reveal {
	if d.Reveal == RevealHost || d.Period == "" && d.Ends.IsZero() {
		return RevealHost
	}
	return RevealAuto
}

// SameFreeze reports whether two boards freeze at the same times and reveal in the same way.
func (d *Board) SameFreeze(other Board) bool {
	return d.Freeze == other.Freeze && d.Reveal == other.Reveal && d.Period == other.Period && d.Base.Equal(other.Base) &&
		d.Timezone == other.Timezone && d.WeekStarts == other.WeekStarts && d.DayStartsAt == other.DayStartsAt && d.Ends.Equal(other.Ends)
}

// freezeFault finds an update of a board that does not freeze with another board of the event. Its sums would tell what the other one
// keeps back. field is that of the update, such as updates[1].board; both results are "" if there is none.
func (e Event) freezeFault(defined map[string]Board) (field, reason string) {
	for _, frozen := range e.Updates {
		d, there := defined[frozen.Slot()]
		if !there || d.Freeze == 0 || d.FreezeOthers == OthersOpen {
			continue
		}
		for i, u := range e.Updates {
			if other, there := defined[u.Slot()]; there && !d.SameFreeze(other) {
				return ItemPath("updates", i) + ".board", fmt.Sprintf(
					"is for %s, which does not freeze with %s, so that its scores would tell those that %s keeps back: "+
						"want the same period, ends, freeze and reveal for both, or freeze_others: open for %s", other.Name, d.Name, d.Name, d.Name)
			}
		}
	}
	return "", ""
}

// FreezesAt is when the span freezes that ends with a freeze of a length, in µs since 1970; 0: never.
func (s Span) FreezesAt(freeze time.Duration) int64 {
	if freeze == 0 || s.End() == 0 {
		return 0
	}
	return s.End() - freeze.Microseconds()
}

// FreezesAt is when a period of the board freezes by the definition, in µs since 1970; 0: never.
func (r *Compiled) FreezesAt(p calendar.Period) int64 {
	end := r.PeriodEnd(p)
	if r.Freeze == 0 || end.IsZero() {
		return 0
	}
	return end.Add(-r.Freeze).UnixMicro()
}

// RevealsAt is when the store reveals what a period of the board still keeps back, in µs since 1970. frozen is when it froze.
func (r *Compiled) RevealsAt(p calendar.Period, frozen int64) int64 {
	end := r.PeriodEnd(p)
	if r.RevealedBy() == RevealAuto {
		return end.UnixMicro()
	}
	if !end.IsZero() {
		frozen = max(frozen, end.UnixMicro())
	}
	return frozen + cmp.Or(r.RevealWithin, defaultRevealWithin).Microseconds()
}
