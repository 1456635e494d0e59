package definition

import (
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
)

// starFile is a boards file as an operator writes one.
const starFile = `
boards:
  stars:           {period: week, timezone: Asia/Shanghai, kind: star}
  "fans:{star}":   {period: day, timezone: Asia/Shanghai, keep: 30, kind: user, day_starts_at: 04:00}
  laps:            {mode: best, order: asc, display: {format: time_ms}}
  plain:           # the defaults
  empty:           {}
  2026:            {period: 36h, base: 2026-01-01T00:00:00Z}
  cup:
    starts: 2026-11-20T20:00:00+08:00
    ends:   '2026-11-22T20:00:00+08:00'
    min: 0
    max: 9_000
events:
  gift:
    - {board: stars,         member: "{star}", score: "{flowers}"}
    - {board: "fans:{star}", member: "{user}", score: "{flowers}", data: {with: ["{note}", 1.50, true]}}
    - board: plain
      member: all
      score: -1
      op: last
      if: absent
  visit:
    - {board: plain, member: all, score: 1}
`

func TestFile(t *testing.T) {
	t.Parallel()
	_, err := ParseFile([]byte(starFile))
	refused(t, err, "boards.cup.max") // YAML would take 9_000 for 9000, JSON for none
	defs := redistest.Must(ParseFile([]byte(strings.ReplaceAll(starFile, "9_000", "9000"))))(t)

	board := func(d Board) Board {
		d = redistest.Must(d.Normalize())(t)
		return d
	}
	require.Equal(t, []Board{
		board(Board{Name: "2026", Period: "36h", Base: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}),
		board(Board{Name: "cup", Starts: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC), Ends: time.Date(2026, 11, 22, 12, 0, 0, 0,
			time.UTC), Min: new(int64(0)), Max: new(int64(9000))}),
		board(Board{Name: "empty"}),
		board(Board{Name: "fans:{star}", Period: "day", Timezone: "Asia/Shanghai", Keep: new(30), Kind: "user", DayStartsAt: "04:00"}),
		board(Board{Name: "laps", Mode: Best, Order: Asc, Display: Display{Format: "time_ms"}}),
		board(Board{Name: "plain"}),
		board(Board{Name: "stars", Period: "week", Timezone: "Asia/Shanghai", Kind: "star"}),
	}, defs.Boards)

	event := func(e Event) Event {
		e = redistest.Must(e.Normalize())(t)
		return e
	}
	require.Equal(t, []Event{
		event(Event{Name: "gift", Updates: []Target{
			{Board: "stars", Member: "{star}", Score: "{flowers}"},
			{Board: "fans:{star}", Member: "{user}", Score: "{flowers}", Data: jsontext.Value(`{"with":["{note}",1.50,true]}`)},
			{Board: "plain", Member: "all", Score: "-1", Op: Last, If: Absent},
		}}),
		event(Event{Name: "visit", Updates: []Target{{Board: "plain", Member: "all", Score: "1"}}}),
	}, defs.Events)
}

// Words that are shared can be written once.
func TestFileWithAliases(t *testing.T) {
	t.Parallel()
	defs, err := ParseFile([]byte(`
boards:
  a: &weekly {period: week, timezone: Asia/Tokyo, keep: 4}
  b: *weekly
  c: {period: week, timezone: &tokyo Asia/Tokyo, keep: 2}
  d: {period: week, timezone: *tokyo, keep: 1}
`))
	require.NoError(t, err)
	var keep []int
	for _, d := range defs.Boards {
		require.Equal(t, "week", d.Period)
		require.Equal(t, "Asia/Tokyo", d.Timezone)
		keep = append(keep, *d.Keep)
	}
	require.Equal(t, []int{4, 4, 2, 1}, keep)
}

