package definition

import (
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rankcast/ranking/proptest"
	"rankcast/ranking/redistest"
)

// hostile are texts that YAML could take for something else.
var hostile = []string{
	"a: b", "a #b", "# a", "'", `"`, `\`, "a\\nb", "!!int 1", "!tag", "&anchor", "*alias", "yes", "no", "on", "true", "null", "~", "1e3",
	"0x10", "0o7", "1_000", ".inf", ".nan", "007", "12:30:45", "2026-01-01", "<<", "=", "- a", "-", "? a", "? ", ": a", "| ", ">", "%YAML 1.2",
	"---", "...", "--- a", "@a", "`a", "[a]", "{a}", "a, b", ",", " a", "a ", "a\u00a0", "\ufeffa", "a\ufeff", "\u200da", "明星", "🌟", "e\u0301",
	"\ufffd", "\U0001fffe", "\u202fa",
}

// hostileInData are texts that only the data of an update may have.
var hostileInData = []string{"", " ", "\n", "a\nb", "a\n", "\na", " a\n b \n", "a\r\nb", "\t", "a\tb", "\x00", "\x1b", "\x7f", "\u0085",
	"\u2028", "\u2029", "a\u2028b", "\ufffe", "\uffff"}

// A definition is the same after its way through YAML, whatever its texts and numbers.
func TestYAMLOfADefinition(t *testing.T) {
	t.Parallel()
	proptest.Check(t, 300, func(t *rapid.T) {
		text := rapid.OneOf(rapid.SampledFrom(hostile), rapid.StringN(1, 8, 16).Filter(func(s string) bool { return lengthFault(s, 16) == "" }))
		anyText := rapid.OneOf(rapid.SampledFrom(hostile), rapid.SampledFrom(hostileInData), rapid.String()).Filter(func(s string) bool {
			_, err := parseTemplate(s)
			return err == nil
		})
		number := rapid.SampledFrom([]string{"0", "-0", "1", "-17", "1e3", "1E+3", "1.50", "-0.1e-7", "123456789012345678901234567890"})
		board := Board{Name: "b", Title: Label{"": text.Draw(t, "title")}, Description: Label{"en": text.Draw(t, "en"), "no": text.Draw(t, "no")},
			Display: Display{Unit: Label{"": text.Filter(func(s string) bool { return unitFault(s) == "" }).Draw(t, "unit")}}}
		normal, err := board.Normalize()
		require.NoError(t, err)
		written, err := normal.YAML()
		require.NoError(t, err)
		read, err := ParseBoardYAML("b", []byte(written))
		require.NoError(t, err, written)
		require.Equal(t, normal, read, written)

		data := map[string]any{
			anyText.Draw(t, "name"): anyText.Draw(t, "text"), "list": []any{anyText.Draw(t, "item"), jsontext.Value(number.Draw(t, "number")), true},
			"empty": map[string]any{}, "none": []any{}, "off": false,
		}
		encoded, err := json.Marshal(data)
		require.NoError(t, err)
		eventOf := func(member string) (Event, error) {
			return Event{Name: "e", Updates: []Target{{Board: "b", Member: "{m} " + member, Score: "-{n}", Data: encoded}}}.Normalize()
		}
		event, err := eventOf(text.Filter(func(member string) bool { // it may name a field that stands in the data
			_, err := eventOf(member)
			return err == nil
		}).Draw(t, "member"))
		require.NoError(t, err)
		written, err = event.YAML()
		require.NoError(t, err)
		back, err := ParseEventYAML("e", []byte(written))
		require.NoError(t, err, written)
		back.inObject = event.inObject
		require.Equal(t, event, back, written)
	})
}

// The YAML of a definition has its fields in the order of the docs, those with a default too.
func TestYAMLShowsDefaults(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "mode: sum\norder: desc\nties: first\nkind: member\n",
		"{kind: star, period: week, title: {zh: 明星, en: 'Stars: all'}}": "title:\n  en: \"Stars: all\"\n  zh: 明星\n" +
			"mode: sum\norder: desc\nties: first\n" +
			"period: week\ntimezone: UTC\nweek_starts: monday\nday_starts_at: 00:00\nkeep: 8\nkind: star\n",
		"{union: {of: [a, c]}}": "mode: sum\norder: desc\nties: first\nunion:\n  of:\n  - a\n  - c\n  weights:\n  - 1\n  - 1\n" +
			"  aggregate: sum\n  last: 1\n  refresh: 1m\nkind: member\n",
		"{window: 3h}": "mode: sum\norder: desc\nties: first\nwindow: 3h\nrefresh: 1m\nkind: member\n",
	} {
		got := redistest.Must(redistest.Must(ParseBoardYAML("b", []byte(text)))(t).YAML())(t)
		require.Equal(t, want, got)
	}
	event := redistest.Must(ParseEventYAML("gift", []byte(`[{board: "fans:{star}", member: "{user}", score: -1, data: {a: "{x}"}}]`)))(t)
	require.Equal(t, "updates:\n- board: fans:{star}\n  member: \"{user}\"\n  score: -1\n  data:\n    a: \"{x}\"\n",
		redistest.Must(event.YAML())(t))
}

// An event in YAML is an object, or a list of updates; an error names the same field in both.
func TestEventInYAML(t *testing.T) {
	t.Parallel()
	const list = `[{board: b, member: "{user}", score: 1}]`
	for _, text := range []string{list, "updates: " + list, `{"event": "gift", "updates": ` + list + `}`} {
		require.Equal(t, "b", redistest.Must(ParseEventYAML("gift", []byte(text)))(t, text).Updates[0].Board)
	}
	for text, field := range map[string]string{
		"":                                     "",
		"~":                                    "",
		"gift":                                 "",
		"[{board: b":                           "",
		"[{board: !x b}]":                      "updates[0].board",
		"[{bord: b}]":                          "updates[0].bord",
		"[{board: b, member: m}]":              "updates[0].score",
		"updates: [{board: b, member: m}]":     "updates[0].score",
		"{event: other, updates: []}":          "event",
		"{updates: [], updates: []}":           "updates",
		"{colour: red, updates: " + list + "}": "colour",
		"{sender: nobody, updates: " + list + "}": "sender",
	} {
		refused(t, redistest.ErrorOf(ParseEventYAML("gift", []byte(text))), field, text)
	}
	require.ErrorContains(t, redistest.ErrorOf(ParseEventYAML("gift", []byte("updates:\n- board: [b\n  score: 1\n"))), "in line 3")
}
