package ranking

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Update is one thing that happened to one member's score.
type Update struct {
	Member string // 1 to 128 bytes of UTF-8 without control characters
	Score  int64  // within ±MaxScore
	Op     Mode   // what Score does; "" means the board's mode, the only one on a board with a window
	ID     string // request id: a retry with it counts once; "" for none, else as Member

	// If says for which members the update is; "" for all. For another it changes
	// nothing, and its Result is the standing as it is.
	If Condition

	// Data is JSON to be with the entry, compact, up to 256 bytes: "" leaves what
	// is there, "null" takes it away. It is set only where the update takes effect:
	// with best, where the score is kept.
	Data string

	// At is when it happened, to the millisecond, where that was a while ago: on a board
	// with a window it counts from then. Zero for now. Within the window, and no more than
	// MaxAhead ahead, when Redis has it; a board without a window has no use for one.
	At time.Time

	by hand // does something that no Op does
}

// Condition says whether a member must be on the board already.
type Condition string

// The conditions.
const (
	Exists Condition = "exists" // it is on the board
	Absent Condition = "absent" // it is not
)

// maxDataBytes bounds the data of an entry, as compact JSON.
const maxDataBytes = 256

// CompactData makes the Data of an Update from any JSON value, or returns a
// FieldError.
func CompactData(v jsontext.Value) (string, error) {
	v = v.Clone()
	if err := v.Format(); err != nil {
		return "", Invalid("data", fmt.Sprintf("is not valid JSON: %v", err))
	}
	if len(v) > maxDataBytes {
		return "", Invalid("data", fmt.Sprintf("has %d bytes without white space; want %d at most", len(v), maxDataBytes))
	}
	return string(v), nil
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
	if cond := u.If; cond != "" {
		if err := oneOf("if", &cond, Exists, Absent); err != nil {
			return err
		}
	}
	if u.Data != "" {
		compact, err := CompactData(jsontext.Value(u.Data))
		if err != nil {
			return err
		}
		if compact != u.Data {
			return Invalid("data", "is not in the form that CompactData gives it")
		}
	}
	if !u.At.IsZero() {
		if reason := timeFault(u.At); reason != "" {
			return Invalid("at", reason)
		}
	}
	if u.ID != "" {
		return checkText("id", u.ID)
	}
	return nil
}

// hand is a word that apply.lua acts on in place of an Op; no caller can send it.
type hand string

const (
	removes hand = "remove" // takes the member off the board; Score and Op say nothing
	sets    hand = "set"    // sets the score, whatever the most that one update may change
	undoes  hand = "undo"   // takes back the update that this one was, by its id
)

// op is the word that apply.lua acts on.
func (u Update) op(d Definition) string {
	switch {
	case u.by != "":
		return string(u.by)
	case u.Op != "":
		return string(u.Op)
	default:
		return string(d.Mode)
	}
}

// condition is what apply.lua is told of it; of what is undone whether it added.
func (u Update) condition(d Definition) string {
	if u.by == undoes {
		return string(cmp.Or(u.Op, d.Mode))
	}
	return string(u.If)
}

// digest tells one update from another under the same request id: 64 bits of
// SHA-256, so that no two bodies meet by chance, in the 11 bytes that apply.lua
// cuts off the front of a stored result. It is of what was sent: the board's mode may
// change between an update and its retry.
func (u Update) digest() string {
	b := make([]byte, 0, 2*maxIDBytes+maxDataBytes)
	if u.by != undoes { // which has the digest of what it undoes
		b = append(b, u.by...)
	}
	b = append(b, u.Op...)
	b = append(b, ' ')
	b = strconv.AppendInt(b, u.Score, 10)
	b = append(b, ' ')
	b = append(b, u.Member...)
	if u.If != "" || u.Data != "" {
		b = append(append(append(append(b, fieldSep...), u.If...), fieldSep...), u.Data...)
	}
	if !u.At.IsZero() {
		b = append(b, changeSep...)
		b = strconv.AppendInt(b, u.At.UnixMilli(), 10)
	}
	return digest(b)
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return base64.RawURLEncoding.EncodeToString(sum[:8])
}

// Standing is a score and the rank it gives.
type Standing struct {
	Score int64
	Rank  int64 // 1-based; 0 for a member that is hidden
}

// Result is what an update did.
type Result struct {
	Period    string    // the period it counted in; "" on a board without periods
	Current   *Standing // nil when the member is not on the board now: it was removed, or has no place within the limit
	Previous  *Standing // nil when the member was not on the board before
	Duplicate bool      // its id was seen before: this is the first time's result
	TakenBack bool      // it was, since, or before it ever counted: this is where that leaves the member
}

// Outcome is one update's Result, or why it was refused: ErrOutOfRange,
// ErrIDMismatch, ErrInvalid or, where others of the call came through,
// ErrUnavailable.
type Outcome struct {
	Result Result
	Err    error
}