func TestImpossibleFilesAreRefused(t *testing.T) {
	t.Parallel()
	for file, field := range map[string]string{
		"":                                                      "file",
		"# nothing\n":                                           "file",
		"boards: {":                                             "file",
		"- boards":                                              "file",
		"boards":                                                "file",
		"~":                                                     "file",
		"{}":                                                    "file",
		"boards: {a: {}}\n---\n":                                "file",
		"boards: {a: *b}":                                       "file",
		"boards: {a: {}}\x00":                                   "file",
		"board: {a: {}}":                                        "board",
		"boards: {a: {}}\nx y: 1":                               `["x y"]`,
		"boards:":                                               "boards",
		"boards: {}":                                            "boards",
		"boards: [a]":                                           "boards",
		"boards: {a: {}}\nboards:":                              "boards",
		"boards: {a: sum}":                                      "boards.a",
		"boards: {a: [mode]}":                                   "boards.a",
		"boards: {A: {}}":                                       "boards.A",
		"boards: {? [a] : {}}":                                  "boards",
		"boards: {~: {}}":                                       "boards",
		"boards: {'': {}}":                                      `boards[""]`,
		"boards: {'a/b': {}}":                                   `boards["a/b"]`,
		"boards: {f1.2026: {x: 1}}":                             `boards["f1.2026"].x`,
		"boards: {'fans:star': {}}":                             `boards["fans:star"]`,
		"boards: {a: {}, a: {mode: sum}}":                       "boards.a",
		"boards: {a: {mode: sum, mode: a}}":                     "boards.a.mode",
		"boards: {a: {}}\n}":                                    "file",
		"boards: {a: {kind: !!bool yes}}":                       "boards.a.kind",
		"boards: {a: !!map x}":                                  "boards.a",
		"boards: {a: !!str {mode: sum}}":                        "boards.a",
		"boards: {a: {mode: !!seq sum}}":                        "boards.a.mode",
		"boards: {a: {mode: sum, mode: best}}":                  "boards.a.mode",
		"boards: {a: {}, b: {<<: {}, <<: {}}}":                  `boards.b["<<"]`,
		"boards: {a: {<<: {mode: sum}}}":                        `boards.a["<<"]`,
		"boards: {a: {mode: most}}":                             "boards.a.mode",
		"boards: {a: {modes: sum}}":                             "boards.a.modes",
		"boards: {a: {'a b': sum}}":                             `boards.a["a b"]`,
		"boards: {a: {ties: 3}}":                                "boards.a.ties",
		"boards: {a: {order: ''}}":                              "boards.a.order",
		"boards: {a: {order: }}":                                "boards.a.order",
		"boards: {a: {mode: !new sum}}":                         "boards.a.mode",
		"boards: {a: {mode: !!binary c3Vt}}":                    "boards.a.mode",
		"boards: {a: {board: b}}":                               "boards.a.board",
		"boards: {a: {display: {unit: 3}}}":                     "boards.a.display.unit",
		"boards: {a: {display: {decimals: 9}}}":                 "boards.a.display.decimals",
		"boards: {'fans:{star}': {period: never}}":              `boards["fans:{star}"].period`,
		"boards: {'fans:{star}': {max_instances: 0}}":           `boards["fans:{star}"].max_instances`,
		"boards: {a: {period: day, keep: 0x10}}":                "boards.a.keep",
		"boards: {a: {period: day, keep: 010}}":                 "boards.a.keep",
		"boards: {a: {period: day, keep: +1}}":                  "boards.a.keep",
		"boards: {a: {period: day, keep: 1.0}}":                 "boards.a.keep",
		"boards: {a: {period: day, keep: 1e1}}":                 "boards.a.keep",
		"boards: {a: {period: day, keep: '1'}}":                 "boards.a.keep",
		"boards: {a: {period: day, keep: !!int x}}":             "boards.a.keep",
		"boards: {a: {max: .inf}}":                              "boards.a.max",
		"boards: {a: {period: day, day_starts_at: 4:00}}":       "boards.a.day_starts_at",
		"boards: {a: {period: day, day_starts_at: 04:00:00}}":   "boards.a.day_starts_at",
		"boards: {a: {period: day, day_starts_at: 4}}":          "boards.a.day_starts_at",
		"boards: {a: {period: 36h, base: 2026-01-01}}":          "boards.a.base",
		"boards: {a: {period: 36h, base: 2026-01-01 00:00:00}}": "boards.a.base",
		"boards: {a: {retain: 7}}":                              "boards.a.retain",
		"boards: {'a:{x}': {}, 'a:{y}': {}}":                    `boards["a:{y}"]`,
		"boards: {a: &a {display: *a}}":                         "boards.a.display" + strings.Repeat(".display", 30),
		"boards: {a: {<<: {}, '<<': {}}}":                       `boards.a["<<"]`,
		"boards: {a: " + strings.Repeat("[", 40) + strings.Repeat("]", 40) + "}": "boards.a" + strings.Repeat("[0]", 31),

		"events:":                       "events",
		"events: []":                    "events",
		"events: {gift: }":              "events.gift",
		"events: {gift: []}":            "events.gift",
		"events: {gift: {}}":            "events.gift.updates",
		"events: {gift: {updates: []}}": "events.gift.updates",
		"events: {gift: {updates: [{board: a, member: m, score: 1}, {board: b, member: m, score: x}]}}":   "events.gift.updates[1].score",
		"events: {gift: {updates: [{board: a, member: m, score: 1}], sender: user}}":                      "events.gift.sender",
		"events: {gift: {sender: [user], updates: [{board: a, member: '{user}', score: 1}]}}":             "events.gift.sender",
		"events: {gift: {updates: [{board: a, member: m, score: '{n}'}], fields: {n: {min: 3, max: 2}}}}": "events.gift.fields.n.max",
		"events: {gift: {updates: [{board: a, member: m, score: '{n}'}], fields: {n: {min: '1'}}}}":       "events.gift.fields.n.min",
		"events: {gift: {updates: [{board: a, member: m, score: '{n}'}], fields: {n: [1, 2]}}}":           "events.gift.fields.n",
		"events: {g.t: {updates: [{board: a, member: m, score: 1}], fields: {n m: {kind: star}}}}":        `events["g.t"].fields["n m"]`,
		"events: {gift: {updates: [{board: a, member: m, score: 1}], field: {n: {min: 1}}}}":              "events.gift.field",
		"events: {gift: [stars]}":                                                                      "events.gift[0]",
		"events: {gift: [{board: a, member: m, score: 1}], gift: []}":                                  "events.gift",
		"events: {Gift: [{board: a, member: m, score: 1}]}":                                            "events.Gift",
		"events: {g.t: [{board: a, member: m, scores: 1}]}":                                            `events["g.t"][0].scores`,
		"events: {'g:{a}': [{board: a, member: m, score: 1}]}":                                         `events["g:{a}"]`,
		"events: {periods: [{board: a, member: m, score: 1}]}":                                         "events.periods",
		"events: {gift: [{board: a, member: m, score: 1}, {board: b, member: m, score: '1'}]}":         "events.gift[1].score",
		"events: {gift: [{board: a, member: m, score: 1}, {board: b, member: m, score: 1.5}]}":         "events.gift[1].score",
		"events: {gift: [{board: a, member: m, score: 1}, {board: b, member: 7, score: 1}]}":           "events.gift[1].member",
		"events: {gift: [{board: a, member: m}]}":                                                      "events.gift[0].score",
		"events: {gift: [{board: a, member: m, score: 1, data: {a: [1, {b: 0x1}]}}]}":                  "events.gift[0].data.a[1].b",
		"events: {gift: [{board: a, member: m, score: 1, data: {a: ~}}]}":                              "events.gift[0].data.a",
		"events: {gift: [{board: '{a}', member: m, score: 1}]}":                                        "events.gift[0].board",
		"events: {gift: [{board: 'a:{x}', member: m, score: 1}, {board: a, member: m, score: '{x}'}]}": "events.gift[1].score",
	} {
		refused(t, redistest.ErrorOf(ParseFile([]byte(file))), field, "file %q", file)
	}
}

