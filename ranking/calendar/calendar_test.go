package calendar

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rankcast/ranking/proptest"
)

// zones change their clocks in every way that is known, and at every time of day.
var zones = []string{
	"UTC",
	"Africa/Cairo", "Africa/Casablanca",
	"America/Asuncion", "America/Caracas", "America/Havana", "America/New_York", "America/Sao_Paulo", "America/St_Johns",
	"Antarctica/Casey", "Antarctica/Troll",
	"Asia/Baku", "Asia/Beirut", "Asia/Colombo", "Asia/Gaza", "Asia/Kathmandu", "Asia/Kolkata", "Asia/Pyongyang", "Asia/Shanghai",
	"Asia/Tehran",
	"Australia/Eucla", "Australia/Lord_Howe", "Australia/Sydney",
	"Europe/Berlin", "Europe/Dublin",
	"Pacific/Apia", "Pacific/Chatham", "Pacific/Kiritimati", "Pacific/Kwajalein", "Pacific/Marquesas",
}

func inZone(t require.TestingT, name string) *time.Location {
	loc, err := time.LoadLocation(name)
	require.NoError(t, err)
	return loc
}

func utcTime(t require.TestingT, rfc3339 string) time.Time {
	at, err := time.Parse(time.RFC3339Nano, rfc3339)
	require.NoError(t, err)
	return at.UTC()
}

// natural is a calendar by the wall clock of a zone.
func natural(t require.TestingT, kind, zone string, weekStarts time.Weekday, dayStarts time.Duration) Calendar {
	return New(kind, 0, time.Time{}, inZone(t, zone), weekStarts, dayStarts)
}

func every(length time.Duration, base time.Time) Calendar {
	return New("", length, base, time.UTC, time.Monday, 0)
}

// fact is one period that is known beforehand.
type fact struct {
	zone, name    string
	opens, closes string
}

func (f fact) holds(t *testing.T, c Calendar) {
	t.Helper()
	want := Period{Name: f.name, Opens: utcTime(t, f.opens), Closes: utcTime(t, f.closes)}
	for _, at := range []time.Time{want.Opens, want.Closes.Add(-1), want.Opens.Add(want.Closes.Sub(want.Opens) / 2)} {
		p, ok := c.At(at)
		require.True(t, ok)
		require.Equal(t, want, p, "%s at %s", f.zone, at)
	}
	p, ok := c.Named(f.name)
	require.True(t, ok, "%s %s", f.zone, f.name)
	require.Equal(t, want, p, f.zone)
	require.Equal(t, want.Closes, c.Next(p).Opens)
	before, ok := c.Before(p)
	require.True(t, ok)
	require.Equal(t, want.Opens, before.Closes)
}

