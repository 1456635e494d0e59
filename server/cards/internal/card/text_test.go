package card

import (
	"cmp"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-text/typesetting/bidi"
	"github.com/stretchr/testify/require"
)

// A text becomes one line without characters that change the text around it.
func TestClean(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Ana":                         "Ana",
		"  a \t\r\n b\u2028c\u2029 ":  "a b c",
		"a\x00b\x1b[0mc\u0085d":       "ab[0mc d",
		"\u202ea\u202cb\u2067c\u2069": "abc",
		"\u200fa\u061cb\ufeffc\u00ad": "abc",
		"नर्\u200dमदा":                "नर्\u200dमदा",
		"e\u0301":                     "é",
		"\u1112\u1161\u11ab":          "한",
		"❤\ufe0f":                     "❤",
		"a\xffb":                      "a\ufffdb",
		"":                            "",
	} {
		require.Equal(t, want, clean(text), "%q", text)
	}
	require.Equal(t, maxRunes, utf8.RuneCountInString(clean(strings.Repeat("林", 10_000))))
	require.True(t, utf8.ValidString(clean(strings.Repeat("a林", 10_000))))
}

// A card shows the name, or the id, or a replacement for each character that no font has.
func TestPresentable(t *testing.T) {
	t.Parallel()
	f := newFaces()
	for _, c := range []struct{ name, member, want string }{
		{"Ana", "s1", "Ana"},
		{"林希 محمد रवि ไทย שלום 김 さ Ω Ж ế", "s1", "林希 محمد रवि ไทย שלום 김 さ Ω Ж ế"},
		{"🎉 Party 🎉", "s1", "Party"},
		{"A🇩🇪B👩🏽‍🚀", "s1", "AB"},
		{"👨‍👩‍👧 Family", "s1", "Family"},
		{"★ Ana ♥", "s1", "★ Ana ♥"},
		{"🎉🔥", "s1", "s1"},
		{"ᏣᎳᎩ", "s1", "s1"},
		{"Ana ᏣᎳᎩ", "s1", "s1"},
		{"ᏣᎳ", "ᏣᎳᎩ", "��"},
		{"🎉", "🔥🔥", "�"},
		{"ᏣᎳ", "", "��"},
		{"\u202e", "s1", "s1"},
		{"\u200d\u200d", "\u200c", "�"},
	} {
		require.Equal(t, c.want, f.presentable(c.name, c.member), "%q", c.name)
	}
}

// visual is a text as a reader sees it from left to right, by the parts of its line.
func visual(text string) string {
	ts := &typesetter{faces: newFaces()}
	runes := []rune(text)
	runs := ts.levelRuns(runes)
	var parts []string
	var levels []bidi.Level
	for _, run := range runs {
		part := runes[run.start:run.end]
		if run.level%2 == 1 {
			reversed := make([]rune, len(part))
			for i, r := range part {
				reversed[len(part)-1-i] = r
			}
			part = reversed
		}
		parts = append(parts, string(part))
		levels = append(levels, run.level)
	}
	reorder(parts, levels)
	return strings.Join(parts, "")
}

// Texts of both directions stand as the Unicode bidirectional algorithm has them.
func TestDirections(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"abc":                  "abc",
		"אבג":                  "גבא",
		"abc אבג":              "abc גבא",
		"אבג abc":              "abc גבא",
		"x אב 12 abc":          "x 12 בא abc",
		"x אב 1,200.50 abc":    "x 1,200.50 בא abc",
		"x אב 12% abc":         "x 12% בא abc",
		"x אב $12 abc":         "x $12 בא abc",
		"x אב 12. abc":         "x 12 בא. abc",
		"x 12 אב":              "x 12 בא",
		"abc ١٢ אב":            "abc בא ١٢",
		"אב 12 גד":             "דג 12 בא",
		"12 אב":                "בא 12",
		"x אב, גד y":           "x דג ,בא y",
		"12":                   "12",
		"":                     "",
		"משחק 2 (level 3) סוף": "ףוס )level 3( 2 קחשמ",
	} {
		require.Equal(t, want, visual(text), text)
	}
}

// A text that is too long ends with an ellipsis, is no wider than its box, and is cut between the characters as
// readers see them.
func TestLineIsShortened(t *testing.T) {
	t.Parallel()
	ts := &typesetter{faces: newFaces()}
	s := style{30, false}
	for _, text := range []string{strings.Repeat("W", 200), strings.Repeat("ल्लि", 50), strings.Repeat("محمد ", 30),
		strings.Repeat("林", 100), strings.Repeat("e\u0323\u0302\u0302", 60)} {
		text = clean(text)
		whole := ts.shape([]rune(text), s)
		for _, width := range []float32{60, 100, 311, 600} {
			require.Greater(t, whole.width, width)
			short := ts.line(text, s, width)
			require.LessOrEqual(t, short.width, width)
			require.Greater(t, short.width, width-60, "as much as fits: %q", text)
		}
		require.Equal(t, whole.width, ts.line(text, s, whole.width).width)
	}
	require.Equal(t, []int{3, 4, 5}, ts.ends([]rune("e\u0323\u0302ab")))
	require.Empty(t, ts.line("", s, 10).parts)
}

// All that the shipped fonts promise to draw, they draw: each character has a glyph with an outline.
func TestFontsDraw(t *testing.T) {
	t.Parallel()
	ts := &typesetter{faces: newFaces()}
	for _, text := range []string{
		"ABCXYZabcxyz0123456789", "ÄÖÜßéèñçøåœŁżźĞŞİı", "ẾẶỘỨỲ", "ΑΒΓαβγώ", "АБВабвёъыэюяЇЄҐ", "אבגדהץ", "ابتثجحپچژگی", "अआइकखगज्ञ",
		"กขคงจฉ", "ァアぁあー々〇", "가각힝", "的一是了我龍體", "★☆♥♦♣♠✓✗", "€£¥₹₩₽", "．，（）",
	} {
		for _, r := range text {
			require.True(t, ts.faces.canDraw(r), "%c", r)
		}
		for _, bold := range []bool{false, true} {
			for _, part := range ts.shape([]rune(clean(text)), style{30, bold}).parts {
				for _, g := range part.Glyphs {
					outline, ok := part.Face.GlyphDataOutline(g.GlyphID)
					require.True(t, ok && len(outline.Segments) > 0 && g.GlyphID != 0, "%s", text)
				}
			}
		}
	}
	require.False(t, ts.faces.canDraw('Ꮳ'))
	require.False(t, ts.faces.canDraw('🎉'))
}

// A card shows each score and each name of the tables that all surfaces share: what no font has shows as something, or
// is a picture beside a text that says the same.
func TestCardsDrawTheTables(t *testing.T) {
	t.Parallel()
	f := newFaces()
	for file, field := range map[string]string{"cases.json": "text", "names.json": "name"} {
		b, err := os.ReadFile("../../../../ranking/scoretext/testdata/" + file)
		require.NoError(t, err)
		var cases []map[string]any
		require.NoError(t, json.Unmarshal(b, &cases))
		require.NotEmpty(t, cases)
		for _, c := range cases {
			text, _ := c[field].(string)
			onCard, _ := c["card"].(string)
			require.Equal(t, cmp.Or(onCard, text), f.presentable(text), "%q", text)
			for _, r := range f.presentable(text) {
				require.True(t, f.canDraw(r), "%U of %q", r, text)
			}
		}
	}
}
