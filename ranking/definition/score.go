package definition

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

const wantInteger = "want an integer in plain digits, without a fraction or an exponent"

// wantWhole is what an error says about a score with a fraction, such as a lap time of 61.5
// seconds.
const wantWhole = "want an integer: send seconds as milliseconds with display.format time_ms, and other fractions in a " +
	"smaller unit with display.decimals"

var fractionText = regexp.MustCompile(`^-?[0-9]+\.[0-9]+$`)

// insteadOf says what to write instead of digits that are no integer. Many programs write 40 as 40.0.
func insteadOf(digits string) string {
	whole, fraction, _ := strings.Cut(digits, ".")
	switch {
	case !fractionText.MatchString(digits):
		return wantInteger
	case strings.Trim(fraction, "0") == "":
		return "want an integer: write " + Clip(whole)
	}
	return wantWhole
}

// ParseScore parses the digits of a score. It returns a FieldError for field. The kind is
// ErrOutOfRange for an integer beyond ±MaxScore, and ErrInvalid otherwise.
func ParseScore(field, digits string) (int64, error) {
	n, err := strconv.ParseInt(digits, 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange) || n < -MaxScore || n > MaxScore:
		return 0, &FieldError{Field: field, Reason: fmt.Sprintf("is %s; want an integer within ±%d", Clip(digits), int64(MaxScore)),
			Kind: ErrOutOfRange}
	case err == nil:
		return n, nil
	}
	is := Clip(digits)
	if _, err := strconv.ParseFloat(digits, 64); errors.Is(err, strconv.ErrSyntax) {
		is = strconv.Quote(is)
	}
	return 0, Invalid(field, fmt.Sprintf("is %s; %s", is, insteadOf(digits)))
}

// readBound reads a score from a definition.
func readBound(v Value, n *int64) error {
	if v.Kind == '0' && fractionText.MatchString(v.Text) {
		return v.Refuse("is %s; %s", Clip(v.Text), insteadOf(v.Text))
	}
	return readInteger(v, n, -MaxScore)
}