func TestPeriodDays(t *testing.T) {
	t.Parallel()
	for _, f := range []fact{
		{"UTC", "2024-02-29", "2024-02-29T00:00:00Z", "2024-03-01T00:00:00Z"},
		{"Asia/Shanghai", "2026-11-20", "2026-11-19T16:00:00Z", "2026-11-20T16:00:00Z"},
		{"Asia/Kolkata", "2024-06-01", "2024-05-31T18:30:00Z", "2024-06-01T18:30:00Z"},
		{"Asia/Kathmandu", "2024-06-01", "2024-05-31T18:15:00Z", "2024-06-01T18:15:00Z"},

		// 23 and 25 hours, in both hemispheres.
		{"Europe/Berlin", "2024-03-31", "2024-03-30T23:00:00Z", "2024-03-31T22:00:00Z"},
		{"Europe/Berlin", "2024-10-27", "2024-10-26T22:00:00Z", "2024-10-27T23:00:00Z"},
		{"Australia/Sydney", "2024-10-06", "2024-10-05T14:00:00Z", "2024-10-06T13:00:00Z"},
		{"Australia/Sydney", "2024-04-07", "2024-04-06T13:00:00Z", "2024-04-07T14:00:00Z"},
		{"Pacific/Chatham", "2024-04-07", "2024-04-06T10:15:00Z", "2024-04-07T11:15:00Z"},
		// 23 and a half and 24 and a half.
		{"Australia/Lord_Howe", "2024-10-06", "2024-10-05T13:30:00Z", "2024-10-06T13:00:00Z"},
		{"Australia/Lord_Howe", "2024-04-07", "2024-04-06T13:00:00Z", "2024-04-07T13:30:00Z"},

		// From midnight the clock went to one: the day starts at one.
		{"Africa/Cairo", "2014-05-15", "2014-05-14T22:00:00Z", "2014-05-15T22:00:00Z"},
		{"Africa/Cairo", "2014-05-16", "2014-05-15T22:00:00Z", "2014-05-16T21:00:00Z"},
		{"America/Sao_Paulo", "2018-11-04", "2018-11-04T03:00:00Z", "2018-11-05T02:00:00Z"},
		{"Asia/Beirut", "2024-03-31", "2024-03-30T22:00:00Z", "2024-03-31T21:00:00Z"},
		// From midnight it went back to eleven: midnight was shown only once.
		{"America/Sao_Paulo", "2018-02-17", "2018-02-17T02:00:00Z", "2018-02-18T03:00:00Z"},
		{"Asia/Beirut", "2024-10-26", "2024-10-25T21:00:00Z", "2024-10-26T22:00:00Z"},
		// From one it went back to midnight: the first midnight starts the day.
		{"America/Havana", "2024-11-03", "2024-11-03T04:00:00Z", "2024-11-04T05:00:00Z"},
		// From a minute past midnight it went back to 23:01: the day had begun.
		{"America/St_Johns", "2010-11-06", "2010-11-06T02:30:00Z", "2010-11-07T02:30:00Z"},
		{"America/St_Johns", "2010-11-07", "2010-11-07T02:30:00Z", "2010-11-08T03:30:00Z"},

		// Samoa went without 30 December.
		{"Pacific/Apia", "2011-12-29", "2011-12-29T10:00:00Z", "2011-12-30T10:00:00Z"},
		{"Pacific/Apia", "2011-12-31", "2011-12-30T10:00:00Z", "2011-12-31T10:00:00Z"},
	} {
		f.holds(t, natural(t, "day", f.zone, time.Monday, 0))
	}
	// It is 23:16 of the day before, for the second time.
	p, ok := natural(t, "day", "America/St_Johns", time.Monday, 0).At(utcTime(t, "2010-11-07T02:46:00Z"))
	require.True(t, ok)
	require.Equal(t, "2010-11-07", p.Name)
}

func TestPeriodDayStarts(t *testing.T) {
	t.Parallel()
	for dayStarts, facts := range map[time.Duration][]fact{
		2*time.Hour + 30*time.Minute: {
			{"Europe/Berlin", "2024-03-30", "2024-03-30T01:30:00Z", "2024-03-31T01:00:00Z"}, // to 03:00, as 02:30 never was
			{"Europe/Berlin", "2024-03-31", "2024-03-31T01:00:00Z", "2024-04-01T00:30:00Z"},
			{"Europe/Berlin", "2024-10-27", "2024-10-27T00:30:00Z", "2024-10-28T01:30:00Z"}, // from the first of two 02:30
		},
		4 * time.Hour: {
			{"Asia/Shanghai", "2026-11-20", "2026-11-19T20:00:00Z", "2026-11-20T20:00:00Z"},
			{"Asia/Baku", "2015-03-28", "2015-03-28T00:00:00Z", "2015-03-29T00:00:00Z"}, // from 04:00 the clock went to 05:00
			{"Asia/Baku", "2015-03-29", "2015-03-29T00:00:00Z", "2015-03-29T23:00:00Z"},
			{"Asia/Baku", "2014-10-25", "2014-10-24T23:00:00Z", "2014-10-25T23:00:00Z"}, // from 05:00 back to 04:00
			{"Asia/Baku", "2014-10-26", "2014-10-25T23:00:00Z", "2014-10-27T00:00:00Z"},
		},
		4*time.Hour + 30*time.Minute: {
			{"Asia/Baku", "2015-03-28", "2015-03-28T00:30:00Z", "2015-03-29T00:00:00Z"},
			{"Asia/Baku", "2015-03-29", "2015-03-29T00:00:00Z", "2015-03-29T23:30:00Z"},
		},
		23*time.Hour + 59*time.Minute: {
			{"UTC", "2026-11-20", "2026-11-20T23:59:00Z", "2026-11-21T23:59:00Z"},
			{"America/St_Johns", "2010-11-06", "2010-11-07T02:29:00Z", "2010-11-08T03:29:00Z"},
		},
	} {
		for _, f := range facts {
			f.holds(t, natural(t, "day", f.zone, time.Monday, dayStarts))
		}
	}
}

