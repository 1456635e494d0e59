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

// liveText is the form of Live in definitions.
const liveText = "live"

var (
	windowRange        = durationRange{minDuration, 366 * day, "is not a whole number of s, m, h or d, such as 90m or 3h, from 1s to 366d"}
	windowRefreshRange = durationRange{minDuration, MaxRefresh,
		"is neither live nor a whole number of s, m, h or d, such as 30s or 1m, from 1s to 1d"}
)

// readWindowRefresh reads the refresh of a window: live, or a duration.
func readWindowRefresh(v Value, d *time.Duration) error {
	if v.Kind == '"' && v.Text == liveText {
		*d = Live
		return nil
	}
	return windowRefreshRange.read(v, d)
}

// checkWindow normalizes a window, and refuses the fields that have no meaning on a board with
// a window.
func (d *Board) checkWindow(FamilyName) error {
	if d.Window == 0 {
		if d.Refresh != 0 {
			return Invalid("refresh", "applies only to a board with a window; omit it")
		}
		return nil
	}
	if reason := windowRange.fault(d.Window); reason != "" {
		return Invalid("window", reason)
	}
	if field := firstGiven(d.timed()); field != "" {
		return Invalid(field, "does not apply to a board with a window, which always ends at the present moment; omit it")
	}
	d.Refresh = cmp.Or(d.Refresh, defaultRefresh)
	switch reason := windowRefreshRange.fault(d.Refresh); {
	case d.IsLive():
		if d.Mode != Sum {
			return Invalid("refresh",
				fmt.Sprintf("is live; with mode %s want a duration such as 1m, because only a build finds a member's score after one "+
					"of its updates has left the window", d.Mode))
		}
	case reason != "":
		return Invalid("refresh", reason)
	case d.MaxChange != 0 && d.Mode != Sum:
		return Invalid("max_change",
			fmt.Sprintf("does not apply to a window with mode %s, whose scores are not known when an update arrives; omit it", d.Mode))
	}
	return nil
}

// MaxAhead is the greatest time by which the At of an Update may be ahead of Redis's clock,
// because clocks differ. Such an update counts from now on.
const MaxAhead = 5 * time.Second

// ParseAt reads the At of an Update from JSON. It takes a string by RFC 3339, whose fraction is
// cut off after the millisecond, or an integer of milliseconds since 1970. The error is a
// FieldError.
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

// timeText is the form of RFC 3339. Go's time package accepts more than that.
var timeText = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$`)

const wantAt = "want a time such as 2026-11-20T10:00:00Z, or milliseconds since 1970, in the years 1970 to 2199"

// IsWindowed reports whether the board has a window.
func (d Board) IsWindowed() bool { return d.Window > 0 }
