package definition

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// liveText is how definitions write Live.
const liveText = "live"

const (
	maxWindow         = 366 * day
	wantWindow        = "is not a whole number of s, m, h or d, such as 90m or 3h, from 1s to 366d"
	wantWindowRefresh = "is neither live nor a whole number of s, m, h or d, such as 30s or 1m, from 1s to 1d"
)

// checkWindow brings a window into one form, and refuses what a board that has one has
// no use for.
func (d *Board) checkWindow(FamilyName) error {
	if d.Window == 0 {
		if d.Refresh != 0 {
			return Invalid("refresh", "applies only to a board with a window; leave it away")
		}
		return nil
	}
	if d.Window > maxWindow || durationFault(d.Window) != "" {
		return Invalid("window", wantWindow)
	}
	if field := firstGiven(d.timed()); field != "" {
		return Invalid(field, "does not apply to a board with a window, which always is of the time up to now; leave it away")
	}
	d.Refresh = cmp.Or(d.Refresh, defaultRefresh)
	switch {
	case d.IsLive():
		if d.Mode != Sum {
			return Invalid("refresh", fmt.Sprintf("is live; with mode %s want a duration such as 1m, for who is left the best or the last when one has gone is only seen by building anew", d.Mode))
		}
	case refreshFault(d.Refresh) != "":
		return Invalid("refresh", wantWindowRefresh)
	case d.MaxChange != 0 && d.Mode != Sum:
		return Invalid("max_change", fmt.Sprintf("does not apply to a window with mode %s, whose scores are not known when an update comes; leave it away", d.Mode))
	}
	return nil
}

// MaxAhead is how far ahead of Redis's clock an Update may say that it was, as clocks
// differ: it counts from now on then.
const MaxAhead = 5 * time.Second

// ParseAt reads the At of an Update: RFC 3339, of which what is finer than a millisecond
// is left away, or milliseconds since 1970. It returns a FieldError.
func ParseAt(v jsontext.Value) (time.Time, error) {
	var at time.Time
	var text string
	switch {
	case v.Kind() == '0' && integerText.Match(v):
		ms, err := strconv.ParseInt(string(v), 10, 64)
		if err != nil || ms < 0 || ms >= maxTime.UnixMilli() {
			return at, Invalid("at", fmt.Sprintf("is %s; %s", Clip(string(v)), wantAt))
		}
		return time.UnixMilli(ms).UTC(), nil
	case v.Kind() == '"' && json.Unmarshal(v, &text) == nil && timeText.MatchString(text) && at.UnmarshalText([]byte(text)) == nil:
		at = at.UTC().Truncate(time.Millisecond)
	}
	if at.IsZero() || timeFault(at) != "" {
		return time.Time{}, Invalid("at", fmt.Sprintf("is %s; %s", Clip(string(v)), wantAt))
	}
	return at, nil
}

// timeText is RFC 3339, of which Go's time package takes more than there is.
var timeText = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$`)

const wantAt = "want a time such as 2026-11-20T10:00:00Z, or milliseconds since 1970"

// IsWindowed reports whether a board has a window.
func (d Board) IsWindowed() bool { return d.Window > 0 }
