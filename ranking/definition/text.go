package definition

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxIDBytes is the greatest length of a member id and of a request id, in bytes.
const MaxIDBytes = 128

// A text that a client chooses has one of two rules. What a request names may exist since a time when
// the rule was weaker: reads, and the acts that hide or remove, take it by TextFault. What a request
// creates must also be safe to show beside other text: writes take it by NewTextFault.

// textRule says what is wrong with a text of 1 to most bytes, or returns "".
type textRule func(s string, most int) string

// CheckMember returns a FieldError unless a member of this id may exist: 1 to 128 bytes of UTF-8 without
// control characters, and not one of dotFault.
func CheckMember(id string) error {
	return cmp.Or(fault("member", dotFault(id)), CheckText("member", id))
}

// CheckNewMember returns a FieldError unless a request may create a member of this id: CheckMember
// accepts it, and it has no character that NewTextFault refuses.
func CheckNewMember(id string) error {
	if reason := dotFault(id); reason != "" {
		return Invalid("member", reason)
	}
	return CheckNewText("member", id)
}

// dotFault says that an id is a segment of a path that clients and proxies resolve (RFC 3986, section 5.2.4), or
// returns "". No URL leads to a member of this id: /members/player/../boards is a resource of another one.
func dotFault(id string) string {
	if id == "." || id == ".." {
		return fmt.Sprintf("is %q, which has another meaning in the path of a URL", id)
	}
	return ""
}

// CheckText checks s by the rule that existing member ids and request ids share, and returns a
// FieldError for field.
func CheckText(field, s string) error {
	return fault(field, TextFault(s, MaxIDBytes))
}

// CheckNewText is CheckText for an id that the request creates: it also refuses what NewTextFault refuses.
func CheckNewText(field, s string) error {
	if s != "" && s[0] != ' ' && len(s) <= MaxIDBytes && isPrintableASCII(s) {
		return nil // most ids, on the way of each update
	}
	return fault(field, NewTextFault(s, MaxIDBytes))
}

// TextFault says what is wrong with a text of 1 to most bytes, or returns "". It refuses
// control characters because change messages use them as separators.
func TextFault(s string, most int) string {
	switch {
	case s == "":
		return fmt.Sprintf("is empty; want 1 to %d bytes of UTF-8", most)
	case len(s) > most:
		return fmt.Sprintf("has %d bytes; want 1 to %d", len(s), most)
	case isPrintableASCII(s):
		return ""
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

// NewTextFault is TextFault for a text that the request creates. It also refuses the characters that
// change the order or the lines of the text around them: line and paragraph separators, and embeddings,
// overrides and isolates of a direction. It allows joiners and the marks of a direction, which names in
// Persian, Hindi or Hebrew need, but refuses a text that has only white space and invisible characters.
func NewTextFault(s string, most int) string { return cmp.Or(TextFault(s, most), unsafeFault(s)) }

// unsafeFault says which character of a text changes the text around it, or that all its characters are
// invisible, or returns "". It knows the line and paragraph separators and the explicit formatting
// characters of Unicode's annex 9, section 2.
func unsafeFault(s string) string {
	if !isPrintableASCII(s) {
		for _, r := range s {
			if '\u2028' <= r && r <= '\u202e' || '\u2066' <= r && r <= '\u2069' {
				return fmt.Sprintf("has the character %U, which changes the lines or the direction of the text around it", r)
			}
		}
	}
	if s != "" && strings.TrimLeftFunc(s, isInvisible) == "" {
		return "has only spaces and invisible characters"
	}
	return ""
}

// isInvisible reports whether a character by itself leaves no mark on a screen: white space, the empty
// pattern of Braille, and what Unicode's property Default_Ignorable_Code_Point has (UCD, section 5.3).
func isInvisible(r rune) bool {
	if r < unicode.MaxASCII {
		return r == ' ' // most texts end here; controls are refused before
	}
	return r == '\u2800' || unicode.IsSpace(r) || unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) ||
		unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

// isPrintableASCII decides for most texts, without the cost of decoding them.
func isPrintableASCII(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] > 0x7e {
			return false
		}
	}
	return true
}

// notInParts are the characters that separate or enclose the parts of names, keys and paths.
const notInParts = ":@/{}"

// partFault says what is wrong with a part of an instance's name by a rule, or returns "".
func partFault(s string, rule textRule) string {
	if reason := rule(s, maxPartBytes); reason != "" {
		return reason
	}
	if i := strings.IndexAny(s, notInParts); i >= 0 {
		return fmt.Sprintf("has %q, which no part may have", s[i])
	}
	return ""
}

// unsafePartFault is unsafeFault for each part of the name of a board.
func unsafePartFault(board string) string {
	for part := range strings.SplitSeq(board, ":") {
		if reason := unsafeFault(part); reason != "" {
			return reason
		}
	}
	return ""
}

// CheckNew returns a FieldError unless a write may create the instance of this name: each part has no
// character that NewTextFault refuses.
func (n Name) CheckNew() error {
	for i, part := range n.Parts {
		if reason := unsafeFault(part); reason != "" {
			return Invalid("board", fmt.Sprintf("part %d %s", i+1, reason))
		}
	}
	return nil
}

// CheckNew returns a FieldError unless a request may create the definition: its texts have no character
// that NewTextFault refuses. The board must be normalized.
func (d Board) CheckNew() error {
	if err := cmp.Or(d.Title.checkNew("title"), d.Description.checkNew("description"), d.Display.Unit.checkNew("display.unit")); err != nil {
		return err
	}
	if d.Union == nil {
		return nil
	}
	for i, of := range d.Union.Of {
		if reason := unsafePartFault(of); reason != "" {
			return Invalid(ItemPath("union.of", i), reason)
		}
	}
	return nil
}

// CheckNew is Board.CheckNew for an event: for the names of the boards and members that it updates.
func (e Event) CheckNew() error {
	for i, t := range e.Updates {
		path := ItemPath("updates", i)
		if err := cmp.Or(fault(path+".board", unsafePartFault(t.Board)), fault(path+".member", unsafeFault(t.Member))); err != nil {
			return err
		}
	}
	return nil
}

// Clip shortens a caller's text to at most 64 bytes, for quotation in an error.
func Clip(s string) string {
	const most = 64
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