func TestPeriodWeeks(t *testing.T) {
	t.Parallel()
	for _, f := range []fact{
		{"UTC", "2020-W53", "2020-12-28T00:00:00Z", "2021-01-04T00:00:00Z"},
		{"UTC", "2025-W01", "2024-12-30T00:00:00Z", "2025-01-06T00:00:00Z"},
		{"UTC", "2025-W52", "2025-12-22T00:00:00Z", "2025-12-29T00:00:00Z"},
		{"UTC", "2026-W01", "2025-12-29T00:00:00Z", "2026-01-05T00:00:00Z"},
		{"UTC", "2026-W53", "2026-12-28T00:00:00Z", "2027-01-04T00:00:00Z"}, // so 2027-01-01 is of 2026
		{"UTC", "2027-W01", "2027-01-04T00:00:00Z", "2027-01-11T00:00:00Z"},
		{"Asia/Shanghai", "2026-W47", "2026-11-15T16:00:00Z", "2026-11-22T16:00:00Z"},
		{"Europe/Berlin", "2024-W13", "2024-03-24T23:00:00Z", "2024-03-31T22:00:00Z"}, // an hour short
		{"Europe/Berlin", "2024-W43", "2024-10-20T22:00:00Z", "2024-10-27T23:00:00Z"}, // and long
		{"Pacific/Apia", "2011-W52", "2011-12-26T10:00:00Z", "2012-01-01T10:00:00Z"},  // six days
	} {
		f.holds(t, natural(t, "week", f.zone, time.Monday, 0))
	}
	// Each week that 20 November 2026, a Friday, may be in.
	for weekStarts, f := range map[time.Weekday]fact{
		time.Saturday:  {"UTC", "2026-11-14w", "2026-11-14T00:00:00Z", "2026-11-21T00:00:00Z"},
		time.Sunday:    {"UTC", "2026-11-15w", "2026-11-15T00:00:00Z", "2026-11-22T00:00:00Z"},
		time.Monday:    {"UTC", "2026-W47", "2026-11-16T00:00:00Z", "2026-11-23T00:00:00Z"},
		time.Tuesday:   {"UTC", "2026-11-17w", "2026-11-17T00:00:00Z", "2026-11-24T00:00:00Z"},
		time.Wednesday: {"UTC", "2026-11-18w", "2026-11-18T00:00:00Z", "2026-11-25T00:00:00Z"},
		time.Thursday:  {"UTC", "2026-11-19w", "2026-11-19T00:00:00Z", "2026-11-26T00:00:00Z"},
		time.Friday:    {"UTC", "2026-11-20w", "2026-11-20T00:00:00Z", "2026-11-27T00:00:00Z"},
	} {
		f.holds(t, natural(t, "week", f.zone, weekStarts, 0))
		p, ok := natural(t, "week", f.zone, weekStarts, 0).At(utcTime(t, "2026-11-20T12:00:00Z"))
		require.True(t, ok)
		require.Equal(t, f.name, p.Name)
	}
	// With the first day, and that is Saturday until six.
	fact{"Europe/Berlin", "2024-03-31w", "2024-03-31T04:00:00Z", "2024-04-07T04:00:00Z"}.
		holds(t, natural(t, "week", "Europe/Berlin", time.Sunday, 6*time.Hour))
	fact{"Asia/Shanghai", "2026-W47", "2026-11-15T20:00:00Z", "2026-11-22T20:00:00Z"}.
		holds(t, natural(t, "week", "Asia/Shanghai", time.Monday, 4*time.Hour))
}

