package definition

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
)

func TestParseScore(t *testing.T) {
	t.Parallel()
	for digits, want := range map[string]int64{"0": 0, "-0": 0, "61500": 61500, "-9007199254740991": -MaxScore, "9007199254740991": MaxScore} {
		n := redistest.Must(ParseScore("score", digits))(t, digits)
		require.Equal(t, want, n)
	}
	for digits, says := range map[string]string{
		"61.5":                    "score: is 61.5; want an integer: send seconds as milliseconds with display.format time_ms",
		"-0.5":                    "milliseconds",
		"40.0":                    "score: is 40.0; want an integer: send",
		"-7.000":                  "want an integer",
		"0.01":                    "milliseconds",
		"1e3":                     `score: is "1e3"; want an integer, without fraction or exponent`,
		"1.5E-3":                  "exponent",
		"three":                   `score: is "three"; want an integer`,
		"":                        `score: is ""; want an integer`,
		"9007199254740992":        "want an integer within ±9007199254740991",
		"-9007199254740992":       "want an integer within ±9007199254740991",
		"99999999999999999999999": "want an integer within ±9007199254740991",
	} {
		require.ErrorContains(t, redistest.ErrorOf(ParseScore("score", digits)), says, digits)
	}
	require.ErrorIs(t, redistest.ErrorOf(ParseScore("score", "9007199254740992")), ErrOutOfRange)
	require.ErrorIs(t, redistest.ErrorOf(ParseScore("score", "61.5")), ErrInvalid)
}

// Wherever a score may stand, a fraction gets the hint.
func TestFractionsGetAHint(t *testing.T) {
	t.Parallel()
	for _, file := range []string{
		"boards: {a: {min: 61.5}}",
		"boards: {a: {max: 61.5}}",
		"events: {e: [{board: a, member: m, score: 61.5}]}",
	} {
		require.ErrorContains(t, redistest.ErrorOf(ParseFile([]byte(file))), "send seconds as milliseconds", file)
	}
	e := redistest.Must(Event{Name: "e", Updates: []Target{{Board: "a", Member: "m", Score: "{n}"}}}.Normalize())(t)
	_, err := e.Expand(map[string]jsontext.Value{"n": jsontext.Value("61.5")})
	require.ErrorContains(t, err, "n: is 61.5; want an integer: send seconds as milliseconds")
}
