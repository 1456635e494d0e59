package definition

import (
	"fmt"
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
		"40.0":                    "score: is 40.0; want an integer: write 40",
		"-7.000":                  "score: is -7.000; want an integer: write -7",
		"0.01":                    "milliseconds",
		"1e3":                     "score: is 1e3; want an integer in plain digits, without a fraction or an exponent",
		"1.5E-3":                  "score: is 1.5E-3; want an integer in plain digits",
		"1e999":                   "score: is 1e999; want an integer in plain digits",
		" 5":                      `score: is " 5"; want an integer in plain digits`,
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
	e := redistest.Must(Event{Name: "e", Updates: []Target{{Board: "a", Member: "m", Score: "{n}"}}}.Normalize())(t)
	for number, want := range map[string]string{
		"61.5": ": is 61.5; want an integer: send seconds as milliseconds with display.format time_ms",
		"40.0": ": is 40.0; want an integer: write 40",
		"1e3":  ": is 1e3; want an integer in plain digits, without a fraction or an exponent",
	} {
		for _, file := range []string{
			"boards: {a: {min: %s}}",
			"boards: {a: {max: %s}}",
			"events: {e: [{board: a, member: m, score: %s}]}",
			"events: {e: {fields: {n: {max: %s}}, updates: [{board: a, member: m, score: \"{n}\"}]}}",
		} {
			file = fmt.Sprintf(file, number)
			require.ErrorContains(t, redistest.ErrorOf(ParseFile([]byte(file))), want, file)
		}
		_, err := ParseBoard("a", []byte(`{"max":`+number+`}`))
		require.ErrorContains(t, err, "max"+want)
		_, err = e.Expand(map[string]jsontext.Value{"n": jsontext.Value(number)})
		require.ErrorContains(t, err, "n"+want)
	}
}