func TestPeriodMonthsAndYears(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind      string
		dayStarts time.Duration
		fact
	}{
		{"month", 0, fact{"UTC", "2024-02", "2024-02-01T00:00:00Z", "2024-03-01T00:00:00Z"}},
		{"month", 0, fact{"Europe/Berlin", "2024-03", "2024-02-29T23:00:00Z", "2024-03-31T22:00:00Z"}},
		{"month", 0, fact{"Pacific/Apia", "2011-12", "2011-12-01T10:00:00Z", "2011-12-31T10:00:00Z"}},
		{"month", 4 * time.Hour, fact{"Asia/Shanghai", "2026-12", "2026-11-30T20:00:00Z", "2026-12-31T20:00:00Z"}},
		{"year", 0, fact{"UTC", "2024", "2024-01-01T00:00:00Z", "2025-01-01T00:00:00Z"}},
		{"year", 0, fact{"America/New_York", "2020", "2020-01-01T05:00:00Z", "2021-01-01T05:00:00Z"}},
		{"year", 4 * time.Hour, fact{"Asia/Shanghai", "2026", "2025-12-31T20:00:00Z", "2026-12-31T20:00:00Z"}},
	} {
		c.holds(t, natural(t, c.kind, c.zone, time.Monday, c.dayStarts))
	}
}

func TestPeriodHours(t *testing.T) {
	t.Parallel()
	for _, f := range []fact{
		{"UTC", "2026-11-20T06Z", "2026-11-20T06:00:00Z", "2026-11-20T07:00:00Z"},
		{"Asia/Kolkata", "2024-06-01T06:30Z", "2024-06-01T06:30:00Z", "2024-06-01T07:30:00Z"},
		{"Asia/Kathmandu", "2024-06-01T06:15Z", "2024-06-01T06:15:00Z", "2024-06-01T07:15:00Z"},
		{"Pacific/Chatham", "2024-04-06T14:15Z", "2024-04-06T14:15:00Z", "2024-04-06T15:15:00Z"},
		{"Africa/Monrovia", "1971-06-01T05:44:30Z", "1971-06-01T05:44:30Z", "1971-06-01T06:44:30Z"},

		// What the wall clock showed twice are two hours.
		{"Europe/Berlin", "2024-10-27T00Z", "2024-10-27T00:00:00Z", "2024-10-27T01:00:00Z"},
		{"Europe/Berlin", "2024-10-27T01Z", "2024-10-27T01:00:00Z", "2024-10-27T02:00:00Z"},
		// A change of a whole hour, amid an hour, cuts nothing.
		{"America/St_Johns", "2010-11-07T02:30Z", "2010-11-07T02:30:00Z", "2010-11-07T03:30:00Z"},

		// From 02:00 back to 01:30, and on to 02:30.
		{"Australia/Lord_Howe", "2024-04-06T14Z", "2024-04-06T14:00:00Z", "2024-04-06T15:00:00Z"},
		{"Australia/Lord_Howe", "2024-04-06T15Z", "2024-04-06T15:00:00Z", "2024-04-06T15:30:00Z"},
		{"Australia/Lord_Howe", "2024-04-06T15:30Z", "2024-04-06T15:30:00Z", "2024-04-06T16:30:00Z"},
		{"Australia/Lord_Howe", "2024-10-05T14:30Z", "2024-10-05T14:30:00Z", "2024-10-05T15:30:00Z"},
		{"Australia/Lord_Howe", "2024-10-05T15:30Z", "2024-10-05T15:30:00Z", "2024-10-05T16:00:00Z"},
		{"Australia/Lord_Howe", "2024-10-05T16Z", "2024-10-05T16:00:00Z", "2024-10-05T17:00:00Z"},
		// From 00:30 back to 00:00.
		{"Asia/Colombo", "2006-04-14T18Z", "2006-04-14T18:00:00Z", "2006-04-14T18:30:00Z"},
		{"Asia/Colombo", "2006-04-14T18:30Z", "2006-04-14T18:30:00Z", "2006-04-14T19:30:00Z"},
	} {
		f.holds(t, natural(t, "hour", f.zone, time.Monday, 0))
	}
}

