//go:build !race

package process

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
	"rankcast/cmd/rankcast/internal/example"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	boards := e2etest.Write(t, "boards.yaml", string(example.Boards))
	got := e2etest.Run(t, "", "check", boards)
	got.Is(t, 0, boards+": 8 boards, 1 event\n", "")
	e2etest.Run(t, string(example.Boards), "check", "-").Is(t, 0, "-: 8 boards, 1 event\n", "")

	bad := e2etest.Write(t, "bad.yaml", "boards:\n  laps: {mode: most}\n  ok: {}\n  points: {keep: 3}\n")
	got = e2etest.Run(t, "", "check", boards, bad)
	require.Equal(t, 1, got.Code)
	require.Empty(t, got.Stdout)
	require.Contains(t, got.Stderr, "rankcast: "+bad+`: boards.laps.mode: is "most"`)
	require.Contains(t, got.Stderr, "\n          "+bad+": boards.points.keep: applies only")
	require.Equal(t, 2, strings.Count(got.Stderr, "\n"))

	// A board may be on the server, or in another of the files.
	event := e2etest.Write(t, "event.yaml", "events: {visit: [{board: stars, member: m, score: 1}]}")
	got = e2etest.Run(t, "", "check", event)
	require.Zero(t, got.Code, got.Stderr)
	require.Equal(t, event+": 1 event\n"+event+
		": events.visit[0].board: is for stars, which is not defined here: the server must have that board\n", got.Stdout)
	require.Equal(t, event+": 1 event\n"+boards+": 8 boards, 1 event\n", e2etest.Run(t, "", "check", event, boards).Stdout)
	union := e2etest.Write(t, "union.yaml", "boards: {all: {union: {of: [stars], last: 99}}}")
	e2etest.Run(t, "", "check", boards, union).Fails(t, 1, "these files: boards.all.union.last: is 99")

	// No two files define the same board or event: a family's placeholders may have other names.
	again := e2etest.Write(t, "again.yaml", `{boards: {laps: {}, "fans:{s}": {}}, events: {gift: [{board: laps, member: m, score: 1}]}}`)
	got = e2etest.Run(t, "", "check", boards, again)
	require.Equal(t, 1, got.Code)
	require.Empty(t, got.Stdout)
	for _, path := range []string{`boards["fans:{s}"]`, "boards.laps", "events.gift"} {
		require.Contains(t, got.Stderr, again+": "+path+": clashes with the definition of the same name in "+boards+"\n")
	}

	// An event may be an object; then its updates have a path of their own.
	sent := e2etest.Write(t, "sent.yaml",
		`events: {sent: {sender: user, fields: {n: {min: 1, max: 9}}, updates: [{board: stars, member: "{user}", score: "{n}"}]}}`)
	require.Equal(t, sent+": 1 event\n"+boards+": 8 boards, 1 event\n", e2etest.Run(t, "", "check", sent, boards).Stdout)
	require.Contains(t, e2etest.Run(t, "", "check", sent).Stdout, sent+": events.sent.updates[0].board: is for stars")
	got = e2etest.Run(t, "", "check", e2etest.Write(t, "wrong.yaml",
		`events: {sent: {sender: n, fields: {n: {min: 10, max: 9}}, updates: [{board: stars, member: m, score: "{n}"}]}}`))
	got.Fails(t, 1, "wrong.yaml: events.sent.sender: is n, which names no member")

	require.Equal(t, 1, e2etest.Run(t, "", "check", filepath.Join(t.TempDir(), "none.yaml")).Code)
	require.Equal(t, 80, e2etest.Run(t, "", "check").Code)
}