// A few aliases can stand for more values than there is room for.
func TestFileThatGrows(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("boards:\n  a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := range 12 {
		a := string(rune('a' + i))
		b.WriteString("  " + a + "1: &" + a + "1 [" + strings.Repeat("*"+map[bool]string{true: "a0",
			false: string(rune('a'+i-1)) + "1"}[i == 0]+", ", 10) + "x]\n")
	}
	_, err := ParseFile([]byte(b.String()))
	var fe *FieldError
	require.ErrorAs(t, err, &fe)
	require.Contains(t, fe.Reason, "want fewer")
}

func FuzzFile(f *testing.F) {
	f.Add([]byte(strings.ReplaceAll(starFile, "9_000", "9000")))
	f.Add([]byte("boards: {laps: {mode: best, order: asc}}"))
	f.Add([]byte("boards: {a: &x {period: 36h, base: 2026-01-01T00:00:00Z}, b: *x, c: {<<: *x, keep: 0}}"))
	f.Add([]byte(`{"boards":{"fans:{star}":{"period":"week","week_starts":"sunday","retain":"7d","max_instances":10,"min":-1,` +
		`"max":1,"max_change":1}}}`))
	f.Add([]byte(`{"events":{"e":[{"board":"a:{b}-c:d","member":"x {y}","score":"-{z}","op":"best","if":"exists",` +
		`"data":{"a":["{y}",{"b":"\u00e9\\"}]}}]}}`))
	f.Add([]byte("events: {e: [{board: a, member: \"\\u0085\", score: 0x1}]}"))
	f.Add([]byte(`events: {e: {sender: u, fields: {n: {min: -1, max: 9}, s: {kind: star}}, updates: [{board: "a:{s}", member: ` +
		`"{u}", score: "{n}"}]}}`))
	f.Add([]byte("? [a]\n: &a !!map {<<: [*a]}\n---\n"))
	f.Fuzz(func(t *testing.T, file []byte) {
		defs, err := ParseFile(file)
		if err != nil {
			var fe *FieldError
			require.ErrorAs(t, err, &fe)
			require.NotEmpty(t, fe.Field)
			require.NotEmpty(t, fe.Reason)
			require.ErrorIs(t, err, ErrInvalid)
			return
		}
		require.NotZero(t, len(defs.Boards)+len(defs.Events))
		for _, d := range defs.Boards {
			sameDefinition(t, d)
		}
		for _, e := range defs.Events {
			sameEvent(t, e)
		}
	})
}

