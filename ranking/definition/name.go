package definition

import (
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// maxParts is the greatest number of parts of a name, and of placeholders of a family.
const maxParts = 8

// maxPartBytes is the greatest length of one part of an instance's name.
const maxPartBytes = 64

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

// baseFault says what is wrong with the base of a name, or returns "".
func baseFault(base string) string {
	if baseName.MatchString(base) {
		return ""
	}
	return fmt.Sprintf("is %q; %s", Clip(base), wantBase)
}

// Name is the name of a board as a client writes it: base[:part…][@period].
type Name struct {
	Base   string   // "fans"
	Parts  []string // "s17": the values of a family's placeholders
	Period string   // "2026-W46", "-1"; "" for none
}

// ParseName parses a name, or returns a FieldError. It does not check that the board or the
// period exists.
func ParseName(s string) (Name, error) {
	board, period, qualified := strings.Cut(s, "@")
	if qualified && !periodName.MatchString(period) {
		return Name{}, Invalid("board",
			fmt.Sprintf("has the period %q; want a period such as 2026-W46, or -1 for the previous period", Clip(period)))
	}
	parts := strings.Split(board, ":")
	n := Name{Base: parts[0], Parts: parts[1:], Period: period}
	if reason := baseFault(n.Base); reason != "" {
		return Name{}, Invalid("board", reason)
	}
	if len(n.Parts) > maxParts {
		return Name{}, Invalid("board", fmt.Sprintf("has %d parts; want at most %d", len(n.Parts), maxParts))
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

// Slot is the slot of the name, which is also that of its definition: "fans/1".
func (n Name) Slot() string { return slotWith(n.Base, len(n.Parts)) }

// SlotOf returns the slot of a name whose parts are values, placeholders or fields: "fans/1" for fans:{star}. A name
// and its definition have the same slot, and no two definitions have the same one.
func SlotOf(name string) string {
	base, _, _ := strings.Cut(name, ":")
	return slotWith(base, strings.Count(name, ":"))
}

func slotWith(base string, parts int) string { return base + "/" + strconv.Itoa(parts) }

// SlotsOf iterates over all slots of a base, with their numbers of parts, fewest first.
func SlotsOf(base string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		for parts := range maxParts + 1 {
			if !yield(parts, slotWith(base, parts)) {
				return
			}
		}
	}
}

// FamilyName is the name of a definition: a base, or a base with placeholders such as
// hot:{genre}:{device}.
type FamilyName struct {
	base         string
	Placeholders []string // without their braces
}

// ParseFamilyName parses the name of a definition, or returns a FieldError.
func ParseFamilyName(board string) (FamilyName, error) {
	parts := strings.Split(board, ":")
	t := FamilyName{base: parts[0], Placeholders: parts[1:]}
	if reason := baseFault(t.base); reason != "" {
		return FamilyName{}, Invalid("board", reason+"; in a family, placeholders follow after a colon, such as fans:{star}")
	}
	if len(t.Placeholders) > maxParts {
		return FamilyName{}, Invalid("board", fmt.Sprintf("has %d placeholders; want at most %d", len(t.Placeholders), maxParts))
	}
	for i, p := range t.Placeholders {
		word, is := PlaceholderIn(p)
		if !is || !placeholder.MatchString(word) {
			return FamilyName{}, Invalid("board", fmt.Sprintf("has %q in place of a placeholder such as {star}; in the braces %s",
				Clip(p), wantPlaceholder))
		}
		if slices.Contains(t.Placeholders[:i], word) {
			return FamilyName{}, Invalid("board", fmt.Sprintf("has the placeholder %s twice", p))
		}
		t.Placeholders[i] = word
	}
	return t, nil
}

// Slot is the slot of the definition, see SlotOf.
func (t FamilyName) Slot() string { return slotWith(t.base, len(t.Placeholders)) }

// CheckBoard returns a FieldError unless board is a valid name of a definition. That is 1 to
// 64 characters of a-z, 0-9, dot, underscore and hyphen, of which the first is a letter or a
// digit. In a family 1 to 8 placeholders follow: hot:{genre}:{device}.
func CheckBoard(board string) error {
	_, err := ParseFamilyName(board)
	return err
}

// CheckKind returns a FieldError unless kind is a valid kind of member: 1 to 32 characters of
// a-z, 0-9, underscore and hyphen, of which the first is a letter.
func CheckKind(kind string) error {
	if !kindName.MatchString(kind) {
		return Invalid("kind", fmt.Sprintf("is %q; %s", Clip(kind), wantKind))
	}
	return nil
}

// Qualify returns the name of a period of a board, such as "stars@2026-W47". It returns the
// board's own name where period is "".
func Qualify(instance, period string) string {
	if period == "" {
		return instance
	}
	return instance + "@" + period
}