func TestPeriodLengths(t *testing.T) {
	t.Parallel()
	base := utcTime(t, "2026-01-05T04:00:00+08:00")
	c := every(36*time.Hour, base)
	fact{"36h", "1", "2026-01-06T08:00:00Z", "2026-01-07T20:00:00Z"}.holds(t, c)
	fact{"36h", "100", "2026-06-03T20:00:00Z", "2026-06-05T08:00:00Z"}.holds(t, c)
	fact{"2s", "1800", "2026-01-04T21:00:00Z", "2026-01-04T21:00:02Z"}.holds(t, every(2*time.Second, base))

	_, ok := c.At(base.Add(-1))
	require.False(t, ok, "before the base")
	first, ok := c.At(base)
	require.True(t, ok)
	require.Equal(t, Period{"0", base, base.Add(36 * time.Hour)}, first)
	_, ok = c.Before(first)
	require.False(t, ok)

	// Longer ago than a time.Duration can tell.
	old := every(24*time.Hour, utcTime(t, "0001-01-01T00:00:00Z"))
	fact{"24h", "719162", "1970-01-01T00:00:00Z", "1970-01-02T00:00:00Z"}.holds(t, old)
	fact{"24h", "3652057", "9999-12-30T00:00:00Z", "9999-12-31T00:00:00Z"}.holds(t, old)

	// A turn is never between two ticks of Redis's clock.
	fine := every(1500*time.Millisecond, utcTime(t, "2026-01-01T00:00:00.000001999Z"))
	fact{"1.5s", "1", "2026-01-01T00:00:01.500001Z", "2026-01-01T00:00:03.000001Z"}.holds(t, fine)
}

func TestPeriodNamesRefused(t *testing.T) {
	t.Parallel()
	base := utcTime(t, "2026-01-01T00:00:00Z")
	day := natural(t, "day", "Pacific/Apia", time.Monday, 0)
	for _, c := range []struct {
		what  string
		c     Calendar
		names string
	}{
		{"hour", natural(t, "hour", "Australia/Lord_Howe", time.Monday, 0),
			"2024-04-06T15:00Z 2024-04-06T15:15Z 2024-04-06T16Z 2024-04-06T14:00:00Z 2024-04-06T14 2024-04-06T14z 2024-04-06t14Z " +
				"2024-04-06T24Z 2024-04-06T14:00:00.5Z 2024-04-06 1969-12-31T23Z 1969-12-31T23:30Z 0000-01-01T00Z 0000-01-01T0Z"},
		{"day", day,
			"2011-12-30 2026-02-30 2026-2-03 2026-02-3 2026-13-01 2026-00-01 2026-01-00 2026-02-03Z 26-02-03 02026-02-03 " +
				"+2026-02-03 1969-12-31 10000-01-01 0000-01-01 2026-W47 2026-11 2026-11-20w 2026-11-20T06Z"},
		{"week", natural(t, "week", "UTC", time.Monday, 0),
			"2025-W53 2027-W53 2026-W00 2026-W54 2026-W7 2026-W007 2026-w47 2026W47 2026-W47w 2026-W4x 2026-W+7 2026-W-1 +026-W01 " +
				"-001-W01 1969-W01 1969-W52 1970-W01 0001-W01 10000-W01 2026-11-16w 2026-11-16 W47"},
		{"week from Sunday", natural(t, "week", "UTC", time.Sunday, 0),
			"2026-11-16w 2026-11-14w 2026-11-15 2026-11-15W 2026-11-15ww 2026-W47 1969-12-28w 2026-02-30w"},
		{"month", natural(t, "month", "UTC", time.Monday, 0),
			"2026-1 2026-13 2026-00 2026-11-01 1969-12 10000-01 2026 2026-W4"},
		{"year", natural(t, "year", "UTC", time.Monday, 0),
			"26 02026 1969 0000 10000 2026-01 +2026 -2026 2O26"},
		{"36h", every(36*time.Hour, base),
			"01 -1 -0 +1 1.0 1e3 0x1 1_0 ٣ 1942650 9223372036854775807 99999999999999999999 2026-01"},
		{"until after the year 10000", every(3660*24*time.Hour, utcTime(t, "9999-06-01T00:00:00Z")), "1"},
		{"from after the year 9999", every(24*time.Hour, utcTime(t, "9999-12-31T23:00:00-12:00")), "0"},
		{"before 1970", every(24*time.Hour, utcTime(t, "0001-01-01T00:00:00Z")), "0 719160"},
	} {
		for _, name := range append(strings.Fields(c.names), "", " ", "-", "\x00", "2026-11-20 ", " 2026", "1 ", strings.Repeat("9", 1000)) {
			p, ok := c.c.Named(name)
			require.False(t, ok, "%s %q", c.what, name)
			require.Zero(t, p)
		}
	}
	for _, at := range []string{"2011-12-30T09:59:59.999999999Z", "2011-12-30T10:00:00Z"} {
		p, _ := day.At(utcTime(t, at))
		require.NotEqual(t, "2011-12-30", p.Name)
	}
}

