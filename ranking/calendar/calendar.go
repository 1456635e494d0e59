// Package calendar divides time into the periods of a board: hours, days, weeks, months and
// years by the wall clock of a time zone, or periods of one length.
//
// # Words
//
// A [Period] is a span of time with a name, such as 2026-W46. It contains its Opens and not its
// Closes, which is the Opens of the next period: no instant lies between two periods or in
// both. A [Calendar] holds the rules by which one board's time is divided.
//
// # Time zones
//
// A day starts at the first instant at which the wall clock reaches its start. A day can thus
// be longer or shorter than 24 hours, and a date that a zone skipped has no period. When a
// clock is set back, no period opens a second time. Hours are hours of the wall clock and have
// names in UTC, so two hours with the same reading of the clock have different names.
//
// # Users and limits
//
// Package definition makes the calendar of a board. The store asks the calendar for the period
// of an instant, for the periods beside a period, and for the period of a name. The package is
// pure: it knows neither Redis, nor the network, nor boards, and reads no clock. The program
// contains the data of all time zones, for machines without them.
package calendar

import (
	"fmt"
	"math"
	"strconv"
	"time"
	_ "time/tzdata" // time zones for machines that have no data of them
)

// Period is a span of time in which a board counts from zero. Two periods of one calendar are
// the same period exactly if they are equal by ==.
type Period struct {
	Name   string    // "2026-W46", "2026-11-12T15Z", or "17" for a period of one length
	Opens  time.Time // UTC; the first instant of the period
	Closes time.Time // UTC; the first instant after the period
}

// Calendar divides time into the periods of a board. Each instant lies in at most one period,
// and a period closes at the instant at which the next one opens. Natural periods exist for
// the years 1970 to 9999, by their first day. Periods of one length exist from their base on,
// where they touch these years. A calendar never changes and may be used concurrently.
type Calendar struct{ cut cut }

const (
	firstYear = 1970
	lastYear  = 9999 // names of periods and RFC 3339 have four digits for a year
)

// known reports whether natural periods of a year exist.
func known(year int) bool { return firstYear <= year && year <= lastYear }

// cut divides time in one way. Calendar passes it only instants from the year before firstYear
// to the year after lastYear.
type cut interface {
	at(time.Time) (Period, bool)
	named(string) (Period, bool) // may accept other spellings; Calendar.Named refuses them
}

// New makes the calendar of one kind of period. "hour", "day", "week", "month" and "year"
// follow the wall clock of loc; "" means periods of the given length, from base on. Weeks
// begin on weekStarts. Days, weeks, months and years begin dayStarts after midnight, by the
// wall clock. New ignores the arguments that a kind does not need. Base and length count in
// whole microseconds, as Redis's clock does.
func New(kind string, length time.Duration, base time.Time, loc *time.Location, weekStarts time.Weekday, dayStarts time.Duration) Calendar {
	switch kind {
	case "":
		return Calendar{lengths{base: base.UnixMicro(), length: length.Microseconds()}}
	case "hour":
		return Calendar{hours{zone{loc}}}
	default:
		return Calendar{dates{zone{loc}, kind, units[kind], weekStarts, int64(dayStarts / time.Second)}}
	}
}

// At returns the period that contains t. It returns false where no period does: outside the
// years of the calendar, or before the base.
func (c Calendar) At(t time.Time) (Period, bool) {
	if y := t.UTC().Year(); y < firstYear-1 || y > lastYear+1 {
		return Period{}, false
	}
	p, ok := c.cut.at(t)
	if !ok {
		return Period{}, false
	}
	return p, true
}

// Next returns the period that opens when p closes, or the zero period after the last one.
func (c Calendar) Next(p Period) Period {
	n, _ := c.At(p.Closes)
	return n
}

// Before returns the period that closes when p opens. It returns false for the first one.
func (c Calendar) Before(p Period) (Period, bool) { return c.At(p.Opens.Add(-1)) }

