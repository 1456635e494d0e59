package definition

import (
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Mode says how an update's score changes the score of a member.
type Mode string

// The modes. Update.Op overrides the mode of the board for one update.
const (
	Sum  Mode = "sum"  // the update's score is added
	Best Mode = "best" // the update's score replaces a worse one
	Last Mode = "last" // the update's score replaces any other
)

// Order says which scores rank higher.
type Order string

// The orders.
const (
	Desc Order = "desc" // the higher score ranks higher
	Asc  Order = "asc"  // the lower score ranks higher: lap times, golf
)

// Sign is 1 for Asc and −1 for any other order. A sorted set always sorts upwards, so a
// sort key holds the score times this sign.
func (o Order) Sign() int64 {
	if o == Asc {
		return 1
	}
	return -1
}

// Ties says how members with equal scores are ranked.
type Ties string

// The tie rules.
const (
	First    Ties = "first"  // the member that reached the score first ranks higher
	Shared   Ties = "shared" // equal scores share a rank, and the ranks they fill are skipped: 1-2-2-4
	Dense    Ties = "dense"  // equal scores share a rank, and no rank is skipped: 1-2-2-3
	ByMember Ties = "member" // the member id that sorts first by its bytes ranks higher
)

// Tied reports whether members with equal scores have the same rank. A list still shows
// the member that reached the score first before the others.
func (t Ties) Tied() bool { return t == Shared || t == Dense }

// RankAfter returns the rank of an entry at a 1-based position. rank is that of the entry before, 0 for none, and sameScore
// reports whether both have the same score.
func (t Ties) RankAfter(rank, position int64, sameScore bool) int64 {
	switch {
	case sameScore && t.Tied():
		return rank
	case t == Dense:
		return rank + 1
	default:
		return position
	}
}

// Board defines one board, or each instance of a family. The zero value of every field
// but Name means the default, which Normalize fills in where the field applies. JSON and
// boards files omit the fields that do not apply, and write durations as strings such as
// "36h" and "7d".
type Board struct {
	Name string `json:"board"` // "stars"; a family: "fans:{star}"

	// Title, Description and Icon present the board to people. On a family, {star} in a title or a description
	// stands for that part of the instance's name. Default none.
	Title       Label  `json:"title,omitzero"`       // texts of up to 80 characters
	Description Label  `json:"description,omitzero"` // texts of up to 400 characters
	Icon        string `json:"icon,omitzero"`        // path on the server, or https URL, see ImageFault

	Mode  Mode  `json:"mode"`  // default sum
	Order Order `json:"order"` // default desc
	Ties  Ties  `json:"ties"`  // default first

	// Period is hour, day, week, month, year, or a duration from 1s to 3660d that is
	// counted from Base. Default: no periods.
	Period      string    `json:"period,omitzero"`
	Base        time.Time `json:"base,omitzero"`          // required for a duration
	Timezone    string    `json:"timezone,omitzero"`      // IANA name; periods hour to year only. Default UTC
	WeekStarts  string    `json:"week_starts,omitzero"`   // weekday; period week only. Default monday
	DayStartsAt string    `json:"day_starts_at,omitzero"` // time of day; periods day to year only. Default 00:00
	Keep        *int      `json:"keep,omitzero"`          // number of closed periods kept, 0 to 1000. Default 8

	// Retain is the time for which data stay. It is counted from the last write to an
	// instance or to a board without periods, and from the end of an activity. 1s to
	// 36600d, default for ever.
	Retain time.Duration `json:"retain,omitzero"`
	Starts time.Time     `json:"starts,omitzero"` // bounds of an activity. Default none
	Ends   time.Time     `json:"ends,omitzero"`

	// Window is the rolling span of time whose updates count. An update leaves its member's
	// score when its time is over, and a member without updates in the window leaves the
	// board. 1s to 366d, only on a board without periods. The op of an update is then always
	// the board's mode. Default: no window.
	Window time.Duration `json:"window,omitzero"`
	// Refresh is the greatest age of a window's result, not counting the time of the build:
	// 1s to 1d. With Live there is no result: each update counts, and leaves, by itself, and
	// only mode sum is possible. Default 1m on a board with a window.
	Refresh time.Duration `json:"refresh,omitzero"`

	// MemberTTL is the time after which a member leaves, counted from the moment when it
	// entered the board. 1s to 36600d, default never.
	MemberTTL time.Duration `json:"member_ttl,omitzero"`
	// Limit is the number of members that stay, best first: 1 to 10,000,000, only with the
	// modes Best and Last. Default: all members stay.
	Limit int64 `json:"limit,omitzero"`

	// TieSpan is the span of time that half of the fraction of a sort key divides, on a board with
	// neither periods nor both bounds. 1s to 36600d, default a century from 2020 over the whole fraction.
	TieSpan time.Duration `json:"tie_span,omitzero"`

	Min *int64 `json:"min,omitzero"` // least score. Default −MaxScore
	Max *int64 `json:"max,omitzero"` // greatest score. Default MaxScore
	// greatest change by one update, 1 to MaxScore; with Best and Last a member's first score is exempt. Default none
	MaxChange int64 `json:"max_change,omitzero"`

	// Freeze is how long before the end of a period, or of the activity, the public board stands still while scores go on
	// counting: 1s to 7d. A moderator can freeze a board without it. Default none.
	Freeze time.Duration `json:"freeze,omitzero"`
	// Reveal says who shows what a freeze has kept back. Host is for a board without periods. Default RevealAuto.
	Reveal Reveal `json:"reveal,omitzero"`
	// RevealWithin is how long the store waits for a host: from the end, or from the freeze on a board without an end. 1m to 30d,
	// default 24h.
	RevealWithin time.Duration `json:"reveal_within,omitzero"`
	// FreezeOthers allows an event that updates the board to update boards that do not freeze with it. Default: no event may.
	FreezeOthers FreezeOthers `json:"freeze_others,omitzero"`

	// Shards is the number of shards, 2 to 16: parts of a board under hash tags of their own, so that several masters of a
	// cluster share its work. It cannot change while the board has data. Default: the board is one part.
	Shards int `json:"shards,omitzero"`
	// Union makes the board a union, which is built from other boards and takes no updates.
	// Default none.
	Union *Union `json:"union,omitzero"`

	// Columns make the score of several numbers, see there. Default: a score is one number.
	Columns Columns `json:"columns,omitzero"`

	// History is the step at which the first ten entries are recorded, where they have changed: 10s to
	// 1d. See Compiled.HistoryStep for long periods. Default: no history.
	History time.Duration `json:"history,omitzero"`

	// IDs is how long a request id counts at least: 10m to 7d. Default 10m.
	IDs time.Duration `json:"ids,omitzero"`

	MaxInstances int     `json:"max_instances,omitzero"` // of a family, 1 to 10,000,000. Default 100,000
	Kind         string  `json:"kind,omitzero"`          // the kind of member, whose profiles apply. Default member
	Display      Display `json:"display,omitzero"`
}

// Live is the Refresh of a window without a built result: its scores are those of each
// moment. Definitions write it as "live".
const Live time.Duration = -1

// Display says how pages show scores. It does not change the scores, which are integers.
type Display struct {
	Unit     Label  `json:"unit,omitzero"`     // texts of up to 16 characters, or two for one and for others: "vote|votes"
	Decimals int    `json:"decimals,omitzero"` // number of the score's last digits that are decimals, 0 to 6
	Format   string `json:"format,omitzero"`   // "time_ms": the score is in milliseconds
}

// UnitIn returns the unit in the language of a tag, of one or of another number; "" for none.
func (d Display) UnitIn(tag string, one bool) string {
	unit := d.Unit.In(tag)
	if singular, plural, ok := strings.Cut(unit, pluralSep); ok && one {
		return singular
	} else if ok {
		return plural
	}
	return unit
}

// pluralSep stands between the two texts of a unit.
const pluralSep = "|"

// natural reports whether the periods are those of a calendar: hour, day, week, month or year.
func (d Board) natural() bool { return slices.Contains(naturalPeriods, d.Period) }

// Family reports whether d defines a family, each of whose instances is a board.
func (d Board) Family() bool { return strings.Contains(d.Name, ":") }

// Parts yields the placeholders of a family's name, and the parts of the name of an instance that they stand for.
func (d Board) Parts(instance string) iter.Seq2[string, string] {
	return func(yield func(placeholder, part string) bool) {
		placeholders, parts := strings.Split(d.Name, ":"), strings.Split(instance, ":")
		for i := 1; i < min(len(placeholders), len(parts)); i++ {
			if !yield(strings.Trim(placeholders[i], "{}"), parts[i]) {
				return
			}
		}
	}
}

// Slot identifies d among the definitions: no two definitions have the same slot, see SlotOf.
func (d Board) Slot() string { return SlotOf(d.Name) }

// calendarOf returns the arguments of calendar.New for a normalized d that has periods. The
// kind is "" for periods of one length from a base. Natural periods have a time zone, the
// first day of a week, and the time from midnight to the start of a day.
func (d Board) calendarOf() (kind string, length time.Duration, base time.Time, loc *time.Location, weekStarts time.Weekday,
	dayStarts time.Duration) {
	if !d.natural() {
		length, _ = ParseDuration(d.Period)
		return "", length, d.Base, time.UTC, 0, 0
	}
	loc, err := loadZone(d.Timezone)
	if err != nil {
		loc = time.UTC
	}
	weekStarts = time.Weekday((slices.Index(weekdays, d.WeekStarts) + 1) % 7)
	dayStarts, _ = parseClock(d.DayStartsAt)
	return d.Period, 0, time.Time{}, loc, weekStarts, dayStarts
}

// ScoreBounds returns the least score, the greatest score and the greatest change by one
// update. Without max_change that change is 2·MaxScore, the greatest difference of two scores.
func (d Board) ScoreBounds() (low, high, change int64) {
	low, high, change = -MaxScore, MaxScore, 2*MaxScore
	if d.Min != nil {
		low = *d.Min
	}
	if d.Max != nil {
		high = *d.Max
	}
	if d.MaxChange != 0 {
		change = d.MaxChange
	}
	return low, high, change
}

// IncompatibleField names the first field that makes d incompatible with the data of an
// earlier definition: with d the data would have another order, or periods of other names.
// It returns "" when the two are compatible. Both definitions must be normalized.
func (d Board) IncompatibleField(was Board) (field string) {
	for _, f := range []struct {
		name string
		same bool
	}{
		{"order", d.Order == was.Order},
		{"ties", d.Ties == was.Ties},
		{"columns", d.Columns.Equal(was.Columns)},
		{"period", d.Period == was.Period},
		{"base", d.Base.Equal(was.Base)},
		{"timezone", d.Timezone == was.Timezone},
		{"week_starts", d.WeekStarts == was.WeekStarts},
		{"day_starts_at", d.DayStartsAt == was.DayStartsAt},
		{"member_ttl", (d.MemberTTL > 0) == (was.MemberTTL > 0)}, // the board has no times at which its members entered
		{"union", (d.Union == nil) == (was.Union == nil)},
		{"window", (d.Window > 0) == (was.Window > 0)},
		{"refresh", d.IsLive() == was.IsLive()},
		{"mode", d.Mode == was.Mode || d.Window == 0}, // the events in the window follow the old mode
		{"shards", d.Shards == was.Shards},
		// Shards compare their sort keys, so each of them divides the same span, also one that gets its first member later.
		{"tie_span", d.TieSpan == was.TieSpan || d.Shards == 0},
		{"starts", d.Starts.Equal(was.Starts) || d.Shards == 0 || d.TieSpan == 0},
	} {
		if !f.same {
			return f.name
		}
	}
	return ""
}

// SameLifetime reports whether data leave at the same times by both definitions, the same members
// are hidden by both, and both record a history at the same step.
func (d Board) SameLifetime(was Board) bool {
	return reflect.DeepEqual(d.Keep, was.Keep) && d.Retain == was.Retain && d.Ends.Equal(was.Ends) &&
		d.MemberTTL == was.MemberTTL && d.Limit == was.Limit && d.Kind == was.Kind && d.RefreshInterval() == was.RefreshInterval() &&
		d.Window == was.Window && d.Freeze == was.Freeze && d.Reveal == was.Reveal && d.RevealWithin == was.RevealWithin &&
		d.History == was.History
}

// IsLive reports whether each update leaves the window by itself, so that no result is built.
func (d Board) IsLive() bool { return d.Refresh == Live }

// RefreshInterval is the greatest age of the result of a union or a window. It is 0 for a
// board without a result.
func (d Board) RefreshInterval() time.Duration {
	switch {
	case d.Union != nil:
		return d.Union.Refresh
	case d.IsLive():
		return 0
	default:
		return d.Refresh
	}
}

// Shape identifies the definitions whose data may mix; like IncompatibleField, it tells the
// others apart. It holds the order, a digest of the other fields and, where equal scores
// share a rank, the ties. The scripts that read a board use these ties.
func (d Board) Shape() string {
	rest := fmt.Appendf(nil, "%s %s %d %s %s %s", d.Ties, d.Period, d.Base.UnixMicro(), d.Timezone, d.WeekStarts, d.DayStartsAt)
	if d.MemberTTL > 0 {
		rest = append(rest, " member_ttl"...)
	}
	if d.Union != nil {
		rest = append(rest, " union"...)
	}
	if d.Window > 0 {
		rest = fmt.Appendf(rest, " window %s %t", d.Mode, d.IsLive())
	}
	if d.Shards > 0 {
		rest = fmt.Appendf(rest, " shards %d", d.Shards)
	}
	for _, c := range d.Columns {
		rest = fmt.Appendf(rest, " column %s %s %d %d", c.Name, c.Order, c.Min, c.Max)
	}
	shape := string(d.Order) + " " + Digest(rest)
	if d.Ties.Tied() {
		shape += " " + string(d.Ties)
	}
	return shape
}

// MaxScore bounds a score: −MaxScore ≤ score ≤ MaxScore. It is 2^53−1, the
// largest integer up to which a float64, a Redis sorted-set score and a
// JavaScript number hold every integer exactly.
const MaxScore = 1<<53 - 1