// Before 1970 and after 9999 there are no periods, and asking is harmless.
func TestPeriodYearsOutOfReach(t *testing.T) {
	t.Parallel()
	far := []time.Time{
		{}, time.Unix(math.MinInt64, 0), time.Unix(math.MaxInt64, 0), time.Unix(math.MaxInt64>>1, 0),
		utcTime(t, "1968-06-01T00:00:00Z"), utcTime(t, "9999-12-31T23:59:59Z").AddDate(2, 0, 0),
	}
	for _, zone := range zones {
		for _, kind := range []string{"hour", "day", "week", "month", "year"} {
			c := natural(t, kind, zone, time.Sunday, time.Hour)
			for _, at := range far {
				_, ok := c.At(at)
				require.False(t, ok, "%s %s %s", zone, kind, at)
			}
			p, ok := c.At(utcTime(t, "1970-01-12T00:00:00Z"))
			for ; ok; p, ok = c.Before(p) {
				require.True(t, strings.HasPrefix(p.Name, "1970"), p.Name)
			}
			p, ok = c.At(utcTime(t, "9999-12-20T00:00:00Z"))
			for require.True(t, ok); p != (Period{}); p = c.Next(p) {
				require.True(t, strings.HasPrefix(p.Name, "9999"), p.Name)
			}
		}
	}
	for _, at := range far[1:] {
		_, ok := every(time.Second, utcTime(t, "0001-01-01T00:00:00Z")).At(at)
		require.False(t, ok)
	}
}

// On the last day of a leap year Go ends a zone's stretch before it, once the year
// is beyond the changes that are listed singly.
func TestPeriodEndOfLeapYears(t *testing.T) {
	t.Parallel()
	at := utcTime(t, "2096-12-31T12:00:00Z")
	for _, zone := range zones {
		for _, kind := range []string{"hour", "day", "week", "month", "year"} {
			p, ok := natural(t, kind, zone, time.Monday, 0).At(at)
			require.True(t, ok)
			require.False(t, at.Before(p.Opens) || !at.Before(p.Closes), "%s %s: %v", zone, kind, p)
		}
	}
}

func anInstant(loc *time.Location) *rapid.Generator[time.Time] {
	return rapid.Custom(func(t *rapid.T) time.Time {
		from, to := time.Date(1975, 1, 1, 0, 0, 0, 0, time.UTC).Unix(), time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
		at := time.Unix(rapid.Int64Range(from, to-1).Draw(t, "second"), rapid.Int64Range(0, 999_999_999).Draw(t, "ns"))
		near := rapid.SampledFrom([]time.Duration{0, time.Second, 2 * time.Hour, 36 * time.Hour}).Draw(t, "near a change")
		if _, change := at.In(loc).ZoneBounds(); near > 0 && !change.IsZero() && change.Unix() < to && change.Unix() >= from {
			at = change.Add(time.Duration(rapid.Int64Range(-int64(near), int64(near)).Draw(t, "from it")))
		}
		return at.UTC()
	})
}

