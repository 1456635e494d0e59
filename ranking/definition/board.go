package definition

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Mode is what an update's score does to the score a member has.
type Mode string

// The modes. An update may override its board's with Update.Op.
const (
	Sum  Mode = "sum"  // adds
	Best Mode = "best" // replaces a worse one
	Last Mode = "last" // replaces
)

// Order says which scores rank higher.
type Order string

// The orders.
const (
	Desc Order = "desc" // the higher score ranks higher
	Asc  Order = "asc"  // the lower score ranks higher: lap times, golf
)

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
	First    Ties = "first"  // who reached the score first ranks higher
	Shared   Ties = "shared" // all rank the same, the next after them all: 1-2-2-4
	Dense    Ties = "dense"  // all rank the same, the next one further: 1-2-2-3
	ByMember Ties = "member" // by the bytes of the member id
)

// Tied reports whether members with equal scores have the same rank. Who reached the
// score first is listed first then.
func (t Ties) Tied() bool { return t == Shared || t == Dense }

// Board is what a board, or each instance of a family, is. The zero value
// of every field but Board means the default, which Normalize fills in where the
// field applies. In JSON and in a boards file fields that do not apply are left
// away; durations are texts such as "36h" and "7d".
type Board struct {
	Name  string `json:"board"` // "stars"; a family: "fans:{star}"
	Mode  Mode   `json:"mode"`  // default sum
	Order Order  `json:"order"` // default desc
	Ties  Ties   `json:"ties"`  // default first

	// Period is hour, day, week, month, year, or a duration (1s to 3660d) counted
	// from Base. Default none.
	Period      string    `json:"period,omitzero"`
	Base        time.Time `json:"base,omitzero"`          // needed by a duration
	Timezone    string    `json:"timezone,omitzero"`      // IANA name, of hour to year. Default UTC
	WeekStarts  string    `json:"week_starts,omitzero"`   // of week. Default monday
	DayStartsAt string    `json:"day_starts_at,omitzero"` // of day to year. Default 00:00
	Keep        *int      `json:"keep,omitzero"`          // closed periods kept, 0 to 1000. Default 8

	// Retain is how long after its last write an instance or a board without
	// periods goes, and an activity after it ends. 1s to 36600d, default for ever.
	Retain time.Duration `json:"retain,omitzero"`
	Starts time.Time     `json:"starts,omitzero"` // an activity's bounds. Default none
	Ends   time.Time     `json:"ends,omitzero"`

	// Window has only those updates count that are of the last so long: each leaves its
	// member's score again at its time, and who has none left leaves the board. 1s to
	// 366d, on a board without period. An update's op is the board's mode then. Default
	// none.
	Window time.Duration `json:"window,omitzero"`
	// Refresh is how old a window's result may get, not counting what a build takes: 1s to
	// 1d. With Live there is no result: updates count, and leave, one by one, of mode sum
	// alone. Default 1m, of a board with a window.
	Refresh time.Duration `json:"refresh,omitzero"`

	// MemberTTL is how long after it entered a member leaves. 1s to 36600d, default
	// never.
	MemberTTL time.Duration `json:"member_ttl,omitzero"`
	// Limit is how many members stay, the best: 1 to 10,000,000, of Best and Last.
	// Default all.
	Limit int64 `json:"limit,omitzero"`

	// TieSpan is what the fraction of a Key is a fraction of, on a board with
	// neither periods nor bounds. 1s to 36600d, default a hundred years from 2020.
	TieSpan time.Duration `json:"tie_span,omitzero"`

	Min       *int64 `json:"min,omitzero"`        // least score. Default none but −MaxScore
	Max       *int64 `json:"max,omitzero"`        // greatest score. Default none but MaxScore
	MaxChange int64  `json:"max_change,omitzero"` // most that one update may change a score, 1 to MaxScore; of Best and Last a first one is free. Default none

	// Union makes a board of others, which is built and not written to. Default none.
	Union *Union `json:"union,omitzero"`

	MaxInstances int     `json:"max_instances,omitzero"` // of a family, 1 to 10,000,000. Default 100,000
	Kind         string  `json:"kind,omitzero"`          // what the members are. Default member
	Display      Display `json:"display,omitzero"`
}

