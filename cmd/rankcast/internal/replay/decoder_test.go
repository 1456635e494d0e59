package replay

import (
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
)

func TestParseTime(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		`"2026-11-20T08:00:00Z"`: at, `"2026-11-20T16:00:00.250+08:00"`: at.Add(250 * time.Millisecond), `"2026-11-20"`: at.Add(-8 * time.Hour),
		`1795161600250`: at.Add(250 * time.Millisecond), `"1795161600250"`: at.Add(250 * time.Millisecond), `-1000`: time.Unix(-1, 0),
	} {
		got, err := parseTime(jsontext.Value(text))
		require.NoError(t, err)
		require.True(t, want.Equal(got), "%s: %v", text, got)
	}
	for _, bad := range []string{`"20.11.2026"`, `""`, `1.5`, `null`, `true`, `[]`, `"08:00"`} {
		_, err := parseTime(jsontext.Value(bad))
		require.ErrorContains(t, err, "want a time", bad)
	}
}

// Members and request ids are refused as a server refuses them. Of several faults the first is told.
func TestTextsThatAreRefused(t *testing.T) {
	t.Parallel()
	rec := (&Command{Board: "b", Member: "member", Score: "score"}).newDecoder()
	long := strings.Repeat("x", definition.MaxIDBytes)
	for text, want := range map[string]string{
		`""`:                   "is empty; want 1 to 128 bytes of UTF-8",
		`"` + long + `x"`:      "has 129 bytes; want 1 to 128",
		`"` + long + `\u0007"`: "has 129 bytes; want 1 to 128",
		`"a\u0007"`:            "has the control character U+0007",
		`"a\u0085b"`:           "has the control character U+0085",
		"\"a\xff\"":            "is \"a\xff\"; want a string",
		`7`:                    "is 7; want a string",
		`null`:                 "is null; want a string",
	} {
		for _, field := range []string{rec.Member, rec.id} {
			line := fields{"member": jsontext.Value(`"ann"`), "score": jsontext.Value("3")}
			line[field] = jsontext.Value(text)
			_, err := rec.newRecord(7, line)
			require.EqualError(t, err, field+": "+want)
		}
	}
	for _, text := range []string{`"` + long + `"`, `"名前 🏆"`} {
		_, err := rec.newRecord(7, fields{"member": jsontext.Value(text), "score": jsontext.Value("3")})
		require.NoError(t, err)
	}
}