func TestPut(t *testing.T) {
	t.Parallel()
	p := e2etest.Launch(t)
	put := func(args ...string) e2etest.Ran {
		return e2etest.Run(t, "", append([]string{"put", "--server", "http://" + p.Addr}, args...)...)
	}
	definitions := func() string {
		return p.Request("GET", "/v1/boards", "").Body + p.Request("GET", "/v1/events", "").Body
	}
	put("points").Is(t, 0, "points: created\n", "")
	put("points", "{kind: player}").Is(t, 0, "points: changed\n", "")
	put("points", "{kind: player}").Is(t, 0, "points: unchanged\n", "")
	put("fans:{star}", "{kind: user}").Is(t, 0, "fans:{star}: created\n", "")
	got := put("laps", "{mode: best, order: asc}", "--json")
	got.Is(t, 0, `{"board":"laps","mode":"best","order":"asc","ties":"first","kind":"member"}`+"\n", "")

	before := definitions()
	for says, args := range map[string][]string{
		`laps: mode: is "most"`:           {"laps", "{mode: most}"},
		"laps: modes: is not a field":     {"laps", "{modes: best}"},
		"laps: definition: is a string":   {"laps", "best"},
		`My laps: board: is "My laps"`:    {"My laps"},
		"bad.yaml: boards.b.mode: is":     {"--file", e2etest.Write(t, "bad.yaml", "boards: {a: {}, b: {mode: most}}")},
		"union.yaml: boards.u.union.last": {"--file", e2etest.Write(t, "union.yaml", "boards: {a: {}, u: {union: {of: [a], last: 2}}}")},
		"read the boards file: open":      {"--file", "/nowhere.yaml"},
	} {
		got := put(args...)
		got.Fails(t, 1, says)
		require.Equal(t, before, definitions(), "nothing is changed by %v", args)
	}
	require.Equal(t, 80, put().Code)
	require.Equal(t, 80, put("points", "--file", "x").Code)
	for _, slip := range [][]string{{"b2.yaml"}, {"B2.YML"}, {"b2.yaml", "{}"}, {"doc.go"}} { // doc.go is beside this file
		put(slip...).Fails(t, 80, fmt.Sprintf("%q is a file and no board: did you mean --file %s?", slip[0], slip[0]))
	}
	require.Equal(t, "doc.go: created\n", put("doc.go", "{}").Stdout, "a definition shows that a board is meant")

	file := e2etest.Write(t, "boards.yaml", `
boards:
  all:           {union: {of: [points, stars]}}
  points:        {kind: player}
  stars:         {period: week}
  "fans:{star}": {kind: user, max: 5}
events:
  gift: [{board: stars, member: "{star}", score: 1}]
`)
	got = put("--file", file)
	got.Is(t, 0, "fans:{star}: changed\npoints: unchanged\nstars: changed\nall: created\nevent gift: created\n", "")
	file = e2etest.Write(t, "boards.yaml", string(example.Boards))
	require.Zero(t, put("--file", file).Code)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	got = e2etest.Run(t, string(text), "put", "--file", "-", "--server", "http://"+p.Addr)
	require.Equal(t, 9, strings.Count(got.Stdout, ": unchanged\n"), got.Stdout)

	// What the server alone can refuse is said with its place, and with what stays.
	p.Update("points", `{"member":"ana","score":1}`)
	got = put("--file", e2etest.Write(t, "late.yaml", "boards: {a: {}, points: {order: asc, kind: player}, z: {}}"))
	require.Equal(t, 1, got.Code)
	require.Equal(t, "a: created\n", got.Stdout)
	require.Contains(t, got.Stderr, "late.yaml: boards.points.order: would change the order")
	require.Contains(t, got.Stderr, "\n          1 of 3 definitions were put before this one\n")
	require.NotContains(t, definitions(), `"board":"z"`)
	object := e2etest.Write(t, "object.yaml",
		`events: {sent: {sender: user, fields: {b: {kind: user}, n: {min: 1, max: 9}, a: {kind: star}}, updates: [{board: stars, `+
			`member: "{user} {a} {b}", score: "{n}"}]}}`)
	put("--file", object).Is(t, 0, "event sent: created\n", "")
	put("--file", object).Is(t, 0, "event sent: unchanged\n", "")
	got = put("--file", e2etest.Write(t, "late.yaml", "events: {e: {updates: [{board: nope, member: m, score: 1}]}}"))
	got.Fails(t, 1, "late.yaml: events.e.updates[0].board: is for nope")
	got = put("--file", e2etest.Write(t, "late.yaml", "events: {e: [{board: nope, member: m, score: 1}]}"))
	got.Fails(t, 1, "late.yaml: events.e[0].board: is for nope", "0 of 1 definitions")
}
