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

// splitName splits a name into its base and its parts. The error about the number of parts calls them what. The error
// about the base ends with hint.
func splitName(field, name, what, hint string) (base string, parts []string, err error) {
	parts = strings.Split(name, ":")
	if reason := baseFault(parts[0]); reason != "" {
		return "", nil, Invalid(field, reason+hint)
	}
	if n := len(parts) - 1; n > maxParts {
		return "", nil, Invalid(field, fmt.Sprintf("has %d %s; want at most %d", n, what, maxParts))
	}
	return parts[0], parts[1:], nil
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
	base, parts, err := splitName("board", board, "parts", "")
	if err != nil {
		return Name{}, err
	}
	for i, part := range parts {
		if reason := partFault(part); reason != "" {
			if CheckBoard(board) == nil {
				return Name{}, Invalid("board", wantInstance)
			}
			return Name{}, Invalid("board", fmt.Sprintf("part %d %s", i+1, reason))
		}
	}
	return Name{base, parts, period}, nil
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
	base, parts, err := splitName("board", board, "placeholders", "; in a family, placeholders follow after a colon, such as fans:{star}")
	if err != nil {
		return FamilyName{}, err
	}
	for i, p := range parts {
		word, is := PlaceholderIn(p)
		if !is || !placeholder.MatchString(word) {
			return FamilyName{}, Invalid("board", fmt.Sprintf("has %q in place of a placeholder such as {star}; in the braces %s",
				Clip(p), wantPlaceholder))
		}
		if slices.Contains(parts[:i], word) {
			return FamilyName{}, Invalid("board", fmt.Sprintf("has the placeholder %s twice", p))
		}
		parts[i] = word
	}
	return FamilyName{base, parts}, nil
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