// The bodies of requests are read by the same rules.
func FuzzBodies(f *testing.F) {
	f.Add("stars", []byte(`{"period":"day","keep":3,"display":{"unit":"%"}}`))
	f.Add("gift", []byte(`{"updates":[{"board":"stars","member":"{star}","score":"{flowers}"}]}`))
	f.Add("gift", []byte(`{"sender":"star","fields":{"star":{"kind":"star"},"flowers":{"max":99}},"updates":[{"board":"stars",`+
		`"member":"{star}","score":"{flowers}"}]}`))
	f.Fuzz(func(t *testing.T, name string, body []byte) {
		d, err := ParseBoard(name, body)
		if err == nil {
			sameDefinition(t, d)
		} else {
			var fe *FieldError
			require.ErrorAs(t, err, &fe)
			require.NotEmpty(t, fe.Field)
		}
		e, err := ParseEvent(name, body)
		if err == nil {
			sameEvent(t, e)
		} else {
			var fe *FieldError
			require.ErrorAs(t, err, &fe)
			require.NotEmpty(t, fe.Field)
		}
	})
}

func sameEvent(t require.TestingT, e Event) {
	e.inObject = false // JSON has one form alone
	again := redistest.Must(e.Normalize())(t)
	require.Equal(t, e, again)
	b := redistest.Must(json.Marshal(e))(t)
	parsed := redistest.Must(ParseEvent(e.Name, b))(t, string(b))
	require.Equal(t, e, parsed)
	var decoded Event
	require.NoError(t, json.Unmarshal(b, &decoded))
	require.Equal(t, e, decoded)
}
