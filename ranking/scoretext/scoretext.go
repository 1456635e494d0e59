// Package scoretext writes scores and numbers as the pages do in English and in Chinese: see scoreFormat in
// web/kit/format.js. testdata/cases.json has what both write; a test in a browser compares the kit with it.
package scoretext

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"rankcast/ranking/definition"
)

// Score writes a score as its board's display says: 1234 is 1,234, or 12.34 with two decimals, or 0:01.234 as
// time_ms. A unit in the language of a tag follows after a space.
func Score(score int64, d definition.Display, tag string) string {
	return withUnit(number(score, d), d, tag)
}

// Short is Score, but that a number of more than 13 characters is abbreviated to four digits, as rows show it:
// 12345678901 is 12.35B.
func Short(score int64, d definition.Display, tag string) string {
	text := number(score, d)
	if d.Format != "time_ms" && len(text) > fullLength {
		text = compact(score, d.Decimals, tag)
	}
	return withUnit(text, d, tag)
}

// Columns writes the columns of a score, each as Short; nil on a board without columns.
func Columns(columns definition.Columns, score int64, tag string) (texts []string) {
	values := columns.Unpack(score)
	for i, c := range columns {
		texts = append(texts, Short(values[i], c.Display, tag))
	}
	return texts
}

// Head is the head of a column: its title in the language of a tag, or else its name.
func Head(c definition.Column, tag string) string { return cmp.Or(c.Title.In(tag), c.Name) }

// fullLength is FULL_LENGTH of web/kit/row.js.
const fullLength = 13

func number(score int64, d definition.Display) string {
	if d.Format == "time_ms" {
		return duration(score)
	}
	return decimal(score, d.Decimals)
}

func withUnit(text string, d definition.Display, tag string) string {
	if unit := d.UnitIn(tag, text == "1"); unit != "" {
		return text + " " + unit
	}
	return text
}

// power is a power of ten with its abbreviation.
type power struct {
	exponent int
	name     string
}

// compactPowers are those of the compact decimal formats of CLDR, largest first, which browsers use.
var compactPowers = map[string][]power{
	"en": {{12, "T"}, {9, "B"}, {6, "M"}, {3, "K"}},
	"zh": {{12, "万亿"}, {8, "亿"}, {4, "万"}},
}

// compact writes a number of at least five digits, the last of them decimals, with four of them.
func compact(n int64, decimals int, tag string) string {
	sign, left := "", uint64(n)
	if n < 0 {
		sign, left = "-", uint64(-n)
	}
	scale := uint64(1)
	for left/scale >= 10_000 {
		scale *= 10
	}
	first := (left + scale/2) / scale // the digits before the decimal point of a number times scale
	digits := strings.TrimRight(strconv.FormatUint(first, 10), "0")
	exponent := len(strconv.FormatUint(first, 10)) + len(strconv.FormatUint(scale, 10)) - 2 - decimals
	language, _, _ := strings.Cut(tag, "-")
	for _, p := range compactPowers[language] {
		if exponent < p.exponent {
			continue
		}
		if whole := exponent - p.exponent + 1; whole < len(digits) {
			digits = digits[:whole] + "." + digits[whole:]
		} else {
			digits += strings.Repeat("0", whole-len(digits))
		}
		return sign + digits + p.name
	}
	return decimal(n, decimals)
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
		sign, left = "-", -ms
	}
	hours, minutes := left/3_600_000, left/60_000%60
	seconds := fmt.Sprintf("%02d.%03d", left/1000%60, left%1000)
	if hours > 0 {
		return fmt.Sprintf("%s%d:%02d:%s", sign, hours, minutes, seconds)
	}
	return fmt.Sprintf("%s%d:%s", sign, minutes, seconds)
}
