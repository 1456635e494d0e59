// Package scoretext writes scores and numbers as the pages do in English and in Chinese: see scoreFormat in
// web/kit/format.js. testdata/cases.json has what both write; a test in a browser compares the kit with it.
package scoretext

import (
	"fmt"
	"strconv"
	"strings"

	"rankcast/ranking/definition"
)

// minus stands before a negative time. Numbers have a hyphen, as browsers write them in English.
const minus = "\u2212"

// Score writes a score as its board's display says: 1234 is 1,234, or 12.34 with two decimals, or 0:01.234 as
// time_ms. A unit in the language of a tag follows after a space.
func Score(score int64, d definition.Display, tag string) string {
	text := ""
	if d.Format == "time_ms" {
		text = duration(score)
	} else {
		text = decimal(score, d.Decimals)
	}
	if unit := d.Unit.In(tag); unit != "" {
		text += " " + unit
	}
	return text
}

// Number writes a whole number with a comma before each three digits.
func Number(n int64) string { return decimal(n, 0) }

// decimal writes a number whose last digits are decimals, 0 to 6 of them.
func decimal(n int64, decimals int) string {
	digits := strings.TrimPrefix(strconv.FormatInt(n, 10), "-")
	if short := decimals + 1 - len(digits); short > 0 {
		digits = strings.Repeat("0", short) + digits
	}
	whole, fraction := digits[:len(digits)-decimals], digits[len(digits)-decimals:]
	var b strings.Builder
	if n < 0 {
		b.WriteByte('-')
	}
	for i, digit := range whole {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(digit)
	}
	if fraction != "" {
		b.WriteString("." + fraction)
	}
	return b.String()
}

// duration writes milliseconds: 83456 is 1:23.456.
func duration(ms int64) string {
	sign, left := "", ms
	if ms < 0 {
		sign, left = minus, -ms
	}
	hours, minutes := left/3_600_000, left/60_000%60
	seconds := fmt.Sprintf("%02d.%03d", left/1000%60, left%1000)
	if hours > 0 {
		return fmt.Sprintf("%s%d:%02d:%s", sign, hours, minutes, seconds)
	}
	return fmt.Sprintf("%s%d:%s", sign, minutes, seconds)
}