// Live is the Refresh of a window that has no result which is built, but whose scores
// are those of each moment: "live".
const Live time.Duration = -1

// Display is how pages show scores, which are integers all the same.
type Display struct {
	Unit     string `json:"unit,omitzero"`     // up to 16 characters
	Decimals int    `json:"decimals,omitzero"` // 0 to 6 of the score's last digits
	Format   string `json:"format,omitzero"`   // "time_ms": the score is milliseconds
}

// natural reports whether the periods are those of a calendar.
func (d Board) natural() bool { return slices.Contains(naturalPeriods, d.Period) }

// Family reports whether d is of a family: each of its instances is a board.
func (d Board) Family() bool { return strings.Contains(d.Name, ":") }

// Slot is where d stands among the definitions: no two have the same.
func (d Board) Slot() string {
	base, placeholders, _ := strings.Cut(d.Name, ":")
	if placeholders == "" {
		return SlotOf(base, 0)
	}
	return SlotOf(base, 1+strings.Count(placeholders, ":"))
}

// calendarOf is what calendar.New makes the calendar of a normalized d of, where it
// has periods: their kind, "" for those by length from a base on, and for natural
// ones the zone, the first day of a week and how long after midnight a day starts.
func (d Board) calendarOf() (kind string, length time.Duration, base time.Time, loc *time.Location, weekStarts time.Weekday, dayStarts time.Duration) {
	if !d.natural() {
		length, _ = parseDuration(d.Period)
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

// ScoreBounds are those of a score and of what one update changes; without max_change
// that is what no two scores are further apart than.
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

// IncompatibleField names the first field in which d differs from what the board was, such
// that what it holds would be in another order or in periods of other names; ""
// for none. Both are normalized.
func (d Board) IncompatibleField(was Board) (field string) {
	for _, f := range []struct {
		name string
		same bool
	}{
		{"order", d.Order == was.Order},
		{"ties", d.Ties == was.Ties},
		{"period", d.Period == was.Period},
		{"base", d.Base.Equal(was.Base)},
		{"timezone", d.Timezone == was.Timezone},
		{"week_starts", d.WeekStarts == was.WeekStarts},
		{"day_starts_at", d.DayStartsAt == was.DayStartsAt},
		{"member_ttl", (d.MemberTTL > 0) == (was.MemberTTL > 0)}, // of those there are nobody knows when they entered
		{"union", (d.Union == nil) == (was.Union == nil)},
		{"window", (d.Window > 0) == (was.Window > 0)},
		{"refresh", d.IsLive() == was.IsLive()},
		{"mode", d.Mode == was.Mode || d.Window == 0}, // of what is in the window
	} {
		if !f.same {
			return f.name
		}
	}
	return ""
}

// SameLifetime reports whether what d and was hold goes at the same times, and the same are
// hidden there.
func (d Board) SameLifetime(was Board) bool {
	keeps := func(d Board) int {
		if d.Keep == nil {
			return -1
		}
		return *d.Keep
	}
	return keeps(d) == keeps(was) && d.Retain == was.Retain && d.Ends.Equal(was.Ends) &&
		d.MemberTTL == was.MemberTTL && d.Limit == was.Limit && d.Kind == was.Kind && d.RefreshInterval() == was.RefreshInterval() && d.Window == was.Window
}

// IsLive reports whether points leave a window one by one.
func (d Board) IsLive() bool { return d.Refresh == Live }

// RefreshInterval is how old the result of a board that is built may get; 0: it is not built.
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

// Shape tells apart the definitions whose data must not mix, as reorders does: the
// order, a digest of the rest, and ties by which some rank the same, which scripts read.
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
