package definition

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A likely slip gets the line where it is, and the hint that repairs it.
func TestSlipsInAFile(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"boards:\n\tpoints: {}\n":                                `file: has a tab in line 2; want spaces`,
		"boards:\n  points:\n\tmode: best\n":                     `file: has a tab in line 3; want spaces`,
		"boards:\n  points: {mode best}\n":                       `boards.points.mode: lacks a colon and a space in line 2; want mode: best`,
		"boards:\n  points: {order: asc, mode best}\n":           `boards.points.mode: lacks a colon and a space in line 2; want mode: best`,
		"boards:\n  points: {mode:best}\n":                       `boards.points.mode: lacks a colon and a space in line 2; want mode: best`,
		"boards:\n  points: {mode = best}\n":                     `boards.points.mode: lacks a colon and a space in line 2; want mode: best`,
		"boards:\n  points: {display: {decimals 2}}\n":           `boards.points.display.decimals: lacks a colon and a space in line 2; want decimals: 2`,
		"boards:\n  all: {union: {last 2}}\n":                    `boards.all.union.last: lacks a colon and a space in line 2; want last: 2`,
		"boards:\n  points {}\n":                                 `boards: lacks a colon in line 2: points {}; want points: {}`,
		"boards:\n  points {}\n  laps {}\n":                      `boards: lacks a colon in line 2: points {} laps {}; want points: {}`,
		"boards:\n  points {}\n  laps: {}\n":                     `file: lacks a colon in line 2: points {}; want points: {}`,
		"boards:\n  laps: {}\n  points {}\n":                     `file: lacks a colon in line 3: points {}; want points: {}`,
		"boards:\n  points {mode: best}\n":                       `boards.points: lacks a colon in line 2; want points: {mode: …}`,
		"boards:\n  points:\n    mode best\n":                    `boards.points.mode: lacks a colon and a space in line 3; want mode: best`,
		"boards:\n  points:\n    mode best\n    order: asc\n":    `file: lacks a colon in line 3: mode best`,
		"boards:\n  points:\n    mode: best\n    order asc\n":    `file: lacks a colon in line 4: order asc`,
		"boards:\n  points:\n    - mode: best\n":                 `boards.points: is a list; want an object with the fields of a board, or {} for the defaults; omit the hyphens or brackets in line 3`,
		"boards:\n  - points: {}\n":                              `boards: is a list; want board names with their fields, such as {stars: {}}; omit the hyphens or brackets in line 2`,
		"boards: {fans:{star}: {kind: user}}\n":                  `file: has a name with braces and no quotes in line 1; want "fans:{star}"`,
		"boards:\n  {star}: {}\n":                                `boards: has a key that is not a name, in line 2; a name with braces needs quotes, such as "fans:{star}"`,
		"boards:\n  a: {}\n  b: {}\n  a: {}\n":                   `boards.a: is given twice, in lines 2 and 4`,
		"boards:\n  a: {mode: best, mode: sum}\n":                `boards.a.mode: is given twice, in line 2`,
		"boards:\n  a: {}\nboards:\n  b: {}\n":                   `boards: is given twice, in lines 1 and 3`,
		"events:\n  e: [{board: a, member: {user}, score: 1}]\n": `events.e[0].member: is an object; want a string; put quotes around "{user}" in line 2`,
		"events:\n  e: [{board: fans:{star}, member: m}]\n":      `file: has a name with braces and no quotes in line 2; want "fans:{star}"`,
		"events:\n  e: [{board a, member: m, score: 1}]\n":       `events.e[0].board: lacks a colon and a space in line 2; want board: a`,
		"events:\n  e: [{board: a, member: @user, score: 1}]\n":  `file: has a value in line 2 that begins with '@'; want quotes around it`,
		"boards:\n  a: {mode: [*]}\n":                            `file: has a * or an & without quotes in line 2; want "*"`,
		"boards:\n  a: {mode: best\n  b: {}\n":                   `file: lacks a comma between two fields, or a closing brace, in line 2: a: {mode: best`,
		"boards:\n  a: {mode: best order: asc}\n":                `file: lacks a comma between two fields, or a closing brace, in line 2: a: {mode: best order: asc}`,
		"boards:\n  a: mode: best\n":                             `file: has one colon too many in line 2: a: mode: best; want braces around several fields, such as {mode: best}`,
		"boards:\n  # laps of the day\n  laps: mode: best\n":     `file: has one colon too many in line 3: laps: mode: best; want braces around several fields, such as {mode: best}`,
		"# my boards\nboards: laps: {}\n":                        `file: has one colon too many in line 2: boards: laps: {}; want braces around several fields, such as {mode: best}`,
		"boards:\n  points\n    mode: best\n":                    `file: lacks a colon in line 2: points`,
		"boards:\n  points\n\n    mode: best\n":                  `file: lacks a colon in line 2: points`,
		"boards:\n  laps:{mode: best}\n":                         `boards.laps: lacks a space after the colon in line 2; want laps: {mode: …}`,
		"boards:{laps: {}}\n":                                    `file: lacks a space after the colon in line 1: boards:{laps: {}}`,
		"boards:\n  laps:{}\n  points: {}\n":                     `file: lacks a space after the colon in line 2: laps:{}`,
		"boards:\n  laps:{mode: best, order: asc}\n":             `file: lacks a space after the colon in line 2: laps:{mode: best, order: asc}`,
		"boards:\n  \"fans:{star}\":{kind: user}\n":              `file: lacks a space after the colon in line 2: "fans:{star}":{kind: user}`,
		"boards: {laps:{mode: best}}\n":                          `file: lacks a space after the colon in line 1: boards: {laps:{mode: best}}`,
		"boards:\n  fans:{star}: {}\n  a: mode: best\n":          `file: has one colon too many in line 3: a: mode: best; want braces around several fields, such as {mode: best}`,
		"boards:\n  a: {mode: \"best}\n":                         `file: has a quote in line 2 that is never closed: a: {mode: "best}`,
		"boards:\n  a: {title: \"a\\q\"}\n":                      `file: has a \ in line 2 with which no escape of YAML begins; want the character itself, or \\ for a \: a: {title: "a\q"}`,
		"boards:\n  a: {title: \"a\\x\"}\n":                      `file: has a \ in line 2 with which no escape of YAML begins; want the character itself, or \\ for a \: a: {title: "a\x"}`,
		`{"boards":{"a":{"title":"a\ud83d"}}}`:                   `file: has a \ in line 1 with which no escape of YAML begins; want the character itself, or \\ for a \: {"boards":{"a":{"title":"a\ud83d"}}}`,
		"boards:\n  a: {title: \"T\xff\"}\n":                     `file: is not UTF-8 in line 2: "a: {title: \"T\xff\"}"`,
		"boards:\n  a: {}\n b: {}\n":                             `file: is not valid YAML in line 3: b: {}; compare its indentation and braces with the lines around it`,
		"points: {mode: best}\n":                                 `points: is not a field of a boards file; want boards or events; a board stands under boards, indented`,
		"boards: {":                                              `file: is not valid YAML in line 2: did not find expected node content`,
	} {
		_, err := ParseFile([]byte(file))
		require.EqualError(t, err, want, file)
	}
	_, err := ParseFile([]byte("boards:\n  my points: {}\n"))
	require.ErrorContains(t, err, `boards["my points"]: has a space; want 1 to 64 characters`)
	_, err = ParseFile([]byte("boards:\n  Points: {}\n"))
	require.ErrorContains(t, err, `boards.Points: has a capital letter; want 1 to 64 characters`)
	_, err = ParseBoard("a", []byte(`{"mode": ["best"]}`))
	require.EqualError(t, err, "mode: is a list; want a string", "JSON has no such hints")
	for body, field := range map[string]string{`{"title":{"en":"A\ud83d"}}`: "title.en", "{\"kind\":\"\xff\"}": "kind", `{"history":{"tops":[1,"\ud83d"]}}`: "history.tops[1]"} {
		_, err = ParseBoard("a", []byte(body))
		require.EqualError(t, err, field+": is not well-formed text: it has half of a character, as an emoji that was cut in two")
	}
}
