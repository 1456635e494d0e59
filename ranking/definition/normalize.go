package definition

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

const (
	defaultKeep, maxKeep           = 8, 1000
	defaultInstances, maxInstances = 100_000, 10_000_000
	maxLimit                       = 10_000_000
	maxPeriod                      = 3660 * day
	maxUnitChars, maxDecimals      = 16, 6
	maxTitleChars                  = 80
	maxDescriptionChars            = 400
	displayTime                    = "time_ms"
)

var (
	naturalPeriods = []string{"hour", "day", "week", "month", "year"}
	weekdays       = []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}
)

// Normalize returns d with its defaults filled in, and with its durations and times in their
// canonical form. Otherwise it returns a FieldError for the first field that is wrong.
func (d Board) Normalize() (Board, error) {
	t, err := ParseFamilyName(d.Name)
	if err != nil {
		return d, err
	}
	for _, check := range []func(*Board, FamilyName) error{
		(*Board).checkRules, (*Board).checkColumns, (*Board).checkDurations, (*Board).checkTimes, (*Board).checkUnion, (*Board).checkWindow,
		(*Board).checkHistory, (*Board).checkShards, (*Board).checkApplies, (*Board).checkCalendar, (*Board).checkFreeze, (*Board).checkBounds,
		(*Board).checkNames, (*Board).checkPages,
	} {
		if err := check(&d, t); err != nil {
			return d, err
		}
	}
	return d, nil
}

func (d *Board) checkRules(FamilyName) error {
	return cmp.Or(oneOf("mode", &d.Mode, Sum, Best, Last), oneOf("order", &d.Order, Desc, Asc),
		oneOf("ties", &d.Ties, First, Shared, Dense, ByMember))
}

func (d *Board) checkDurations(FamilyName) error {
	if d.Period != "" && !d.natural() {
		length, ok := ParseDuration(d.Period)
		if !ok || length > maxPeriod {
			return Invalid("period",
				fmt.Sprintf("is %q; want hour, day, week, month, year, or a duration such as 36h or 7d, from 1s to 3660d", Clip(d.Period)))
		}
		d.Period = FormatDuration(length)
	}
	return cmp.Or(fault("retain", durationFault(d.Retain)), fault("ids", idsRange.fault(d.IDs)), fault("tie_span", durationFault(d.TieSpan)),
		fault("member_ttl", durationFault(d.MemberTTL)))
}

// fault returns the FieldError of a field for a reason, or nil for "".
func fault(field, reason string) error {
	if reason == "" {
		return nil
	}
	return Invalid(field, reason)
}

// presence says whether a definition gives a field.
type presence struct {
	field string
	is    bool
}

// firstGiven returns the first field that is given, or "".
func firstGiven(fields []presence) string {
	for _, f := range fields {
		if f.is {
			return f.field
		}
	}
	return ""
}

// timed returns the fields, apart from the window, that decide which scores stay on a board
// and when they leave.
func (d *Board) timed() []presence {
	return []presence{
		{"period", d.Period != ""}, {"base", !d.Base.IsZero()}, {"timezone", d.Timezone != ""}, {"week_starts", d.WeekStarts != ""},
		{"day_starts_at", d.DayStartsAt != ""}, {"keep", d.Keep != nil}, {"starts", !d.Starts.IsZero()}, {"ends", !d.Ends.IsZero()},
		{"limit", d.Limit != 0}, {"member_ttl", d.MemberTTL != 0},
	}
}

func (d *Board) checkTimes(FamilyName) error {
	for _, f := range []struct {
		name string
		time *time.Time
	}{{"base", &d.Base}, {"starts", &d.Starts}, {"ends", &d.Ends}} {
		if f.time.IsZero() {
			*f.time = time.Time{}
			continue
		}
		*f.time = f.time.Round(0).UTC()
		if reason := timeFault(*f.time); reason != "" {
			return Invalid(f.name, reason)
		}
	}
	if !d.Starts.IsZero() && !d.Ends.IsZero() && !d.Starts.Before(d.Ends) {
		return Invalid("ends", "is not after starts; an activity lasts from starts until before ends")
	}
	if !d.Base.IsZero() && !d.Ends.IsZero() && !d.Base.Before(d.Ends) {
		return Invalid("ends", "is not after base; the first period starts at base, so no update could count")
	}
	return nil
}