// Named returns the period whose Name equals name. It accepts no other spelling, and returns
// false where no period has the name.
func (c Calendar) Named(name string) (Period, bool) {
	p, ok := c.cut.named(name)
	if !ok || p.Name != name {
		return Period{}, false
	}
	return p, true
}

// lengths divides time into periods of one length from a base on. Length is in µs, base in µs
// since 1970. The names number the periods: 0, 1, 2.
type lengths struct{ base, length int64 }

func (c lengths) at(t time.Time) (Period, bool) {
	now := t.UnixMicro()
	if now < c.base {
		return Period{}, false
	}
	return c.nth((now - c.base) / c.length)
}

func (c lengths) named(name string) (Period, bool) {
	n, err := strconv.ParseInt(name, 10, 64)
	if err != nil || n < 0 {
		return Period{}, false
	}
	return c.nth(n)
}

// nth returns period number n, which is not negative.
func (c lengths) nth(n int64) (Period, bool) {
	end := time.Date(lastYear+1, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()
	if c.base >= end || n > (end-1-c.base)/c.length { // so n times length does not overflow
		return Period{}, false
	}
	opens := c.base + n*c.length
	p := Period{
		Name:   strconv.FormatInt(n, 10),
		Opens:  time.UnixMicro(opens).UTC(),
		Closes: time.UnixMicro(opens + c.length).UTC(),
	}
	return p, p.Closes.Year() >= firstYear
}

// hours divides time into the hours of a zone's wall clock. When a zone changes by other than
// whole hours, one period is shorter, so that the following ones are whole hours again.
type hours struct{ zone zone }

// hourLayouts are the forms of an hour's name, which is its start in UTC. The name contains
// minutes and seconds only where they are not zero.
var hourLayouts = []string{"2006-01-02T15Z", "2006-01-02T15:04Z", "2006-01-02T15:04:05Z"}

func (c hours) at(t time.Time) (Period, bool) {
	const hour = 3600
	offset, start, end := c.zone.segment(t.Unix())
	opens := utc(t.Unix()+offset).Truncate(time.Hour).Unix() - offset
	closes := opens + hour
	for start > opens {
		earlier, from, _ := c.zone.segment(start - 1)
		if (earlier-offset)%hour != 0 {
			opens = start
		}
		start = from
	}
	for end < closes {
		later, _, to := c.zone.segment(end)
		if (later-offset)%hour != 0 {
			closes = end
		}
		end = to
	}
	p := Period{Opens: utc(opens), Closes: utc(closes)}
	layout := hourLayouts[0]
	if p.Opens.Second() != 0 {
		layout = hourLayouts[2]
	} else if p.Opens.Minute() != 0 {
		layout = hourLayouts[1]
	}
	p.Name = p.Opens.Format(layout)
	return p, known(p.Opens.Year())
}

func (c hours) named(name string) (Period, bool) {
	for _, layout := range hourLayouts {
		if t, err := time.Parse(layout, name); err == nil {
			return c.at(t)
		}
	}
	return Period{}, false
}

// dates divides time into days, or into weeks, months or years, which start with their first
// day. A date is represented by its midnight in UTC, in every zone.
type dates struct {
	zone       zone
	kind       string // a key of units
	unit       unit
	weekStarts time.Weekday
	dayStarts  int64 // seconds past midnight, by the wall clock
}

// unit is a number of whole days.
type unit struct {
	layout              string // of the name of a period, which is its first day; but see isoWeeks
	years, months, days int    // from the first day of a period to that of the next
}

var units = map[string]unit{
	"day": {time.DateOnly, 0, 0, 1}, "week": {"2006-01-02w", 0, 0, 7}, "month": {"2006-01", 0, 1, 0}, "year": {"2006", 1, 0, 0},
}

func (c dates) at(t time.Time) (Period, bool) {
	now := t.Unix()
	offset, _, _ := c.zone.segment(now)
	// The date that the wall clock shows has begun. A later date may have begun too, where
	// the clock was set back over the start of a day.
	for first := c.first(utc(now + offset - c.dayStarts)); ; first = c.following(first) {
		if p := c.from(first); p.Closes.After(t) {
			return p, known(first.Year())
		}
	}
}

func (c dates) named(name string) (Period, bool) {
	date, err := c.parse(name)
	first := c.first(date)
	if err != nil || !known(first.Year()) {
		return Period{}, false
	}
	p := c.from(first)
	return p, p.Opens.Before(p.Closes) // a date that the zone skipped lasts no time
}

// from returns the period whose first day is that date.
func (c dates) from(first time.Time) Period {
	return Period{
		Name:   c.name(first),
		Opens:  c.start(first),
		Closes: c.start(c.following(first)),
	}
}

// start returns the instant at which the day of that date starts.
func (c dates) start(date time.Time) time.Time {
	return utc(c.zone.reaches(date.Unix() + c.dayStarts))
}

// first returns the first day of the day, week, month or year that contains t's date.
func (c dates) first(t time.Time) time.Time {
	y, m, d := t.Date()
	switch c.kind {
	case "week":
		d -= (int(t.Weekday()-c.weekStarts) + 7) % 7
	case "month":
		d = 1
	case "year":
		m, d = time.January, 1
	}
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}

// following returns the first day of the next period, for the first day of a period.
func (c dates) following(first time.Time) time.Time {
	return first.AddDate(c.unit.years, c.unit.months, c.unit.days)
}

// isoWeeks reports whether the periods are the numbered weeks of ISO 8601.
func (c dates) isoWeeks() bool { return c.kind == "week" && c.weekStarts == time.Monday }

func (c dates) name(first time.Time) string {
	if c.isoWeeks() {
		year, week := first.ISOWeek()
		return fmt.Sprintf("%04d-W%02d", year, week)
	}
	return first.Format(c.unit.layout)
}

// parse returns a date in the period of that name. It may accept a text that is no name.
func (c dates) parse(name string) (time.Time, error) {
	if c.isoWeeks() {
		var year, week int
		_, err := fmt.Sscanf(name, "%4d-W%2d", &year, &week)
		// 4 January is always in week 1.
		return time.Date(year, time.January, 4+7*(week-1), 0, 0, 0, 0, time.UTC), err
	}
	return time.Parse(c.unit.layout, name)
}

// zone knows how a place sets its wall clock. Instants are in seconds since 1970. The time that
// a wall clock shows is in the same unit, read as if it were UTC.
type zone struct{ loc *time.Location }

// reaches returns the first instant at which the wall clock is at or past the time shown.
// [time.Date] does not guarantee that choice for a time that the clock shows twice, or never.
func (z zone) reaches(shown int64) int64 {
	// Clocks are ahead of UTC by less than a day, so it is no sooner than this.
	now := shown - 24*3600
	for {
		offset, _, end := z.segment(now)
		if t := max(now, shown-offset); t < end {
			return t
		}
		now = end
	}
}

// segment returns the offset of the wall clock from UTC at now, in seconds. start and end bound
// a span of time around now over which the offset stays the same, end excluded. The spans
// beside it may have the same offset.
func (z zone) segment(now int64) (offset, start, end int64) {
	t := time.Unix(now, 0).In(z.loc)
	_, ahead := t.Zone()
	from, to := t.ZoneBounds()
	start, end = from.Unix(), to.Unix()
	if from.IsZero() {
		start = math.MinInt64
	}
	const day = 24 * 3600
	if to.IsZero() {
		end = math.MaxInt64
	} else if end <= now {
		// After a zone's last listed change Go follows a rule. By it a span ends with the
		// 365th day of the year (UTC), even on the 366th day.
		end = now - now%day + day
	}
	return int64(ahead), start, end
}

// utc returns the time of an instant.
func utc(sec int64) time.Time { return time.Unix(sec, 0).UTC() }
