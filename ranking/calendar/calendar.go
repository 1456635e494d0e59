package calendar

import (
	"fmt"
	"math"
	"strconv"
	"time"
	_ "time/tzdata" // zones are known on a machine that has no data of them, too
)

// Period is a stretch of time in which a board counts from nothing. Two periods
// of a calendar are the same one exactly if they are ==.
type Period struct {
	Name   string
	Opens  time.Time // UTC
	Closes time.Time // UTC; no longer in the period
}

// Calendar cuts time into a board's periods: an instant lies in one alone, and one
// closes as the next opens. There are those whose first day is of the years
// firstYear to lastYear, and those by length, from the base on, that touch these
// years. A calendar never changes and may be used concurrently.
type Calendar struct{ cut cut }

const (
	firstYear = 1970
	lastYear  = 9999 // what a name and RFC 3339 have room for
)

func known(year int) bool { return firstYear <= year && year <= lastYear }

// cut is one way to cut time. It is asked only for instants from the year before
// firstYear to the one after lastYear.
type cut interface {
	at(time.Time) (Period, bool)
	named(string) (Period, bool)
}

// New makes the calendar of a kind of period: "hour", "day", "week",
// "month" or "year" by the wall clock of loc, or "" for one period each
// length from base on. Weeks begin on weekStarts. All but hours and lengths begin
// dayStarts after midnight, by the wall clock. What a kind has no use for is not
// looked at. Base and length count in whole microseconds, as Redis's clock does.
func New(kind string, length time.Duration, base time.Time, loc *time.Location, weekStarts time.Weekday, dayStarts time.Duration) Calendar {
	switch kind {
	case "":
		return Calendar{lengths{base: base.UnixMicro(), length: length.Microseconds()}}
	case "hour":
		return Calendar{hours{zone{loc}}}
	default:
		return Calendar{dates{zone{loc}, kind, weekStarts, int64(dayStarts / time.Second)}}
	}
}

// At returns the period that t lies in.
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

// Next returns the period that opens when p closes, the zero one after the last.
func (c Calendar) Next(p Period) Period {
	n, _ := c.At(p.Closes)
	return n
}

// Before returns the period that closes when p opens.
func (c Calendar) Before(p Period) (Period, bool) { return c.At(p.Opens.Add(-1)) }

// Named returns the period of that very name, for which no other spelling is taken.
func (c Calendar) Named(name string) (Period, bool) {
	p, ok := c.cut.named(name)
	if !ok || p.Name != name {
		return Period{}, false
	}
	return p, true
}

// lengths are periods of one length, from a base on, both in microseconds. Their
// names count them: 0, 1, 2.
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

func (c lengths) nth(n int64) (Period, bool) {
	end := time.Date(lastYear+1, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()
	if c.base >= end || n > (end-1-c.base)/c.length { // so n times length has room
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

// hours are the hours of a zone's wall clock. A change of the zone by other than
// whole hours cuts one short, so that the next are whole ones again.
type hours struct{ zone zone }

// hourLayouts are how an hour is named by its start in UTC, whose minutes and
// seconds are told only where there are any.
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

// dates are days, or the weeks, months or years that start with their first day.
// A date is held as its midnight in UTC, whatever the zone.
type dates struct {
	zone       zone
	unit       string // day, week, month or year
	weekStarts time.Weekday
	dayStarts  int64 // seconds past midnight, by the wall clock
}

func (c dates) at(t time.Time) (Period, bool) {
	now := t.Unix()
	offset, _, _ := c.zone.segment(now)
	// The date that the wall clock shows has begun. Where the clock was set back
	// over the start of a day, a later one may have.
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

// start is when the day of that date starts.
func (c dates) start(date time.Time) time.Time {
	return utc(c.zone.reaches(date.Unix() + c.dayStarts))
}

// first returns the date of the first day of what t's date lies in.
func (c dates) first(t time.Time) time.Time {
	y, m, d := t.Date()
	switch c.unit {
	case "week":
		d -= (int(t.Weekday()-c.weekStarts) + 7) % 7
	case "month":
		d = 1
	case "year":
		m, d = time.January, 1
	}
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}

// following returns the date of the first day after what first is the first day of.
func (c dates) following(first time.Time) time.Time {
	switch c.unit {
	case "week":
		return first.AddDate(0, 0, 7)
	case "month":
		return first.AddDate(0, 1, 0)
	case "year":
		return first.AddDate(1, 0, 0)
	default:
		return first.AddDate(0, 0, 1)
	}
}

// isoWeeks reports whether the periods are the weeks that ISO 8601 numbers.
func (c dates) isoWeeks() bool { return c.unit == "week" && c.weekStarts == time.Monday }

func (c dates) layout() string {
	switch c.unit {
	case "week":
		return "2006-01-02w"
	case "month":
		return "2006-01"
	case "year":
		return "2006"
	default:
		return time.DateOnly
	}
}

func (c dates) name(first time.Time) string {
	if c.isoWeeks() {
		year, week := first.ISOWeek()
		return fmt.Sprintf("%04d-W%02d", year, week)
	}
	return first.Format(c.layout())
}

// parse returns a date in the period of that name. It may take what is no name.
func (c dates) parse(name string) (time.Time, error) {
	if c.isoWeeks() {
		var year, week int
		_, err := fmt.Sscanf(name, "%4d-W%2d", &year, &week)
		// 4 January is always in week 1.
		return time.Date(year, time.January, 4+7*(week-1), 0, 0, 0, 0, time.UTC), err
	}
	return time.Parse(c.layout(), name)
}

// zone tells how a place sets its clocks. Instants are in seconds since 1970, and
// so is what a wall clock shows, read as if it were UTC.
type zone struct{ loc *time.Location }

// reaches returns the first instant at which the wall clock is at or past what is
// asked for. [time.Date] promises no such choice where that is shown twice, or never.
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

// segment returns how far the wall clock is ahead of UTC at an instant, and a
// stretch of time around it, end excluded, over which it stays so. The stretches
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
		// By the rule that follows a zone's last listed change, Go ends a stretch
		// with the 365th day of the year (UTC), on the 366th too.
		end = now - now%day + day
	}
	return int64(ahead), start, end
}

func utc(sec int64) time.Time { return time.Unix(sec, 0).UTC() }
