package sortkey

import (
	"fmt"
	"math"
	"strconv"

	"rankcast/ranking/definition"
)

// Key is what a sorted set orders a member by: the score (negated where higher
// is better) plus a fraction in [0, 1) that rises with the time at which the
// score was reached. The lower key ranks higher.
type Key float64

// Score gives back the score that a key was made of, exactly.
func (k Key) Score(o definition.Order) int64 {
	return o.Sign() * int64(math.Floor(float64(k)))
}

// Before reports whether (k, member) stands before (other, otherMember): by key,
// then by the bytes of the member id, as Redis orders a sorted set.
func (k Key) Before(member string, other Key, otherMember string) bool {
	if k != other {
		return k < other
	}
	return member < otherMember
}

// Parse reads a key as Redis prints it.
func Parse(s string) (Key, error) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(f) || math.Abs(f) > definition.MaxScore+1 {
		return 0, fmt.Errorf("has the key %q, which is none", s)
	}
	return Key(f), nil
}

// Format prints a key so that Redis reads the same number.
func Format(k Key) string { return fmt.Sprintf("%.17g", float64(k)) }
