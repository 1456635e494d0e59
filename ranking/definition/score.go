package definition

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
)

// wantWhole is what an error says about a score with a fraction, such as a lap time of 61.5
// seconds.
const wantWhole = "want an integer: send seconds as milliseconds with display.format time_ms, and other fractions in a " +
	"smaller unit with display.decimals"

var (
	wholeText    = regexp.MustCompile(`^(-?[0-9]+)\.0+$`) // as programs write floats
	fractionText = regexp.MustCompile(`^-?[0-9]+\.[0-9]+$`)
	exponentText = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?[eE][+-]?[0-9]+$`)
)

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
	case fractionText.MatchString(digits):
		return 0, Invalid(field, fractionFault(digits))
	case exponentText.MatchString(digits):
		return 0, Invalid(field, fmt.Sprintf("is %s; want an integer, without fraction or exponent", Clip(digits)))
	}
	return 0, Invalid(field, fmt.Sprintf("is %q; want an integer", Clip(digits)))
}

// fractionFault says what is wrong with a number that fractionText matches, and what to write instead.
func fractionFault(digits string) string {
	if whole := wholeText.FindStringSubmatch(digits); whole != nil {
		return fmt.Sprintf("is %s; want an integer: write %s", Clip(digits), Clip(whole[1]))
	}
	return fmt.Sprintf("is %s; %s", Clip(digits), wantWhole)
}

// readBound reads a score from a definition.
func readBound(v Value, n *int64) error {
	if v.Kind == '0' && fractionText.MatchString(v.Text) {
		return v.Refuse("%s", fractionFault(v.Text))
	}
	return readInteger(v, n, -MaxScore)
}
