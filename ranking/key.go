package ranking

import "math"

// MaxScore bounds a score: −MaxScore ≤ score ≤ MaxScore. It is 2^53−1, the
// largest integer up to which a float64, a Redis sorted-set score and a
// JavaScript number hold every integer exactly.
const MaxScore = 1<<53 - 1

// Key is what a sorted set orders a member by: the score (negated where higher
// is better) plus a fraction in [0, 1) that rises with the time at which the
// score was reached. The lower key ranks higher.
type Key float64

// Score gives back the score that a key was made of, exactly.
func (k Key) Score(o Order) int64 {
	return o.sign() * int64(math.Floor(float64(k)))
}

// Entry is a member's place on a board.
type Entry struct {
	Rank   int64 // 1-based, by the ties of the board
	Member string
	Score  int64  // within ±MaxScore
	Key    Key    // where it stands; see Cursor
	Data   string // JSON that came with an update; "" for none
}

// Before reports whether (k, member) stands before (other, otherMember): by key,
// then by the bytes of the member id, as Redis orders a sorted set.
func (k Key) Before(member string, other Key, otherMember string) bool {
	if k != other {
		return k < other
	}
	return member < otherMember
}