// aCalendar draws a calendar of any kind.
type aCalendar struct {
	Calendar
	kind       string
	loc        *time.Location
	weekStarts time.Weekday
	dayStarts  time.Duration
	base       time.Time
}

func drawCalendar(t *rapid.T, kinds ...string) aCalendar {
	c := aCalendar{
		kind:       rapid.SampledFrom(kinds).Draw(t, "kind"),
		loc:        inZone(t, rapid.SampledFrom(zones).Draw(t, "zone")),
		weekStarts: time.Weekday(rapid.IntRange(0, 6).Draw(t, "week starts")),
	}
	length := time.Second
	switch c.kind {
	case "":
		length = time.Duration(rapid.Int64Range(int64(time.Second), int64(3660*24*time.Hour)).Draw(t, "length"))
		c.base = time.Unix(rapid.Int64Range(0, 3e9).Draw(t, "base"), rapid.Int64Range(0, 999_999_999).Draw(t, "base ns"))
	case "hour":
	default:
		// Clocks are mostly changed before four.
		latest := rapid.SampledFrom([]int{0, 4 * 60, 24*60 - 1}).Draw(t, "day starts by")
		c.dayStarts = time.Duration(rapid.IntRange(0, latest).Draw(t, "day starts")) * time.Minute
	}
	c.Calendar = New(c.kind, length, c.base, c.loc, c.weekStarts, c.dayStarts)
	return c
}

// Periods follow one another without a gap, each instant is in the one that says
// so, and a name means one of them.
func TestPeriodsCutTime(t *testing.T) {
	t.Parallel()
	proptest.Check(t, 100, func(t *rapid.T) {
		c := drawCalendar(t, "", "hour", "day", "week", "month", "year")
		at := anInstant(c.loc).Draw(t, "at")
		p, ok := c.At(at)
		if c.kind == "" && at.Before(c.base.Truncate(time.Microsecond)) {
			require.False(t, ok)
			return
		}
		require.True(t, ok)
		require.False(t, at.Before(p.Opens) || !at.Before(p.Closes), "%s is not in %v", at, p)

		seen := map[string]bool{}
		for range 5 {
			require.True(t, p.Opens.Before(p.Closes))
			require.Equal(t, time.UTC, p.Opens.Location())
			require.Equal(t, time.UTC, p.Closes.Location())
			require.Equal(t, p.Opens, p.Opens.Truncate(time.Microsecond))
			require.False(t, seen[p.Name], "%s again", p.Name)
			seen[p.Name] = true
			for _, in := range []time.Time{p.Opens, p.Closes.Add(-1)} {
				same, ok := c.At(in)
				require.True(t, ok)
				require.Equal(t, p, same)
			}
			named, ok := c.Named(p.Name)
			require.True(t, ok, p.Name)
			require.Equal(t, p, named)

			next := c.Next(p)
			require.Equal(t, p.Closes, next.Opens)
			before, ok := c.Before(next)
			require.True(t, ok)
			require.Equal(t, p, before)
			// Names sort in the order of time, but for numbers and for T15Z before
			// T15:30Z.
			if c.kind == "" {
				require.LessOrEqual(t, len(p.Name), len(next.Name))
			} else if c.kind != "hour" {
				require.Len(t, next.Name, len(p.Name))
			}
			if len(p.Name) == len(next.Name) {
				require.Less(t, p.Name, next.Name)
			}
			p = next
		}
	})
}

// A walk by minutes finds the same turns: a day has begun once the wall clock has
// shown its start, whatever it shows later.
func TestPeriodsFollowTheWallClock(t *testing.T) {
	t.Parallel()
	proptest.Check(t, 100, func(t *rapid.T) {
		c := drawCalendar(t, "day", "week", "month", "year")
		middle := anInstant(c.loc).Draw(t, "at").Truncate(time.Minute)
		from := middle.Add(-36 * time.Hour)
		var latest, date time.Time
		var name string
		p, ok := c.At(from)
		require.True(t, ok)
		// Two days earlier, for what was shown before the clock was set back.
		for now := from.Add(-48 * time.Hour); now.Before(middle.Add(36 * time.Hour)); now = now.Add(time.Minute) {
			_, offset := now.In(c.loc).Zone()
			if shown := now.Add(time.Duration(offset) * time.Second); shown.After(latest) {
				latest = shown
			}
			if now.Before(from) {
				continue
			}
			if d := latest.Add(-c.dayStarts).Truncate(24 * time.Hour); d != date {
				date, name = d, c.nameOf(d)
			}
			if now.Equal(p.Closes) {
				p = c.Next(p)
			}
			require.Equal(t, name, p.Name, "at %s, %s", now, now.In(c.loc))
			if same, _ := c.At(now); same != p {
				require.Equal(t, p, same, "at %s, %s", now, now.In(c.loc))
			}
		}
	})
}

