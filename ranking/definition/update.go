package definition

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"rankcast/ranking/internal/keyspace"
)

// Update is one update of one member's score.
type Update struct {
	Member string // an id that CheckMember accepts
	Score  int64  // within ±MaxScore
	// Columns are the values of columns by their names, each within ±MaxScore. On a board with columns they take the place of
	// Score, which is 0; with another Op than Sum it may be what the columns make. With Sum the columns left out are 0; with
	// another Op each column is given. nil on another board.
	Columns map[string]int64
	Op      Mode   // says how Score changes the score; "" means the board's mode, the only one on a board with a window
	ID      string // request id, by the rule of Member: updates with the same id count once; "" for none

	// If is the condition under which the update takes effect; "" means always. For other
	// members it changes nothing, and its Result holds the standing as it is.
	If Condition

	// Data is JSON to store with the entry, up to 256 bytes in compact form, which Check gives it. "" keeps the present
	// data, and "null" removes it. The data are stored only where the update takes effect;
	// with Best that is where the update's score is kept.
	Data string

	// At is the time at which the update happened, in whole milliseconds; zero means now. On
	// a board with a window the update counts from then. When Redis takes the update, At must
	// be within the window, and at most MaxAhead ahead. A board without a window takes no At.
	At time.Time
	// AtIfWindowed says that At has no effect on a board without a window. Otherwise the store refuses it there.
	AtIfWindowed bool
}

// Condition says whether the member of an update must be on the board already.
type Condition string

// The conditions.
const (
	Exists Condition = "exists" // the member is on the board
	Absent Condition = "absent" // the member is not on the board
)

// MaxDataBytes is the greatest length of an entry's data, as compact JSON.
const MaxDataBytes = 256

// CompactData is the compact form of any JSON value. It returns a FieldError for text
// that is not valid JSON and for data that are too long.
func CompactData(v jsontext.Value) (string, error) {
	v = v.Clone()
	if err := v.Format(); err != nil {
		return "", Invalid("data", fmt.Sprintf("is not valid JSON: %v", err))
	}
	if len(v) > MaxDataBytes {
		return "", Invalid("data", fmt.Sprintf("has %d bytes without white space; want at most %d", len(v), MaxDataBytes))
	}
	return string(v), nil
}

// Check makes the data of a valid update compact. For another one it returns a FieldError. Its kind is ErrOutOfRange for
// a score beyond ±MaxScore, and ErrInvalid otherwise.
func (u *Update) Check() error {
	if err := CheckMember(u.Member); err != nil {
		return err
	}
	if u.ID != "" {
		if err := CheckText("id", u.ID); err != nil {
			return err
		}
	}
	return u.checkEffect()
}

// checkEffect is Check without the member and the request id.
func (u *Update) checkEffect() (err error) {
	if u.Score < -MaxScore || u.Score > MaxScore {
		return &FieldError{Field: "score", Reason: fmt.Sprintf("is %d; want an integer within ±%d", u.Score, int64(MaxScore)),
			Kind: ErrOutOfRange}
	}
	if len(u.Columns) > MaxColumns {
		return Invalid("columns", fmt.Sprintf("has %d columns; want at most %d", len(u.Columns), MaxColumns))
	}
	for name, n := range u.Columns {
		if n < -MaxScore || n > MaxScore {
			return &FieldError{Field: FieldPath("columns", name), Reason: fmt.Sprintf("is %d; want an integer within ±%d", n, int64(MaxScore)),
				Kind: ErrOutOfRange}
		}
	}
	if err := cmp.Or(optional("op", u.Op, Sum, Best, Last), optional("if", u.If, Exists, Absent)); err != nil {
		return err
	}
	if u.Data != "" {
		if u.Data, err = CompactData(jsontext.Value(u.Data)); err != nil {
			return err
		}
	}
	if !u.At.IsZero() && !u.AtIfWindowed { // with AtIfWindowed the store checks At once it knows the board
		return fault("at", timeFault(u.At))
	}
	return nil
}

// Digest identifies the content of an update under a request id, but for its Op: what an update without Op means is
// known only when it is applied. It is the same for all spellings of the data, see canonical. more is what else tells
// it from another update.
func (u Update) Digest(more string) string {
	b := make([]byte, 0, 2*MaxIDBytes+MaxDataBytes)
	b = append(b, more...)
	b = append(b, ' ')
	b = strconv.AppendInt(b, u.Score, 10)
	b = append(b, ' ')
	b = append(b, u.Member...)
	if u.If != "" || u.Data != "" {
		b = append(append(append(append(b, keyspace.FieldSep...), u.If...), keyspace.FieldSep...), canonical(jsontext.Value(u.Data))...)
	}
	if !u.At.IsZero() {
		b = append(b, keyspace.RecordSep...)
		b = strconv.AppendInt(b, u.At.UnixMilli(), 10)
	}
	for _, name := range slices.Sorted(maps.Keys(u.Columns)) {
		if n := u.Columns[name]; n != 0 { // a column that is left out is 0
			b = append(append(append(b, keyspace.RecordSep...), name...), keyspace.FieldSep...)
			b = strconv.AppendInt(b, n, 10)
		}
	}
	return Digest(b)
}

// DigestSize is the length of a Digest, in bytes.
const DigestSize = 11

// Digest returns 64 bits of the SHA-256 of b, as 11 bytes of base64url. 64 bits are enough that
// two texts do not have the same digest by chance.
func Digest(b []byte) string {
	sum := sha256.Sum256(b)
	return base64.RawURLEncoding.EncodeToString(sum[:8])
}
