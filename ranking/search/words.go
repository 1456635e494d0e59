package search

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// words returns the words of a folded text, and the other forms under which a name has them.
func words(folded string) (list, others []string) {
	var (
		word, joined strings.Builder
		parts        []int // starts of the parts of the word that follow an apostrophe
		hyphens      int   // in joined
	)
	endWord := func() {
		if word.Len() == 0 {
			return
		}
		text := word.String()
		list = append(list, text)
		for _, from := range parts {
			if from < len(text) {
				others = append(others, text[from:])
			}
		}
		joined.WriteString(text)
		word.Reset()
		parts = parts[:0]
	}
	endJoined := func() {
		endWord()
		if hyphens > 0 && joined.Len() > 0 {
			others = append(others, joined.String())
		}
		joined.Reset()
		hyphens = 0
	}
	for _, r := range folded {
		switch {
		case isOfWord(r) && (word.Len() > 0 || !unicode.Is(unicode.M, r)):
			word.WriteRune(r)
		case isApostrophe(r) && word.Len() > 0:
			parts = append(parts, word.Len())
		case isHyphen(r) && word.Len() > 0:
			endWord()
			hyphens++
		default:
			endJoined()
		}
	}
	endJoined()
	return list, others
}

func isOfWord(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z'
	}
	return !isApostrophe(r) && unicode.In(r, unicode.L, unicode.N, unicode.M)
}

// isApostrophe knows the apostrophe, the quotation marks and letters that stand for it, and accents that
// people type in its place.
func isApostrophe(r rune) bool { return strings.ContainsRune("'\u2018\u2019\u201b\u02bb\u02bc`", r) }

func isHyphen(r rune) bool { return strings.ContainsRune("-\u2010\u2011", r) }

// hasNoSpaces reports whether a character is of a script whose words have no boundaries.
func hasNoSpaces(r rune) bool {
	// U+30FC lengthens a vowel of Kana; it belongs to no script.
	return r >= 0x1100 && (r == '\u30fc' || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul))
}

// starts returns where a search may begin in a text of words with single spaces between them: at each word, and at each
// character of a script without boundaries, and after it.
func starts(text string) (at []int) {
	begins := true
	for i, r := range text {
		switch {
		case r == ' ':
			begins = true
		case hasNoSpaces(r):
			at = append(at, i)
			begins = true
		case unicode.Is(unicode.M, r): // it belongs to the character before, whatever that is
		default:
			if begins {
				at = append(at, i)
			}
			begins = false
		}
	}
	return at
}
