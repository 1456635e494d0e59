package definition

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
)

// unsafeRunes are the characters that no created text may have, and that an old one may.
var unsafeRunes = []rune("\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")

// What a request creates has a stricter rule than what it names.
func TestTexts(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"s17", "Jun Li", "日本", "שלום", "أحمد", "👩\u200d🚀", "می\u200cخواهم", "क\u094d\u200dष", "a\u200eb", "\u200fא", "e\u0301",
		"\u00a0a", "\u061cא", "~", "  -", "\u2027", "x\u202f", "\u2065x", "x\u206a", "\ufeffx", "\u0600", "\u200b\u3164é", "\u0301", "\ue000",
		strings.Repeat("x", 128), strings.Repeat("é", 64),
	} {
		require.NoError(t, CheckMember(s), "%q", s)
		require.NoError(t, CheckNewMember(s), "%q", s)
		require.Empty(t, NewTextFault(s, 128), "%q", s)
	}
	for _, s := range []string{
		"", "\x00", "a\x1f", "a\tb", "a\nb", "\x7f", "\u0080", "é\u0085", "\u009f", "\xff", "a\xc3", "\xed\xa0\x80", "\xed\xbf\xbfx",
		"\xc0\xaf", "\xf4\x90\x80\x80",
		strings.Repeat("x", 129), strings.Repeat("é", 65),
	} {
		refused(t, CheckMember(s), "member", "%q", s)
		refused(t, CheckNewMember(s), "member", "%q", s)
		require.NotEmpty(t, NewTextFault(s, 128), "%q", s)
	}
	for _, r := range unsafeRunes {
		for _, s := range []string{string(r), "a" + string(r), string(r) + "a", "é" + string(r) + "א"} {
			require.NoError(t, CheckMember(s), "%q", s)
			require.Empty(t, TextFault(s, 128), "%q", s)
			refused(t, CheckNewMember(s), "member", "%q", s)
			require.Contains(t, NewTextFault(s, 128), fmt.Sprintf("has the character %U", r))
		}
	}
}

// No request creates or reaches a member whose id is a segment that paths resolve.
func TestMembersThatPathsResolve(t *testing.T) {
	t.Parallel()
	for _, id := range []string{".", ".."} {
		refused(t, CheckMember(id), "member", "%q", id)
		refused(t, CheckNewMember(id), "member", "%q", id)
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
		require.Empty(t, NewTextFault(id, 128), "a title or a reason may be one")
	}
	require.NoError(t, CheckNewMember("..."))
}

// Callers may read an invisible text, and may not create one.
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
		require.NoError(t, CheckMember(s), "%q", s)
		refused(t, CheckNewMember(s), "member", "%q", s)
		require.Equal(t, "has only spaces and invisible characters", NewTextFault(s, 128), "%q", s)
		n := redistest.Must(ParseName("fans:x:"+s))(t, "%q", s)
		refused(t, n.CheckNew(), "board", "%q", s)
	}
}

// A name that reads may have is not one that writes may create.
func TestNewInstances(t *testing.T) {
	t.Parallel()
	for _, r := range unsafeRunes {
		n := redistest.Must(ParseName("fans:x:a" + string(r)))(t)
		refused(t, n.CheckNew(), "board")
		require.ErrorContains(t, n.CheckNew(), fmt.Sprintf("part 2 has the character %U", r))
	}
	n := redistest.Must(ParseName("fans:\u200fא"))(t)
	require.NoError(t, n.CheckNew())
}

// A definition from before the rule still loads, and none comes with a request or a file.
func TestNewDefinitions(t *testing.T) {
	t.Parallel()
	board := func(body string) Board {
		return redistest.Must(ParseBoard("b", []byte(body)))(t)
	}
	refused(t, board(`{"display":{"unit":"p\u202e"}}`).CheckNew(), "display.unit")
	refused(t, board(`{"union":{"of":["a:x","a:\u2066"]}}`).CheckNew(), "union.of[1]")
	refused(t, board(`{"union":{"of":["a:x","a: "]}}`).CheckNew(), "union.of[1]")
	refused(t, board(`{"display":{"unit":"\u3164"}}`).CheckNew(), "display.unit")
	require.NoError(t, board(`{"display":{"unit":"\u200fנק"},"union":{"of":["a:x"]}}`).CheckNew())
	for field, update := range map[string]string{
		"updates[0].board":  `{"board":"fans:\u202ex","member":"m","score":1}`,
		"updates[0].member": `{"board":"b","member":"m\u2028","score":1}`,
	} {
		e := redistest.Must(ParseEvent("e", []byte(`{"updates":[`+update+`]}`)))(t)
		refused(t, e.CheckNew(), field)
	}
	for _, file := range []string{"boards: {b: {display: {unit: \"p\\u202e\"}}}",
		"boards: {b: {}}\nevents: {e: [{board: b, member: \"m\\u2029\", score: 1}]}"} {
		require.ErrorContains(t, redistest.ErrorOf(ParseFile([]byte(file))), "has the character U+202", file)
	}
	require.ErrorContains(t, redistest.ErrorOf(ParseBoardYAML("b", "{display: {unit: \"p\\u202e\"}}")), "has the character U+202E")
}

// An event creates what its fields name; an event that has counted is expanded as it was.
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
		updates := redistest.Must(e.ExpandRecorded(fields))(t)
		require.Len(t, updates, 1)
	}
	_, err := e.ExpandRecorded(map[string]jsontext.Value{"star": jsontext.Value(`"s/"`), "user": jsontext.Value(`"u"`),
		"n": jsontext.Value("1")})
	refused(t, err, "star")
}

// Most ids are ASCII, and each is checked several times on its way.
func BenchmarkCheckNewMember(b *testing.B) {
	for _, id := range []string{"user-1234567890", "שחקן־1234567", strings.Repeat("x", 128)} {
		b.Run(fmt.Sprintf("%d bytes %.8s", len(id), id), func(b *testing.B) {
			for b.Loop() {
				if CheckNewMember(id) != nil {
					b.Fatal(id)
				}
			}
		})
	}
}
