package search

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// undecomposed are the Latin letters without a decomposition in Unicode, in the case of folded texts, and
// what Latin-ASCII of Unicode CLDR makes of them.
var undecomposed = strings.NewReplacer(
	"æ", "ae", "ð", "d", "ø", "o", "þ", "th", "đ", "d", "ħ", "h", "ı", "i", "ĸ", "q", "ł", "l", "ŋ", "n", "œ", "oe", "ŧ", "t",
)

// Fold returns the form of a text by which a search compares it, see the package comment. It folds white
// space to single spaces, and removes it at both ends. Folding a folded text changes nothing.
func Fold(text string) string {
	if isPlain(text) {
		return spaced(strings.ToLower(text))
	}
	text = dropped(norm.NFKD.String(text))
	// A folded character may have a decomposition, and a composed one may fold: the loop ends when neither
	// changes the text. Two rounds do for all texts that are known to need more than one.
	for range 4 {
		next := norm.NFC.String(undecomposed.Replace(dropped(norm.NFKD.String(cases.Fold().String(text)))))
		if next == text {
			break
		}
		text = next
	}
	return spaced(text)
}

// dropped returns a decomposed text without what the folding drops.
func dropped(text string) string {
	return strings.Map(func(r rune) rune {
		if isDropped(r) {
			return -1
		}
		return r
	}, text)
}

// isDropped reports whether a character of a decomposed text is a diacritic, or invisible.
func isDropped(r rune) bool {
	switch {
	case r < 0x80:
		return false
	case r == '\u3099' || r == '\u309a': // the voiced marks of Kana
		return false
	case unicode.Is(unicode.Mn, r):
		return unicode.In(r, unicode.Inherited, unicode.Hebrew, unicode.Arabic)
	}
	return r == '\u0640' || // the Arabic tatweel, which only lengthens a word
		unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Me)
}

// spaced returns a text with single spaces in place of its white space.
func spaced(text string) string { return strings.Join(strings.Fields(text), " ") }

// isPlain reports whether a text has only ASCII and common Chinese characters. Nothing of these folds but the case of ASCII.
func isPlain(text string) bool {
	for _, r := range text {
		if r >= utf8.RuneSelf && (r < '\u4e00' || r > '\u9fff') {
			return false
		}
	}
	return true
}
