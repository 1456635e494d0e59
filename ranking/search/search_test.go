package search

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestFold(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                          "",
		"  Ana \t Maria ":           "ana maria",
		"ÁÑA Çelik":                 "ana celik",
		"A\u0301na":                 "ana",
		"Straße STRASSE ẞ":          "strasse strasse ss",
		"İstanbul IRMAK ırmak":      "istanbul irmak irmak",
		"Łódź Ørsted Þór Đorđe":     "lodz orsted thor dorde",
		"Æsir œuvre Ħal":            "aesir oeuvre hal",
		"ＡＢＣ１２３":                    "abc123",
		"ｶﾞﾝﾀﾞﾑ":                    "ガンダム",
		"か\u3099":                   "が",
		"が か":                       "が か",
		"한국 \u1112\u1161\u11ab":     "한국 한",
		"ΣΊΣΥΦΟΣ":                   "σισυφοσ",
		"Ёлка Йод":                  "елка иод",
		"שָׁלוֹם":                   "שלום",
		"مُحَمَّد محـــمد":          "محمد محمد",
		"हिन्दी":                    "हिन्दी",
		"ไทย ที่":                   "ไทย ที่",
		"ﬁne ①②":                    "fine 12",
		"so\u00adft z\u200dw\u200b": "soft zw",
		"a\ufe0f★":                  "a★",
		"𝒜𝓃𝒶":                       "ana",
		"中国人":                       "中国人",
	} {
		require.Equal(t, want, Fold(text), text)
	}
}

// Common Chinese characters take a shorter way through Fold, which leads to the same text.
func TestFoldOfChineseCharacters(t *testing.T) {
	t.Parallel()
	for r := '\u4e00'; r <= '\u9fff'; r++ {
		require.Equal(t, string(r)+"a", Fold(string(r)+"A"))
		require.Equal(t, string(r)+"e", Fold(string(r)+"É"), "the longer way")
	}
}

func TestQueryMatchesNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		found []string
		not   []string
	}{
		{"Ana María López", []string{"a", "ANA", "ana maria", "mar", "lop ana", "López", "ana maria lopez", "ａｎａ"},
			[]string{"na", "aria", "ana x", "anamaria"}},
		{"O'Neil", []string{"oneil", "o'neil", "O’Neil", "neil", "o", "oʼn"}, []string{"eil", "o neil x"}},
		{"Jean-Luc Picard", []string{"jean", "luc", "jean-luc", "jean luc", "jeanluc", "jeanluc pic"}, []string{"uc", "jeanlucpicard"}},
		{"Jean Luc", []string{"jean-luc"}, []string{"jeanluc"}},
		{"中国人abc", []string{"中", "国", "国人", "人a", "abc", "中国人abc", "国 中"}, []string{"人中", "bc"}},
		{"abc中国", []string{"abc", "国", "abc中"}, []string{"c中"}},
		{"サクラ・ミク", []string{"サ", "クラ", "ﾐｸ", "ミ"}, []string{"さ", "カ"}},
		{"がんばる", []string{"が", "ば"}, []string{"か", "は"}},
		{"김민수", []string{"김", "민수", "수"}, []string{"기"}},
		{"x_Ana_x 42", []string{"ana", "x", "4", "x_ana"}, []string{"2"}},
		{"🌸 Bloom 🌸", []string{"bloom", "🌸bl"}, []string{"🌸"}},
		{"<script>alert(1)</script>", []string{"script", "alert", "1", "<script>"}, []string{"cript"}},
		{"", nil, []string{"a"}},
		{"!!!", []string{"!", "!!!", "！"}, []string{"a", "!!!!", "!! !"}},
		{"🌸🌸", []string{"🌸", " 🌸🌸 ", "🌸\ufe0f"}, []string{"🌸🌸🌸", "🌹", "a"}},
		{"🌸 🌹", []string{"🌸", "🌸 🌹"}, []string{"🌹"}},
		{"=x", []string{"x"}, []string{"=!"}},
	} {
		for _, q := range c.found {
			require.True(t, NewQuery(q).MatchesName(NewName(c.name)), "%q finds %q", q, c.name)
		}
		for _, q := range append(c.not, "", " ", "-", "'", "\u0301", "=", "\u200b") {
			require.False(t, NewQuery(q).MatchesName(NewName(c.name)), "%q finds %q", q, c.name)
		}
	}
}

func TestEmptyQueries(t *testing.T) {
	t.Parallel()
	for _, q := range []string{"", "  ", "\u3000", "\u0301", "\u200b\u2060"} {
		require.True(t, NewQuery(q).IsEmpty(), q)
		require.Empty(t, NewQuery(q).Prefixes(), q)
		require.Empty(t, NewQuery(q).IDPrefix(), q)
		require.False(t, NewQuery(q).MatchesID(q+"a"), q)
	}
	for _, q := range []string{"1", "-", "'", "\u093f", "🌸", "=", "()", "*?[]"} {
		require.False(t, NewQuery(q).IsEmpty(), q)
	}
}

func TestQueryMatchesIDs(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{{"u", "U4"}, {"user-1", "user-17"}, {"ÜSER", "user"}, {"a b", "A  bc"}, {"中", "中国"}, {"🌸", "🌸🌸"},
		{"-", "--x"}, {" =", "=u"}} {
		require.True(t, NewQuery(c[0]).MatchesID(c[1]), c)
	}
	for _, c := range [][2]string{{"4", "u4"}, {"user 1", "user-17"}, {"user-", "user"}} {
		require.False(t, NewQuery(c[0]).MatchesID(c[1]), c)
	}
}

