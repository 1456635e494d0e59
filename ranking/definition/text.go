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

// CheckMember returns a FieldError unless a member may have this id: 1 to 128 bytes that TextFault accepts, and
// not one of dotFault.
func CheckMember(id string) error {
	return fault("member", cmp.Or(dotFault(id), TextFault(id, MaxIDBytes)))
}

// dotFault says that an id is a segment of a path that clients and proxies resolve (RFC 3986, section 5.2.4), or
// returns "". No URL leads to a member of this id: /members/player/../boards is a resource of another one.
func dotFault(id string) string {
	if id == "." || id == ".." {
		return fmt.Sprintf("is %q, which has another meaning in the path of a URL", id)
	}
	return ""
}

// CheckText checks s by the rule that member ids and request ids share, and returns a FieldError for field.
func CheckText(field, s string) error { return fault(field, TextFault(s, MaxIDBytes)) }

// TextFault says what is wrong with a text of 1 to most bytes that others will see, or returns "". Beside control
// characters it refuses those that change the order or the lines of the text around them: line and paragraph
// separators, and embeddings, overrides and isolates of a direction. It allows joiners and the marks of a direction,
// which names in Persian, Hindi or Hebrew need, but refuses a text that has only white space and invisible characters.
func TextFault(s string, most int) string {
	if s != "" && s[0] != ' ' && len(s) <= most && isPrintableASCII(s) {
		return "" // most ids, on the way of each update
	}
	return cmp.Or(UTF8Fault(s, most), unsafeFault(s))
}

// UTF8Fault says what is wrong with a text of 1 to most bytes that nobody else will see, such as a query, or returns
// "". It refuses control characters because change messages use them as separators.
func UTF8Fault(s string, most int) string {
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

// unsafeFault says which character of a text changes the text around it, or that all its characters are
// invisible, or returns "". It knows the line and paragraph separators and the explicit formatting
// characters of Unicode's annex 9, section 2.
func unsafeFault(s string) string {
	for _, r := range s {
		if '\u2028' <= r && r <= '\u202e' || '\u2066' <= r && r <= '\u2069' {
			return fmt.Sprintf("has the character %U, which changes the lines or the direction of the text around it", r)
		}
	}
	if strings.TrimLeftFunc(s, isInvisible) == "" {
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

// partFault says what is wrong with a part of an instance's name, or returns "".
func partFault(s string) string {
	if reason := TextFault(s, maxPartBytes); reason != "" {
		return reason
	}
	if i := strings.IndexAny(s, notInParts); i >= 0 {
		return fmt.Sprintf("has %q, which no part may have", s[i])
	}
	return ""
}

// Clip shortens a caller's text to at most 64 bytes, for quotation in an error.
func Clip(s string) string {
	const most = 64
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
