package definition

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
)

// One run of a check shows each definition that is wrong.
func TestFileWithSeveralMistakes(t *testing.T) {
	t.Parallel()
	_, err := ParseFile([]byte(`
boards:
  a: {mode: most}
  b: {}
  c: {keep: x}
  "a:{x}": {}
  "a:{y}": {}
more: 1
events:
  gift: [{board: b, member: m}]
  visit: [{board: b, member: m, score: 1}]
`))
	var fields []string
	var collect func(error)
	collect = func(err error) {
		if joined, ok := err.(interface{ Unwrap() []error }); ok {
			for _, e := range joined.Unwrap() {
				collect(e)
			}
			return
		}
		fe, ok := errors.AsType[*FieldError](err)
		require.True(t, ok, "%v", err)
		fields = append(fields, fe.Field)
	}
	collect(err)
	require.Equal(t, []string{"boards.a.mode", "boards.c.keep", `boards["a:{y}"]`, "more", "events.gift[0].score"}, fields)
}

func TestReferencesOfAFile(t *testing.T) {
	t.Parallel()
	check := func(file string) (missing []string, err error) {
		defs := redistest.Must(ParseFile([]byte(file)))(t)
		elsewhere, err := defs.CheckReferences()
		for _, m := range elsewhere {
			missing = append(missing, m.Error())
		}
		return missing, err
	}
	missing, err := check(`
boards:
  week: {period: week, keep: 4}
  hot:  {window: 3h}
  sum:  {union: {of: [week, hot]}}
  far:  {union: {of: [week, away]}}
events:
  gift:
    - {board: week, member: m, score: 1}
    - {board: "fans:{star}", member: m, score: 1}
`)
	require.NoError(t, err)
	require.Equal(t, []string{
		"boards.far.union.of[1]: is for away, which is not defined here",
		"events.gift[1].board: is for fans:{star}, which is not defined here",
	}, missing)
	missing, err = check(`
boards:
  week: {period: week, keep: 4}
  hot:  {window: 3h}
  sum:  {union: {of: [week], last: 6}}
events:
  gift:
    - {board: sum, member: m, score: 1}
    - {board: hot, member: m, score: 1, data: {a: 1}}
`)
	require.Empty(t, missing)
	for _, says := range []string{"boards.sum.union.last: is 6; want at most 5", "events.gift[0].board: is for sum, a union",
		"events.gift[1].data: does not apply to hot"} {
		require.ErrorContains(t, err, says)
	}
}

func TestBoardInYAML(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Board{
		"":                         {},
		"  # nothing\n":            {},
		"~":                        {},
		"{}":                       {},
		"{mode: best, order: asc}": {Mode: Best, Order: Asc},
		"mode: best\norder: asc":   {Mode: Best, Order: Asc},
		`{"mode": "best"}`:         {Mode: Best},
		"{window: 3h}":             {Window: 3 * day / 24},
	} {
		got := redistest.Must(ParseBoardYAML("laps", []byte(text)))(t, text)
		want.Name = "laps"
		want := redistest.Must(want.Normalize())(t)
		require.Equal(t, want, got, text)
	}
	for text, field := range map[string]string{
		"best":               "",
		"[mode]":             "",
		"{mode: best":        "",
		"{}\n---\n{}":        "",
		"{mode: most}":       "mode",
		"{modes: best}":      "modes",
		"{board: other}":     "board",
		"{display: {x: 1}}":  "display.x",
		"{union: {of: [1]}}": "union.of[0]",
	} {
		refused(t, redistest.ErrorOf(ParseBoardYAML("laps", []byte(text))), field, text)
	}
	refused(t, redistest.ErrorOf(ParseBoardYAML("My laps", nil)), "board", "a name")
}
