package ranking

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Mode is what an update's score does to the score a member has.
type Mode string

// The modes. An update may override its board's with Update.Op.
const (
	Sum  Mode = "sum"  // adds
	Best Mode = "best" // replaces a worse one
	Last Mode = "last" // replaces
)

// Order says which scores rank higher.
type Order string

// The orders.
const (
	Desc Order = "desc" // the higher score ranks higher
	Asc  Order = "asc"  // the lower score ranks higher: lap times, golf
)

func (o Order) sign() int64 {
	if o == Asc {
		return 1
	}
	return -1
}

// Ties says how members with equal scores are ranked.
type Ties string

// The tie rules.
const (
	First    Ties = "first"  // who reached the score first ranks higher
	ByMember Ties = "member" // by the bytes of the member id
)

// Definition is what a board is. The zero value of every field but Board means
// the default, which Normalize fills in.
type Definition struct {
	Board string `json:"board"`
	Mode  Mode   `json:"mode"`  // default sum
	Order Order  `json:"order"` // default desc
	Ties  Ties   `json:"ties"`  // default first
}

// Normalize returns d with its defaults filled in, or a FieldError.
func (d Definition) Normalize() (Definition, error) {
	if err := CheckBoard(d.Board); err != nil {
		return d, err
	}
	if err := oneOf("mode", &d.Mode, Sum, Best, Last); err != nil {
		return d, err
	}
	if err := oneOf("order", &d.Order, Desc, Asc); err != nil {
		return d, err
	}
	return d, oneOf("ties", &d.Ties, First, ByMember)
}

// oneOf sets an empty value to the first of the allowed ones and refuses any
// value that is not among them.
func oneOf[S ~string](field string, value *S, allowed ...S) error {
	if *value == "" {
		*value = allowed[0]
	}
	if slices.Contains(allowed, *value) {
		return nil
	}
	words := make([]string, len(allowed))
	for i, a := range allowed {
		words[i] = string(a)
	}
	return Invalid(field, fmt.Sprintf("is %q; want one of %s", *value, strings.Join(words, ", ")))
}

var boardName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`)

// CheckBoard refuses what cannot be a board's name: 1 to 64 characters of a-z,
// 0-9, dot, underscore and hyphen, the first of them a letter or a digit.
func CheckBoard(name string) error {
	if !boardName.MatchString(name) {
		return Invalid("board", "want 1 to 64 characters of a-z 0-9 . _ - starting with a letter or digit")
	}
	return nil
}

// maxIDBytes bounds member ids and request ids.
const maxIDBytes = 128

// CheckMember refuses what cannot be a member's id: 1 to 128 bytes of UTF-8
// without control characters.
func CheckMember(id string) error { return checkText("member", id) }

// checkText holds the rule that member ids and request ids share. Control
// characters are out because change messages are separated by them.
func checkText(field, s string) error {
	switch {
	case s == "":
		return Invalid(field, "is empty; want 1 to 128 bytes of UTF-8")
	case len(s) > maxIDBytes:
		return Invalid(field, fmt.Sprintf("has %d bytes; want 1 to 128", len(s)))
	case !utf8.ValidString(s):
		return Invalid(field, "is not valid UTF-8")
	}
	for _, r := range s {
		if r < 0x20 || 0x7f <= r && r <= 0x9f {
			return Invalid(field, fmt.Sprintf("has the control character %U", r))
		}
	}
	return nil
}
