package definition

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
)

// unsafeRunes are the characters that no text may have, except a query.
var unsafeRunes = []rune("\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")

func TestTexts(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"s17", "Jun Li", "日本", "שלום", "أحمد", "👩\u200d🚀", "می\u200cخواهم", "क\u094d\u200dष", "a\u200eb", "\u200fא", "e\u0301",
		"\u00a0a", "\u061cא", "~", "  -", "\u2027", "x\u202f", "\u2065x", "x\u206a", "\ufeffx", "\u0600", "\u200b\u3164é", "\u0301", "\ue000",
		strings.Repeat("x", 128), strings.Repeat("é", 64),
	} {
		require.NoError(t, CheckMember(s), "%q", s)
		require.Empty(t, TextFault(s, 128), "%q", s)
	}
	for _, s := range []string{
		"", "\x00", "a\x1f", "a\tb", "a\nb", "\x7f", "\u0080", "é\u0085", "\u009f", "\xff", "a\xc3", "\xed\xa0\x80", "\xed\xbf\xbfx",
		"\xc0\xaf", "\xf4\x90\x80\x80",
		strings.Repeat("x", 129), strings.Repeat("é", 65),
	} {
		refused(t, CheckMember(s), "member", "%q", s)
		require.NotEmpty(t, TextFault(s, 128), "%q", s)
		require.NotEmpty(t, UTF8Fault(s, 128), "%q", s)
	}
	for _, r := range unsafeRunes {
		for _, s := range []string{string(r), "a" + string(r), string(r) + "a", "é" + string(r) + "א"} {
			require.Empty(t, UTF8Fault(s, 128), "%q", s)
			refused(t, CheckMember(s), "member", "%q", s)
			require.Contains(t, TextFault(s, 128), fmt.Sprintf("has the character %U", r))
		}
	}
}

// No request creates or reaches a member whose id is a segment that paths resolve.
func TestMembersThatPathsResolve(t *testing.T) {
	t.Parallel()
	for _, id := range []string{".", ".."} {
		refused(t, CheckMember(id), "member", "%q", id)
		_, err := ParseEvent("e", []byte(`{"updates":[{"board":"b","member":"`+id+`","score":1}]}`))
		refused(t, err, "updates[0].member", "%q", id)
		for _, template := range []string{"{user}", "{user}.", ".{user}"} {
			e := redistest.Must(ParseEvent("e", []byte(`{"updates":[{"board":"b","member":"`+template+`","score":1}]}`)))(t)
			_, err = e.Expand(map[string]jsontext.Value{"user": jsontext.Value(`"` + id + `"`)})
			if template == "{user}" || id == "." {
				refused(t, err, "user", "%q", id)
			} else {
				require.NoError(t, err)
			}
		}
		require.Empty(t, TextFault(id, 128), "a title or a reason may be one")
	}
	require.NoError(t, CheckMember("..."))
}

// No text is invisible, except a query.
func TestInvisibleTexts(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		" ", "   ", "\u00a0", "\u2003 ", "\u3000", "\u1680", "\u202f", // white space
		// format characters
		"\ufeff", "\u200b", "\u200c", "\u200d", "\u200e\u200f", "\u2060", "\u00ad", "\u061c", "\u180e", "\u2061", "\U000e0041",
		// others that are not drawn
		"\u034f", "\u115f", "\u1160", "\u17b4", "\u3164", "\uffa0", "\ufe0f", "\u180b", "\U000e0100", "\u2065", "\u2800",
		"\u200d \u3164\ufe0f",
	} {
		require.Empty(t, UTF8Fault(s, 128), "%q", s)
		refused(t, CheckMember(s), "member", "%q", s)
		require.Equal(t, "has only spaces and invisible characters", TextFault(s, 128), "%q", s)
		refused(t, redistest.ErrorOf(ParseName("fans:x:"+s)), "board", "%q", s)
	}
}

func TestNamesOfInstances(t *testing.T) {
	t.Parallel()
	for _, r := range unsafeRunes {
		err := redistest.ErrorOf(ParseName("fans:x:a" + string(r)))
		refused(t, err, "board")
		require.ErrorContains(t, err, fmt.Sprintf("part 2 has the character %U", r))
	}
	redistest.Must(ParseName("fans:\u200fא"))(t)
}

func TestTextsOfDefinitions(t *testing.T) {
	t.Parallel()
	board := func(body string) error { return redistest.ErrorOf(ParseBoard("b", []byte(body))) }
	refused(t, board(`{"display":{"unit":"p\u202e"}}`), "display.unit")
	refused(t, board(`{"union":{"of":["a:x","a:\u2066"]}}`), "union.of[1]")
	refused(t, board(`{"union":{"of":["a:x","a: "]}}`), "union.of[1]")
	refused(t, board(`{"display":{"unit":"\u3164"}}`), "display.unit")
	require.NoError(t, board(`{"display":{"unit":"\u200fנק"},"union":{"of":["a:x"]}}`))
	for field, update := range map[string]string{
		"updates[0].board":  `{"board":"fans:\u202ex","member":"m","score":1}`,
		"updates[0].member": `{"board":"b","member":"m\u2028","score":1}`,
	} {
		refused(t, redistest.ErrorOf(ParseEvent("e", []byte(`{"updates":[`+update+`]}`))), field)
	}
	redistest.Must(ParseEvent("e", []byte(`{"updates":[{"board":"fans:{a} {b}","member":"{a} {b}","score":1}]}`)))(t)
	for _, file := range []string{"boards: {b: {display: {unit: \"p\\u202e\"}}}",
		"boards: {b: {}}\nevents: {e: [{board: b, member: \"m\\u2029\", score: 1}]}"} {
		require.ErrorContains(t, redistest.ErrorOf(ParseFile([]byte(file))), "has the character U+202", file)
	}
	require.ErrorContains(t, redistest.ErrorOf(ParseBoardYAML("b", []byte("{display: {unit: \"p\\u202e\"}}"))), "has the character U+202E")
}

func TestExpandOfUnsafeTexts(t *testing.T) {
	t.Parallel()
	e := redistest.Must(ParseEvent("gift", []byte(`{"updates":[{"board":"fans:{star}","member":"{user}","score":"{n}"}]}`)))(t)
	for field, fields := range map[string]map[string]jsontext.Value{
		"star": {"star": jsontext.Value(`"s\u202e"`), "user": jsontext.Value(`"u"`), "n": jsontext.Value("1")},
		"user": {"star": jsontext.Value(`"s"`), "user": jsontext.Value(`"\u2066u"`), "n": jsontext.Value("1")},
	} {
		_, err := e.Expand(fields)
		refused(t, err, field)
		require.ErrorContains(t, err, "has the character U+20")
	}
	_, err := e.Expand(map[string]jsontext.Value{"star": jsontext.Value(`"s/"`), "user": jsontext.Value(`"u"`),
		"n": jsontext.Value("1")})
	refused(t, err, "star")
}

// Most ids are ASCII, and each is checked several times on its way.
func BenchmarkCheckMember(b *testing.B) {
	for _, id := range []string{"user-1234567890", "שחקן־1234567", strings.Repeat("x", 128)} {
		b.Run(fmt.Sprintf("%d bytes %.8s", len(id), id), func(b *testing.B) {
			for b.Loop() {
				if CheckMember(id) != nil {
					b.Fatal(id)
				}
			}
		})
	}
}
