// Package sortkey holds the sort key, the float64 by which a sorted set in Redis orders the
// members of a board.
//
// A sorted set always sorts upwards, and its numbers are float64. A key is therefore s + f. s
// is the score on a board where the lower score ranks higher, and its negative on a board
// where the higher score does. f is the tie fraction, 0 ≤ f < 1: it rises with the time at
// which the score was reached, so that of equal scores the earlier one stands first. With ties
// by member f is 0. The floor of a key is always s, so a score is exact up to ±(2^53−1).
//
// The script apply.lua makes keys, with lib/sort_key.lua. In Go the store, the feed and the
// hub read and compare them. The package is pure: it knows the order of a board, and neither
// Redis, nor the network, nor periods.
package sortkey

import (
	"cmp"
	"fmt"
	"math"
	"strconv"

	"rankcast/ranking/definition"
)

// Key is the number by which a sorted set orders a member. It is the score, negated where the
// higher score ranks higher, plus a fraction in [0, 1). The fraction rises with the time at
// which the score was reached. The member with the lower key ranks higher.
type Key float64

// Score returns the exact score that the key was made from, for a board of the order o.
func (k Key) Score(o definition.Order) int64 {
	return o.Sign() * int64(math.Floor(float64(k)))
}

// Compare is -1 where (k, member) stands before (other, otherMember), 1 where it stands after it, and 0 where they
// are the same: by key, then by the bytes of the member id. That is the order of a sorted set in Redis.
func (k Key) Compare(member string, other Key, otherMember string) int {
	return cmp.Or(cmp.Compare(k, other), cmp.Compare(member, otherMember))
}

// Before reports whether (k, member) stands before (other, otherMember), see Compare.
func (k Key) Before(member string, other Key, otherMember string) bool {
	if k != other {
		return k < other
	}
	return member < otherMember
}

// Parse reads a key in the form in which Redis prints it. It refuses a number that no score can
// make.
func Parse(s string) (Key, error) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(f) || math.Abs(f) > definition.MaxScore+1 {
		return 0, fmt.Errorf("has the key %q, which is not a sort key", s)
	}
	return Key(f), nil
}

// Format prints a key so that Redis reads exactly the same number.
func Format(k Key) string { return fmt.Sprintf("%.17g", float64(k)) }