func TestWholeNames(t *testing.T) {
	t.Parallel()
	require.True(t, NewQuery("ána  maria").IsWhole(NewName("Ana María!")))
	require.True(t, NewQuery("o’neil").IsWhole(NewName("O'Neil")))
	require.True(t, NewQuery("jean luc").IsWhole(NewName("Jean-Luc")))
	require.False(t, NewQuery("maria").IsWhole(NewName("Ana Maria")))
	require.False(t, NewQuery("!").IsWhole(NewName("?")))
	require.True(t, NewQuery("!").IsWhole(NewName(" ! ")))
	require.False(t, NewQuery("\u0301").IsWhole(NewName("\u0301")))
	require.Equal(t, []Entry{{" u4", false}, {"ana maria", true}, {"maria", false}}, Entries("Ana María", "U4"))
	require.Equal(t, []Entry{{" u4", false}}, Entries("", "u4"))
	require.Equal(t, []Entry{{" x", false}, {"中国", true}, {"国", false}}, Entries("中国", "x"))
	require.Equal(t, []Entry{{" x", false}, {"oneil", true}, {"neil", false}}, Entries("O'Neil", "x"))
	require.Equal(t, []Entry{{" x", false}, {"ana ana", true}, {"ana", false}}, Entries("ana, Ana", "x"))
	require.Equal(t, []Entry{{" 🌸 🌹", false}, {"🌸 🌹", true}}, Entries("🌸 🌹", "🌸 🌹"))
}

// drawText draws a text of up to 24 pieces of many scripts, and of what hostile callers send.
func drawText(t *rapid.T, label string) string {
	pieces := []string{"a", "B", "c", "é", "e\u0301", " ", "-", "'", "’", "中", "国", "ガ", "か\u3099", "한", "\u1112", "\u1161", "İ",
		"ı", "ß", "ẞ", "ﷺ", "ŉ", "ΐ",
		"\u0345", "\u093f", "\u0640", "\u200d", "\ufe0f", "🌸", "=", "1", "ⅷ", "ａ", "ø", "Ꭰ", "\u0e33", "ǰ", "\u3099", "\u0fb2\u0f71"}
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 24).Draw(t, label), "")
}

// requireLaws requires what an index relies on, for a name, an id and a query.
func requireLaws(t require.TestingT, name, id, text string) {
	for _, s := range []string{name, id, text} {
		require.Equal(t, Fold(s), Fold(Fold(s)), "%q", s)
	}
	entries := Entries(name, id)
	require.LessOrEqual(t, len(entries), MaxEntries)
	seen := make(map[string]bool)
	for _, e := range entries {
		require.NotEmpty(t, e.Text)
		require.LessOrEqual(t, len(e.Text), MaxEntry)
		require.True(t, utf8.ValidString(e.Text), "%q", e.Text)
		require.Equal(t, -1, strings.IndexFunc(e.Text, func(r rune) bool { return r < ' ' }), "%q", e.Text)
		require.False(t, seen[e.Text], "%q twice", e.Text)
		seen[e.Text] = true
	}
	begins := func(prefix string, wanted func(Entry) bool) bool {
		for _, e := range entries {
			if strings.HasPrefix(e.Text, prefix) && wanted(e) {
				return true
			}
		}
		return false
	}
	isOfName := func(e Entry) bool { return !strings.HasPrefix(e.Text, " ") }
	q, n := NewQuery(text), NewName(name)
	if q.MatchesName(n) {
		for _, prefix := range q.Prefixes() {
			require.True(t, begins(prefix, isOfName), "%q finds %q without an entry that begins with %q: %q", text, name, prefix, entries)
		}
	}
	if q.MatchesID(id) {
		require.True(t, begins(q.IDPrefix(), func(e Entry) bool { return !isOfName(e) }), "%q finds %q", text, id)
	}
	if q.IsWhole(n) && len(q.whole) <= MaxEntry {
		require.True(t, begins(q.Phrase(), func(e Entry) bool { return e.Whole && e.Text == q.Phrase() }), "%q is %q", text, name)
	}
	// A name finds itself.
	if whole := NewQuery(name); !whole.IsEmpty() && len(n.texts) < MaxEntries-1 {
		require.True(t, whole.MatchesName(n), "%q finds itself", name)
		require.True(t, whole.IsWhole(n), "%q is itself", name)
	}
}

func TestEntriesFindWhatMatches(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		name := drawText(t, "name")
		text := drawText(t, "query")
		if rapid.Bool().Draw(t, "of the name") {
			runes := []rune(name)
			from := rapid.IntRange(0, len(runes)).Draw(t, "from")
			text = string(runes[from:rapid.IntRange(from, len(runes)).Draw(t, "to")])
		}
		requireLaws(t, name, drawText(t, "id"), text)
	})
}

func FuzzSearch(f *testing.F) {
	for _, seed := range [][3]string{{"Ana María", "u4", "mar"}, {"O'Neil-中国", "é", "neil"}, {"ﷺ ǰ", "İ", "ﷺ"}, {"\xff", "\x1f", "\x00"}} {
		f.Add(seed[0], seed[1], seed[2])
	}
	f.Fuzz(func(t *testing.T, name, id, text string) {
		for _, s := range []string{name, id, text} { // as the store has checked them
			if !utf8.ValidString(s) || len(s) > 128 || strings.IndexFunc(s, func(r rune) bool { return r < 0x20 || 0x7f <= r && r <= 0x9f }) >= 0 {
				return
			}
		}
		requireLaws(t, name, id, text)
	})
}
