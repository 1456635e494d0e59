package pages

import (
	"regexp"
	"strings"
	"time"

	"rankcast/ranking/definition"
	"rankcast/ranking/scoretext"
)

// phrases writes texts of one language as the scripts of the pages do, so that a script that takes a page over
// changes no text.
type phrases struct {
	locale
	texts map[string]string
}

// text returns the text of a key, with the values of its placeholders. values are pairs of a name and a text.
func (p phrases) text(key string, values ...string) string {
	for i := 0; i < len(values); i += 2 {
		values[i] = "{" + values[i] + "}"
	}
	return strings.NewReplacer(values...).Replace(p.texts[key])
}

// counted returns the text of a key in the form for a number; see countedText in web/assets/shared/texts.js.
func (p phrases) counted(key string, n int64) string {
	form := "_other"
	if n == 1 && p.name == "en" { // Chinese has one form
		form = "_one"
	}
	return p.text(key+form, "n", scoretext.Number(n))
}

// timeLeft returns how much time is left, or "" for none; see timeLeft in web/kit/format.js.
func (p phrases) timeLeft(left time.Duration) string {
	if left <= 0 {
		return ""
	}
	// A second that has begun counts, so that the last text is 0:01.
	seconds := int64((left + time.Second - 1) / time.Second)
	switch {
	case seconds < 3600:
		return time.Unix(seconds, 0).UTC().Format("4:05")
	case seconds < 86_400:
		seconds -= seconds % 60
	default:
		seconds -= seconds % 3600
	}
	var parts []string
	for _, unit := range []struct {
		key string
		n   int64
	}{{"kit_days", seconds / 86_400}, {"kit_hours", seconds / 3600 % 24}, {"kit_minutes", seconds / 60 % 60}} {
		if unit.n > 0 {
			parts = append(parts, p.text(unit.key, "n", scoretext.Number(unit.n)))
		}
	}
	return strings.Join(parts, " ")
}

// durationText matches a duration of a definition.
var durationText = regexp.MustCompile(`^(\d+)([smhd])$`)

var durationKeys = map[string]string{"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}

func (p phrases) duration(text string) string {
	m := durationText.FindStringSubmatch(text)
	if m == nil {
		return text
	}
	var n int64
	for _, digit := range m[1] {
		n = 10*n + int64(digit-'0')
	}
	return p.counted(durationKeys[m[2]], n)
}

// rules describes a definition in one sentence; see summarize in
// web/assets/dashboard/definition-summary.js. It leaves out the start of an activity, because only the browser
// knows the time zone of the reader.
func (p phrases) rules(d definition.Board) string {
	mode := "rule_" + string(d.Mode)
	if d.Union != nil {
		mode = "rule_union"
	}
	rules := []string{p.text(mode), p.text("rule_" + string(d.Order)), p.text("rule_ties_" + string(d.Ties))}
	if d.Period != "" {
		zone := ""
		if d.Timezone != "" && d.Timezone != "UTC" {
			zone = p.text("rule_zone", "timezone", d.Timezone)
		}
		by, natural := p.texts["rule_by_"+d.Period]
		if !natural {
			by = p.text("rule_every", "period", p.duration(d.Period))
		}
		rules = append(rules, by+zone)
	}
	if d.Window > 0 {
		rules = append(rules, p.text("rule_window", "length", p.duration(definition.FormatDuration(d.Window))))
	}
	if refresh := d.RefreshInterval(); refresh > 0 {
		rules = append(rules, p.text("rule_refresh", "length", p.duration(definition.FormatDuration(refresh))))
	}
	return strings.Join(rules, p.text("list_comma"))
}