// checkApplies refuses fields that have no meaning on this kind of board, and a period by
// duration without its base.
func (d *Board) checkApplies(t FamilyName) error {
	family, natural, bounded := len(t.Placeholders) > 0, d.natural(), !d.Starts.IsZero() && !d.Ends.IsZero()
	if d.Period != "" && !natural && d.Base.IsZero() {
		return Invalid("base", fmt.Sprintf("is missing; periods of %s are counted from it: want a time such as 2026-01-01T00:00:00Z", d.Period))
	}
	for _, f := range []struct {
		name           string
		given, applies bool
		to             string
	}{
		{"base", !d.Base.IsZero(), d.Period != "" && !natural, "a board whose period is a duration, such as 36h"},
		{"timezone", d.Timezone != "", natural, "a board with period hour, day, week, month or year"},
		{"week_starts", d.WeekStarts != "", d.Period == "week", "a board with period week"},
		{"day_starts_at", d.DayStartsAt != "", natural && d.Period != "hour", "a board with period day, week, month or year"},
		{"keep", d.Keep != nil, d.Period != "", "a board with a period"},
		{"retain", d.Retain != 0, d.Period == "" || family || !d.Ends.IsZero(),
			"a board without a period, a family, or an activity that ends; for old periods use keep"},
		{"tie_span", d.TieSpan != 0, d.Period == "" && (!bounded || d.Shards > 0),
			"a board without a period that does not have both starts and ends; other boards have a span already"},
		{"tie_span", d.TieSpan != 0, d.Shards == 0 || !d.Starts.IsZero(),
			"a board with shards that has starts, from which the span counts for all shards alike"},
		{"tie_span", d.TieSpan != 0, d.Ties != ByMember, "a board whose ties are first, shared or dense"},
		{"limit", d.Limit != 0, d.Mode != Sum, "a board with mode best or last: with sum, a member that leaves would lose its total"},
		{"max_instances", d.MaxInstances != 0, family, "a family, such as fans:{star}"},
	} {
		if f.given && !f.applies {
			return Invalid(f.name, "applies only to "+f.to+"; omit it")
		}
	}
	return nil
}

func (d *Board) checkCalendar(FamilyName) error {
	if d.Period == "" {
		return nil
	}
	if d.Keep == nil {
		d.Keep = new(defaultKeep)
	}
	if *d.Keep < 0 || *d.Keep > maxKeep {
		return Invalid("keep", fmt.Sprintf("is %d; want 0 to %d closed periods", *d.Keep, maxKeep))
	}
	if !d.natural() {
		return nil
	}
	if d.Timezone == "" {
		d.Timezone = "UTC"
	}
	if _, err := loadZone(d.Timezone); err != nil {
		return err
	}
	if d.Period == "week" {
		if err := oneOf("week_starts", &d.WeekStarts, weekdays...); err != nil {
			return err
		}
	}
	if d.Period != "hour" {
		if d.DayStartsAt == "" {
			d.DayStartsAt = "00:00"
		}
		if _, ok := parseClock(d.DayStartsAt); !ok {
			return Invalid("day_starts_at", fmt.Sprintf("is %q; %s", Clip(d.DayStartsAt), wantClock))
		}
	}
	return nil
}

func (d *Board) checkBounds(t FamilyName) error {
	if err := CheckBounds("min", d.Min, "max", d.Max); err != nil {
		return err
	}
	if d.MaxInstances == 0 && len(t.Placeholders) > 0 {
		d.MaxInstances = defaultInstances
	}
	return cmp.Or(checkOptional("max_change", d.MaxChange, MaxScore), checkOptional("limit", d.Limit, maxLimit),
		checkOptional("max_instances", int64(d.MaxInstances), maxInstances))
}

// checkOptional returns a FieldError for a number outside 1 to most, except 0: the definition does not give the number.
func checkOptional(field string, n, most int64) error {
	if n < 0 || n > most {
		return Invalid(field, fmt.Sprintf("is %d; want 1 to %d", n, most))
	}
	return nil
}

