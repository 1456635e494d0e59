package definition

import (
	"regexp"
	"strconv"
	"time"
)

const day = 24 * time.Hour

// Bounds of the durations in a definition. Some fields have a narrower range.
const (
	minDuration = time.Second
	maxDuration = 36600 * day // a hundred years
)

const wantDuration = "want a whole number of s, m, h or d, such as 90m or 7d, from 1s to 36600d"

var durationText = regexp.MustCompile(`^([1-9][0-9]{0,9})([smhd])$`)

// The units, the largest first.
var durationUnits = []struct {
	letter string
	length time.Duration
}{{"d", day}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}}

// ParseDuration reads a duration in the form of definitions, such as 90s, 36h or 7d. It returns false
// for any other form, and for more than 36600d.
func ParseDuration(s string) (time.Duration, bool) {
	parts := durationText.FindStringSubmatch(s)
	if parts == nil {
		return 0, false
	}
	n, _ := strconv.ParseInt(parts[1], 10, 64) // ten digits fit
	for _, unit := range durationUnits {
		if unit.letter == parts[2] {
			return time.Duration(n) * unit.length, n <= int64(maxDuration/unit.length)
		}
	}
	return 0, false
}

// FormatDuration writes a duration of whole seconds in the largest unit that divides it: 36h, 7d.
func FormatDuration(d time.Duration) string {
	for _, unit := range durationUnits {
		if d%unit.length == 0 {
			return strconv.FormatInt(int64(d/unit.length), 10) + unit.letter
		}
	}
	return d.String()
}

// durationFault says what is wrong with a duration, or returns "". Zero means that no
// duration was given.
func durationFault(d time.Duration) string {
	if d != 0 && (d < minDuration || d > maxDuration || d%time.Second != 0) {
		return "is " + d.String() + "; " + wantDuration
	}
	return ""
}

// durationRange is the range of a field that takes fewer durations than others.
type durationRange struct {
	least, most time.Duration
	want        string // the reason of each error
}

// fault is durationFault for the range.
func (r durationRange) fault(d time.Duration) string {
	if d != 0 && (d < r.least || d > r.most || d%time.Second != 0) {
		return r.want
	}
	return ""
}

// read reads a duration, whose range fault checks.
func (r durationRange) read(v Value, d *time.Duration) error {
	err := readDuration(v, d)
	if err != nil && v.Kind != 'n' {
		err = v.Refuse("%s", r.want)
	}
	return err
}

// The range of times in a definition, which is from minTime until before maxTime. Redis's
// scripts count microseconds in doubles, which are exact until 2255.
var (
	minTime = time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC)
	maxTime = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)
)

const wantTime = "want a time by RFC 3339 with at most milliseconds, such as 2026-01-01T00:00:00Z, in the years 1970 to 2199"

// ParseTime reads a time by RFC 3339 with at most milliseconds, in the years 1970 to 2199, and returns it
// in UTC. It returns false for any other text.
func ParseTime(s string) (time.Time, bool) {
	var t time.Time
	if !timeText.MatchString(s) || t.UnmarshalText([]byte(s)) != nil || timeFault(t) != "" {
		return time.Time{}, false
	}
	return t.UTC(), true
}

// timeFault says what is wrong with a time that was given, or returns "".
func timeFault(t time.Time) string {
	if t.Before(minTime) || !t.Before(maxTime) || t.Nanosecond()%int(time.Millisecond) != 0 {
		return "is " + t.String() + "; " + wantTime
	}
	return ""
}

const wantClock = "want 00:00 to 23:59, such as 04:00"

var clockText = regexp.MustCompile(`^([01][0-9]|2[0-3]):([0-5][0-9])$`)

// parseClock reads a time of day, such as 04:00, and returns the time since midnight.
func parseClock(s string) (time.Duration, bool) {
	parts := clockText.FindStringSubmatch(s)
	if parts == nil {
		return 0, false
	}
	h, _ := strconv.Atoi(parts[1])
	m, _ := strconv.Atoi(parts[2])
	return time.Duration(h)*time.Hour + time.Duration(m)*time.Minute, true
}

// TimeForm is the form of times on the wire: RFC 3339 with milliseconds, in UTC.
const TimeForm = "2006-01-02T15:04:05.000Z"

// FormatTime writes a time in TimeForm. It returns nil, which is JSON's null, for the zero time.
func FormatTime(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	text := t.UTC().Format(TimeForm)
	return &text
}
