package definition

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxParts bounds the parts of a name and the placeholders of a family.
const maxParts = 8

// maxPartBytes bounds one part of an instance's name.
const maxPartBytes = 64

// MaxIDBytes bounds member ids and request ids.
const MaxIDBytes = 128

var (
	kindName    = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,31}$`)
	baseName    = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`)
	placeholder = regexp.MustCompile(`^[a-z][a-z0-9_]{0,31}$`)
	periodName  = regexp.MustCompile(`^[0-9A-Za-z:-]{1,32}$`)
)

const (
	wantKind        = "want 1 to 32 characters of a-z 0-9 _ - starting with a letter"
	wantBase        = "want 1 to 64 characters of a-z 0-9 . _ - starting with a letter or digit"
	wantInstance    = "is a family; name one of its boards, as fans:s17 is one of fans:{star}"
	wantPlaceholder = "want 1 to 32 characters of a-z 0-9 _ starting with a letter"
)

// Name is a board as a client names it: base[:part…][@period].
type Name struct {
	Base   string   // "fans"
	Parts  []string // "s17": what fills the placeholders of a family
	Period string   // "2026-W46", "-1"; "" for none
}

// ParseName takes a name apart, or returns a FieldError.
func ParseName(s string) (Name, error) {
	board, period, qualified := strings.Cut(s, "@")
	if qualified && !periodName.MatchString(period) {
		return Name{}, Invalid("board", fmt.Sprintf("has the period %q; want one such as 2026-W46, or -1 for the one before this", Clip(period)))
	}
	parts := strings.Split(board, ":")
	n := Name{Base: parts[0], Parts: parts[1:], Period: period}
	if !baseName.MatchString(n.Base) {
		return Name{}, Invalid("board", wantBase)
	}
	if len(n.Parts) > maxParts {
		return Name{}, Invalid("board", fmt.Sprintf("has %d parts; want %d at most", len(n.Parts), maxParts))
	}
	for i, part := range n.Parts {
		if reason := partFault(part); reason != "" {
			if CheckBoard(board) == nil {
				return Name{}, Invalid("board", wantInstance)
			}
			return Name{}, Invalid("board", fmt.Sprintf("part %d %s", i+1, reason))
		}
	}
	return n, nil
}

// Instance is the name without its period: "fans:s17".
func (n Name) Instance() string { return strings.Join(append([]string{n.Base}, n.Parts...), ":") }

// Slot is what a name and the definition it is of have in common: "fans/1".
func (n Name) Slot() string { return SlotOf(n.Base, len(n.Parts)) }

func SlotOf(base string, parts int) string { return base + "/" + strconv.Itoa(parts) }

// FamilyName is what a definition is called: a base, or a family such as
// hot:{genre}:{device}.
type FamilyName struct {
	base         string
	Placeholders []string
}

// ParseFamilyName takes a definition's name apart, or returns a FieldError.
func ParseFamilyName(board string) (FamilyName, error) {
	parts := strings.Split(board, ":")
	t := FamilyName{base: parts[0], Placeholders: parts[1:]}
	if !baseName.MatchString(t.base) {
		return FamilyName{}, Invalid("board", wantBase+"; a family has placeholders after that, such as fans:{star}")
	}
	if len(t.Placeholders) > maxParts {
		return FamilyName{}, Invalid("board", fmt.Sprintf("has %d placeholders; want %d at most", len(t.Placeholders), maxParts))
	}
	for i, p := range t.Placeholders {
		word, opened := strings.CutPrefix(p, "{")
		word, closed := strings.CutSuffix(word, "}")
		if !opened || !closed || !placeholder.MatchString(word) {
			return FamilyName{}, Invalid("board", fmt.Sprintf("has %q where a placeholder belongs, such as {star}; within its braces %s", Clip(p), wantPlaceholder))
		}
		if slices.Contains(t.Placeholders[:i], word) {
			return FamilyName{}, Invalid("board", fmt.Sprintf("has the placeholder %s twice", p))
		}
		t.Placeholders[i] = word
	}
	return t, nil
}

func (t FamilyName) Slot() string { return SlotOf(t.base, len(t.Placeholders)) }

// CheckBoard refuses what no definition can be called: 1 to 64 characters of
// a-z, 0-9, dot, underscore and hyphen, the first of them a letter or a digit,
// and for a family 1 to 8 placeholders after that: hot:{genre}:{device}.
func CheckBoard(board string) error {
	_, err := ParseFamilyName(board)
	return err
}

// CheckMember refuses what cannot be a member's id: 1 to 128 bytes of UTF-8
// without control characters.
func CheckMember(id string) error { return CheckText("member", id) }

// CheckText holds the rule that member ids and request ids share.
func CheckText(field, s string) error {
	if reason := TextFault(s, MaxIDBytes); reason != "" {
		return Invalid(field, reason)
	}
	return nil
}

// TextFault tells what is wrong with a text, "" for nothing. Control characters
// are out because change messages are separated by them.
func TextFault(s string, most int) string {
	switch {
	case s == "":
		return fmt.Sprintf("is empty; want 1 to %d bytes of UTF-8", most)
	case len(s) > most:
		return fmt.Sprintf("has %d bytes; want 1 to %d", len(s), most)
	case !utf8.ValidString(s):
		return "is not valid UTF-8"
	}
	for _, r := range s {
		if r < 0x20 || 0x7f <= r && r <= 0x9f {
			return fmt.Sprintf("has the control character %U", r)
		}
	}
	return ""
}

// notInParts are what names, keys and paths are made of beside their parts.
const notInParts = ":@/{}"

// partFault tells what is wrong with a part of an instance's name.
func partFault(s string) string {
	if reason := TextFault(s, maxPartBytes); reason != "" {
		return reason
	}
	if i := strings.IndexAny(s, notInParts); i >= 0 {
		return fmt.Sprintf("has %q, which no part may have", s[i])
	}
	return ""
}

// Clip shortens what a caller made up, to be told in an error.
func Clip(s string) string {
	const most = 64
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// CheckKind refuses what is no kind of members, as a FieldError.
func CheckKind(kind string) error {
	if !kindName.MatchString(kind) {
		return Invalid("kind", fmt.Sprintf("is %q; %s", Clip(kind), wantKind))
	}
	return nil
}

// Qualify names a period of a board: "stars@2026-W47"; the board itself where it
// has no periods.
func Qualify(instance, period string) string {
	if period == "" {
		return instance
	}
	return instance + "@" + period
}
