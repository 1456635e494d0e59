package ranking

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strconv"
)

// Update is one thing that happened to one member's score.
type Update struct {
	Member string // 1 to 128 bytes of UTF-8 without control characters
	Score  int64  // within ±MaxScore
	Op     Mode   // what Score does; "" means the board's mode
	ID     string // request id: a retry with it counts once; "" for none, else as Member

	remove bool // take the member off the board; Score and Op say nothing
}

// Check reports what is wrong with u as a FieldError, or nil.
func (u Update) Check() error {
	if err := CheckMember(u.Member); err != nil {
		return err
	}
	if u.Score < -MaxScore || u.Score > MaxScore {
		return &FieldError{Field: "score", Reason: fmt.Sprintf("is %d; want an integer within ±%d", u.Score, int64(MaxScore)), Kind: ErrOutOfRange}
	}
	if op := u.Op; op != "" {
		if err := oneOf("op", &op, Sum, Best, Last); err != nil {
			return err
		}
	}
	if u.ID != "" {
		return checkText("id", u.ID)
	}
	return nil
}

// opRemove is the op under which apply.lua takes a member off; no caller can
// send it.
const opRemove = "remove"

// op is the word that apply.lua acts on.
func (u Update) op(d Definition) string {
	switch {
	case u.remove:
		return opRemove
	case u.Op != "":
		return string(u.Op)
	default:
		return string(d.Mode)
	}
}

// digest tells one update from another under the same request id: 64 bits of
// SHA-256, so that no two bodies meet by chance, in the 11 bytes that apply.lua
// cuts off the front of a stored result.
func (u Update) digest(op string) string {
	b := make([]byte, 0, 2*maxIDBytes)
	b = append(b, op...)
	b = append(b, ' ')
	b = strconv.AppendInt(b, u.Score, 10)
	b = append(b, ' ')
	b = append(b, u.Member...)
	sum := sha256.Sum256(b)
	return base64.RawURLEncoding.EncodeToString(sum[:8])
}

// Standing is a score and the rank it gives.
type Standing struct {
	Score int64
	Rank  int64 // 1-based
}

// Result is what an update did.
type Result struct {
	Period    string    // the period it counted in; "" on a board without periods
	Current   *Standing // nil when the member is not on the board any more
	Previous  *Standing // nil when the member was not on the board before
	Duplicate bool      // its id was seen before: this is the first time's result
}

// Outcome is one update's Result, or why it was refused: ErrOutOfRange,
// ErrIDMismatch, ErrInvalid or, where others of the call came through,
// ErrUnavailable.
type Outcome struct {
	Result Result
	Err    error
}