// CheckBounds is CheckBound for a least and a greatest score, and refuses those between which there is none.
func CheckBounds(leastField string, least *int64, mostField string, most *int64) error {
	if err := cmp.Or(CheckBound(leastField, least), CheckBound(mostField, most)); err != nil {
		return err
	}
	if least != nil && most != nil && *least > *most {
		return Invalid(mostField, fmt.Sprintf("is %d, less than %s, which is %d", *most, leastField, *least))
	}
	return nil
}

// CheckBound returns a FieldError for a bound that no score can reach. nil stands for no bound.
func CheckBound(field string, bound *int64) error {
	if bound != nil && (*bound < -MaxScore || *bound > MaxScore) {
		return Invalid(field, fmt.Sprintf("is %d; want an integer within ±%d", *bound, int64(MaxScore)))
	}
	return nil
}

// checkNames checks what presents the board to people.
func (d *Board) checkNames(t FamilyName) error {
	for _, f := range []struct {
		name  string
		label *Label
		chars int
	}{{"title", &d.Title, maxTitleChars}, {"description", &d.Description, maxDescriptionChars}} {
		err := f.label.normalize(f.name, func(text string) string {
			if reason := lengthFault(text, f.chars); reason != "" || len(t.Placeholders) == 0 {
				return reason
			}
			return t.templateFault(text)
		})
		if err != nil {
			return err
		}
	}
	if d.Icon == "" {
		return nil
	}
	return fault("icon", ImageFault(d.Icon, "want an https URL, or a path that starts with one slash", "https"))
}

// templateFault returns the fault of a text in which placeholders of the family stand for parts of a name, or "".
func (t FamilyName) templateFault(text string) string {
	p, err := parsePlaceholders(text)
	if err != nil {
		return err.Error()
	}
	for field := range p.fields() {
		if !slices.Contains(t.Placeholders, field) {
			return fmt.Sprintf("has {%s}, which the name of the family has not; want {%s}", field, strings.Join(t.Placeholders, "}, {"))
		}
	}
	return ""
}

func (d *Board) checkPages(FamilyName) error {
	if d.Kind == "" {
		d.Kind = "member"
	}
	if err := CheckKind(d.Kind); err != nil {
		return err
	}
	return d.Display.normalize("display")
}

func (d *Display) normalize(path string) error {
	if err := d.Unit.normalize(path+".unit", unitFault); err != nil {
		return err
	}
	if n := d.Decimals; n < 0 || n > maxDecimals {
		return Invalid(path+".decimals", fmt.Sprintf("is %d; want 0 to %d", n, maxDecimals))
	}
	if f := d.Format; f != "" && f != displayTime {
		return Invalid(path+".format", fmt.Sprintf("is %q; want %s", Clip(f), displayTime))
	}
	return nil
}

// unitFault returns the fault of the text of a unit, or "".
func unitFault(text string) string {
	texts := strings.Split(text, pluralSep)
	if len(texts) > 2 {
		return fmt.Sprintf("has %d texts; want one, or two for one and for others, such as vote|votes", len(texts))
	}
	for _, t := range texts {
		if reason := lengthFault(t, maxUnitChars); reason != "" {
			return reason
		}
	}
	return ""
}

// isGiven reports whether a definition gives any field of d.
func (d *Display) isGiven() bool { return d.Unit != nil || d.Decimals != 0 || d.Format != "" }

// optional refuses a value that is not allowed. It allows an empty one.
func optional[S ~string](field string, value S, allowed ...S) error {
	if value == "" {
		return nil
	}
	return oneOf(field, &value, allowed...)
}

// oneOf sets an empty value to the first allowed one, and refuses a value that is not allowed.
func oneOf[S ~string](field string, value *S, allowed ...S) error {
	if *value == "" {
		*value = allowed[0]
	}
	if slices.Contains(allowed, *value) {
		return nil
	}
	words := make([]string, len(allowed))
	for i, a := range allowed {
		words[i] = string(a)
	}
	return Invalid(field, fmt.Sprintf("is %q; want one of %s", Clip(string(*value)), strings.Join(words, ", ")))
}
