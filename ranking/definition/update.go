package definition

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
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
}

// Condition says whether a member must be on the board already.
type Condition string

// The conditions.
const (
	Exists Condition = "exists" // it is on the board
	Absent Condition = "absent" // it is not
)

// MaxDataBytes bounds the data of an entry, as compact JSON.
const MaxDataBytes = 256

// CompactData makes the Data of an Update from any JSON value, or returns a
// FieldError.
func CompactData(v jsontext.Value) (string, error) {
	v = v.Clone()
	if err := v.Format(); err != nil {
		return "", Invalid("data", fmt.Sprintf("is not valid JSON: %v", err))
	}
	if len(v) > MaxDataBytes {
		return "", Invalid("data", fmt.Sprintf("has %d bytes without white space; want %d at most", len(v), MaxDataBytes))
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
		return CheckText("id", u.ID)
	}
	return nil
}

// Digest tells one text from another: 64 bits of SHA-256, so that no two meet by chance, in
// 11 bytes of base64url.
func Digest(b []byte) string {
	sum := sha256.Sum256(b)
	return base64.RawURLEncoding.EncodeToString(sum[:8])
}
