package definition

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
)

// The error of a slip names the path or the line of the slip. The decoder says what it wants, or quotes the parser.
func TestSlipsInAFile(t *testing.T) {
	t.Parallel()
	const wantObject = `; want an object with the fields of a board, or {} for the defaults`
	for file, want := range map[string]string{
		"boards:\n  points: {display: {decimals 2}}\n": `boards.points.display["decimals 2"]: is not a field of display; ` +
			`want unit, decimals, format; between a field and its value want ": "`,
		"boards: {points: {display: {decimals:2}}}": `boards.points.display["decimals:2"]: is not a field of display; ` +
			`want unit, decimals, format; between a field and its value want ": "`,
		"boards: {points: {display: {decimals = 2}}}": `boards.points.display["decimals = 2"]: is not a field of display; ` +
			`want unit, decimals, format; between a field and its value want ": "`,
		"boards: {points: {display: {decimal: 2}}}": `boards.points.display.decimal: is not a field of display; ` +
			`want unit, decimals, format`,
		"events: {gift: [{board stars, member: m, score: 1}]}": `events.gift[0]["board stars"]: is not a field of an update; ` +
			`want board, member, score, columns, op, if, data; between a field and its value want ": "`,
		"boards = {}: {}\n": `["boards = {}"]: is not a field of a boards file; want boards or events; ` +
			`between a field and its value want ": "`,
		"boards:\n  points:\n    mode best\n":    `boards.points: is a string` + wantObject,
		"boards:\n  points:\n    - mode: best\n": `boards.points: is a list` + wantObject,
		"boards:\n  - points: {}\n":              `boards: is a list; want board names with their fields, such as {stars: {}}`,
		"boards:\n  {star}: {}\n": `boards: has a key that is not a name, in line 2; a name with ` +
			`braces needs quotes, such as "fans:{star}"`,
		"boards:\n  a: {}\n  b: {}\n  a: {}\n":    `boards.a: is given twice, in lines 2 and 4`,
		"boards:\n  a: {mode: best, mode: sum}\n": `boards.a.mode: is given twice, in lines 2 and 2`,
		"boards:\n  a: {}\nboards:\n  b: {}\n":    `boards: is given twice, in lines 1 and 3`,
		"events:\n  e: [{board: a, member: {user}, score: 1}]\n": `events.e[0].member: is an object; want a string: ` +
			`put quotes around "{user}"`,
		"boards:\n  a: {title: \"T\xff\"}\n": `file: is not UTF-8 in line 2: "a: {title: \"T\xff\"}"`,
		// What the parser does not take has its line, and the words of the parser.
		"boards:\n\tpoints: {}\n":    `file: is not valid YAML in line 2: found character that cannot start any token: points: {}`,
		"boards:\n  a: mode: best\n": `file: is not valid YAML in line 2: mapping values are not allowed in this context: a: mode: best`,
		"boards:\n  a: {mode: best\n  b: {}\n": `file: is not valid YAML in line 3: did not find expected ',' or '}', while ` +
			`parsing a flow mapping from line 2: b: {}`,
		"boards:\n  a: {title: \"a\\q\"}\n": `file: is not valid YAML in line 2: found unknown escape character: a: {title: "a\q"}`,
		"boards: {": `file: is not valid YAML: go-yaml load error in parser (while parsing a flow ` +
			`node) at L2.C1: did not find expected node content`,
		"boards:\n  points {}\n":         `boards: is a string; want board names with their fields, such as {stars: {}}`,
		"boards:\n  laps:{mode: best}\n": `boards["laps:{mode"]: is a string` + wantObject,
		"points: {mode: best}\n":         `points: is not a field of a boards file; want boards or events`,
	} {
		require.EqualError(t, redistest.ErrorOf(ParseFile([]byte(file))), want, file)
	}
	_, err := ParseFile([]byte("boards:\n  my points: {}\n"))
	require.ErrorContains(t, err, `boards["my points"]: is "my points"; want 1 to 64 characters`)
	_, err = ParseFile([]byte("boards:\n  Points: {}\n"))
	require.ErrorContains(t, err, `boards.Points: is "Points"; want 1 to 64 characters`)
	_, err = ParseBoard("a", []byte(`{"mode": ["best"]}`))
	require.EqualError(t, err, "mode: is a list; want a string")
	for body, field := range map[string]string{`{"title":{"en":"A\ud83d"}}`: "title.en", "{\"kind\":\"\xff\"}": "kind",
		`{"history":{"tops":[1,"\ud83d"]}}`: "history.tops[1]"} {
		_, err = ParseBoard("a", []byte(body))
		require.EqualError(t, err, field+": is not well-formed text: it has half of a character, as an emoji that was cut in two")
	}
}
