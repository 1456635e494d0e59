package card

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// maxRunes bounds the characters of a text that are shaped. The widest line has room for far fewer.
const maxRunes = 160

// missing stands for a character that no shipped font has.
const missing = '\uFFFD'

// isJoiner reports whether a character joins its neighbours, or keeps them apart, and has no width.
func isJoiner(r rune) bool { return r == '\u200c' || r == '\u200d' }

// clean makes one line of a text: without control and format characters, which could change the direction or
// the lines of the text around them, and with one space for each run of white space.
func clean(text string) string {
	if len(text) > 16*maxRunes {
		text = text[:16*maxRunes]
	}
	var b strings.Builder
	runes, space := 0, false
	for _, r := range norm.NFC.String(strings.ToValidUTF8(text, string(missing))) {
		switch {
		case unicode.IsSpace(r):
			space = b.Len() > 0
			continue
		case r == '\u2212': // the minus sign, which no font has
			r = '-'
		case unicode.Is(unicode.Cc, r), unicode.Is(unicode.Cf, r) && !isJoiner(r), unicode.Is(unicode.Variation_Selector, r):
			continue
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
		if runes++; runes == maxRunes {
			break
		}
	}
	return b.String()
}

// edges are the characters that leave no mark at the ends of a text: a space, and the joiners between symbols that are
// left out.
const edges = " \u200c\u200d"

// presentable returns the first of texts that the fonts can draw, cleaned. Pictures that no font has, as most emoji
// are, are left out: the rest still names the member. If no text can be drawn, it is the first one with a replacement
// for each character that is missing.
func (f *faces) presentable(texts ...string) string {
	instead := ""
	for _, text := range texts {
		text = clean(text)
		drawable := strings.Trim(strings.Map(func(r rune) rune {
			if isPicture(r) && !f.canDraw(r) {
				return -1
			}
			return r
		}, text), edges)
		if drawable == "" {
			drawable = text // pictures alone
		}
		replaced := strings.Map(func(r rune) rune {
			if f.canDraw(r) {
				return r
			}
			return missing
		}, drawable)
		if replaced == drawable && strings.Trim(drawable, edges) != "" {
			return drawable
		}
		if instead == "" {
			instead = replaced
		}
	}
	if strings.Trim(instead, edges) == "" {
		return string(missing)
	}
	return instead
}

// isPicture reports whether a character is a picture, such as an emoji, or the color or the frame of one. Signs of
// mathematics and of money are none: a text without them says something else.
func isPicture(r rune) bool { return unicode.In(r, unicode.So, unicode.Sk, unicode.Me) }