// nameOf names the period of a date, told in the plainest way.
func (c aCalendar) nameOf(date time.Time) string {
	switch c.kind {
	case "year":
		return date.Format("2006")
	case "month":
		return date.Format("2006-01")
	case "day":
		return date.Format("2006-01-02")
	}
	for date.Weekday() != c.weekStarts {
		date = date.Add(-24 * time.Hour)
	}
	if c.weekStarts != time.Monday {
		return date.Format("2006-01-02w")
	}
	// A week is of the year that its Thursday is in.
	thursday := date.Add(3 * 24 * time.Hour)
	week := (thursday.YearDay()-1)/7 + 1
	return thursday.Format("2006") + "-W" + string([]byte{'0' + byte(week/10), '0' + byte(week%10)})
}

// A walk by minutes finds the same hours: one begins when the wall clock shows a
// full one, or was changed by other than full hours.
func TestPeriodHoursFollowTheWallClock(t *testing.T) {
	t.Parallel()
	proptest.Check(t, 100, func(t *rapid.T) {
		c := drawCalendar(t, "hour")
		middle := anInstant(c.loc).Draw(t, "at").Truncate(time.Minute)
		p, ok := c.At(middle.Add(-12 * time.Hour))
		require.True(t, ok)
		_, last := p.Opens.In(c.loc).Zone()
		for now := p.Opens.Add(time.Minute); now.Before(middle.Add(12 * time.Hour)); now = now.Add(time.Minute) {
			_, offset := now.In(c.loc).Zone()
			shown := now.Add(time.Duration(offset) * time.Second)
			begins := shown.Minute() == 0 || (offset-last)%3600 != 0
			last = offset
			require.Equal(t, begins, now.Equal(p.Closes), "at %s, %s", now, now.In(c.loc))
			if begins {
				p = c.Next(p)
			}
		}
	})
}

func FuzzPeriodNamed(f *testing.F) {
	kinds := []string{"", "hour", "day", "week", "month", "year"}
	for _, name := range []string{
		"7", "01", "2026", "2026-11", "2026-11-20", "2026-W47", "2026-W53", "2025-W53", "2026-11-15w", "2011-12-30",
		"2026-11-20T06Z", "2026-11-20T06:30Z", "1971-11-20T06:44:30Z", "9999-12-31", "9223372036854775807", "0000-01-01T00Z",
	} {
		for kind := range kinds {
			f.Add(name, uint8(kind), uint8(slices.Index(zones, "Pacific/Apia")), uint8(time.Sunday), uint16(240))
		}
		f.Add(name, uint8(slices.Index(kinds, "week")), uint8(0), uint8(time.Monday), uint16(0))
	}
	f.Fuzz(func(t *testing.T, name string, kind, zone, weekStarts uint8, dayStarts uint16) {
		c := New(kinds[int(kind)%len(kinds)], 36*time.Hour, time.Unix(1_700_000_000, 0), inZone(t, zones[int(zone)%len(zones)]),
			time.Weekday(weekStarts%7), time.Duration(dayStarts%(24*60))*time.Minute)
		p, ok := c.Named(name)
		if !ok {
			require.Zero(t, p)
			return
		}
		require.Equal(t, name, p.Name)
		require.True(t, p.Opens.Before(p.Closes))
		for _, at := range []time.Time{p.Opens, p.Closes.Add(-1)} {
			same, ok := c.At(at)
			require.True(t, ok)
			require.Equal(t, p, same)
		}
	})
}
