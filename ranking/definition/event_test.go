package definition

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rankcast/ranking/proptest"
	"rankcast/ranking/redistest"
)

func TestImpossibleEventsAreRefused(t *testing.T) {
	t.Parallel()
	const good = `{"board":"a","member":"m","score":1}`
	update := func(with string) string { return `{"updates":[` + good + `,` + with + `]}` }
	for body, field := range map[string]string{
		`[]`: "body", `{`: "body", `{} 1`: "body", `{}`: "updates", `{"updates":null}`: "updates", `{"updates":{}}`: "updates",
		`{"updates":[]}`: "updates",
		`{"updates":[` + good + strings.Repeat(`,`+good, 32) + `]}`: "updates", `{"boards":[]}`: "boards",
		`{"event":"other","updates":[]}`:          "event",
		`{"updates":[` + good + `],"updates":[]}`: "updates", `{"updates":[[]]}`: "updates[0]", `{"updates":[` + good + `,null]}`: "updates[1]",

		update(`{"member":"m","score":1}`): "updates[1].board", update(`{"board":"b","score":1}`): "updates[1].member",
		update(`{"board":"b","member":"m"}`):                     "updates[1].score",
		update(`{"board":"b","member":"m","score":1,"id":"x"}`):  "updates[1].id",
		update(`{"board":"b","member":"m","score":1,"score":1}`): "updates[1].score",
		update(`{"board":"b","member":"m","score":1,"a b":1}`):   `updates[1]["a b"]`,

		update(`{"board":"","member":"m","score":1}`): "updates[1].board",
		update(`{"board":7,"member":"m","score":1}`):  "updates[1].board", update(`{"board":"B","member":"m","score":1}`): "updates[1].board",
		update(`{"board":"b@-1","member":"m","score":1}`):                                 "updates[1].board",
		update(`{"board":"{b}","member":"m","score":1}`):                                  "updates[1].board",
		update(`{"board":"b{x}","member":"m","score":1}`):                                 "updates[1].board",
		update(`{"board":"b:","member":"m","score":1}`):                                   "updates[1].board",
		update(`{"board":"b:{x}:","member":"m","score":1}`):                               "updates[1].board",
		update(`{"board":"b:{x","member":"m","score":1}`):                                 "updates[1].board",
		update(`{"board":"b:x}","member":"m","score":1}`):                                 "updates[1].board",
		update(`{"board":"b:{}","member":"m","score":1}`):                                 "updates[1].board",
		update(`{"board":"b:{X}","member":"m","score":1}`):                                "updates[1].board",
		update(`{"board":"b:{id}","member":"m","score":1}`):                               "updates[1].board",
		update(`{"board":"b:a/{x}","member":"m","score":1}`):                              "updates[1].board",
		update(`{"board":"b:a\u0007","member":"m","score":1}`):                            "updates[1].board",
		update(`{"board":"b:` + strings.Repeat("x", 64) + `{x}","member":"m","score":1}`): "updates[1].board",
		update(`{"board":"b` + strings.Repeat(":{x}", 9) + `","member":"m","score":1}`):   "updates[1].board",

		update(`{"board":"b","member":"","score":1}`):                                    "updates[1].member",
		update(`{"board":"b","member":1,"score":1}`):                                     "updates[1].member",
		update(`{"board":"b","member":"a\u0000","score":1}`):                             "updates[1].member",
		update(`{"board":"b","member":"{a","score":1}`):                                  "updates[1].member",
		update(`{"board":"b","member":"{a b}","score":1}`):                               "updates[1].member",
		update(`{"board":"b","member":"}a}","score":1}`):                                 "updates[1].member",
		update(`{"board":"b","member":"{id}","score":1}`):                                "updates[1].member",
		update(`{"board":"b","member":"{{a}}","score":1}`):                               "updates[1].member",
		update(`{"board":"b","member":"` + strings.Repeat("x", 128) + `{a}","score":1}`): "updates[1].member",

		update(`{"board":"b","member":"m","score":"1"}`):              "updates[1].score",
		update(`{"board":"b","member":"m","score":"-1"}`):             "updates[1].score",
		update(`{"board":"b","member":"m","score":1.0}`):              "updates[1].score",
		update(`{"board":"b","member":"m","score":1e3}`):              "updates[1].score",
		update(`{"board":"b","member":"m","score":9007199254740992}`): "updates[1].score",
		update(`{"board":"b","member":"m","score":null}`):             "updates[1].score",
		update(`{"board":"b","member":"m","score":""}`):               "updates[1].score",
		update(`{"board":"b","member":"m","score":"-"}`):              "updates[1].score",
		update(`{"board":"b","member":"m","score":"{a}{b}"}`):         "updates[1].score",
		update(`{"board":"b","member":"m","score":"--{a}"}`):          "updates[1].score",
		update(`{"board":"b","member":"m","score":"+{a}"}`):           "updates[1].score",
		update(`{"board":"b","member":"m","score":"{id}"}`):           "updates[1].score",
		update(`{"board":"b","member":"m","score":"{a} "}`):           "updates[1].score",
		update(`{"board":"b","member":"m","score":"a"}`):              "updates[1].score",
		update(`{"board":"b","member":"m","score":"{A}"}`):            "updates[1].score",

		update(`{"board":"b","member":"m","score":1,"op":"add"}`):     "updates[1].op",
		update(`{"board":"b","member":"m","score":1,"op":""}`):        "updates[1].op",
		update(`{"board":"b","member":"m","score":1,"if":"present"}`): "updates[1].if",
		update(`{"board":"b","member":"m","score":1,"if":true}`):      "updates[1].if",

		update(`{"board":"b","member":"m","score":1,"data":null}`):                                     "updates[1].data",
		update(`{"board":"b","member":"m","score":1,"data":"{a}"}`):                                    "updates[1].data",
		update(`{"board":"b","member":"m","score":1,"data":[1]}`):                                      "updates[1].data",
		update(`{"board":"b","member":"m","score":1,"data":{"a":null}}`):                               "updates[1].data.a",
		update(`{"board":"b","member":"m","score":1,"data":{"a":[0,"x{a}"]}}`):                         "updates[1].data.a[1]",
		update(`{"board":"b","member":"m","score":1,"data":{"a":"{a}{b}"}}`):                           "updates[1].data.a",
		update(`{"board":"b","member":"m","score":1,"data":{"a":"}"}}`):                                "updates[1].data.a",
		update(`{"board":"b","member":"m","score":1,"data":{"a":{"b c":"{id}"}}}`):                     `updates[1].data.a["b c"]`,
		update(`{"board":"b","member":"m","score":1,"data":{"{a}":1}}`):                                `updates[1].data["{a}"]`,
		update(`{"board":"b","member":"m","score":1,"data":{"a":1,"a":2}}`):                            "updates[1].data.a",
		update(`{"board":"b","member":"m","score":1,"data":{"a":"` + strings.Repeat("x", 249) + `"}}`): "updates[1].data",

		// A field is an integer or text, wherever it is used.
		update(`{"board":"b","member":"{x}","score":"{x}"}`):                                                "updates[1].score",
		update(`{"board":"b:{x}","member":"m","score":"-{x}"}`):                                             "updates[1].score",
		`{"updates":[{"board":"b","member":"m","score":"{x}"},{"board":"b","member":"car {x}","score":1}]}`: "updates[1].member",
		`{"updates":[{"board":"b","member":"m","score":"{x}"},{"board":"b:{x}","member":"m","score":1}]}`:   "updates[1].board",
	} {
		refused(t, redistest.ErrorOf(ParseEvent("gift", []byte(body))), field, "body %s", body)
	}
	for _, name := range []string{"", "Gift", "gift:{a}", "gift@1", "periods", strings.Repeat("a", 65)} {
		refused(t, redistest.ErrorOf(ParseEvent(name, []byte(`{"updates":[`+good+`]}`))), "event", name)
	}
	for _, body := range []string{
		update(`{"board":"b","member":"m","score":1,"data":{"a":"` + strings.Repeat("x", 248) + `"}}`),
		update(`{"board":"b:{x}-{y}:z","member":"{x} of {n}","score":"-{s}","data":{"s":"{s}","x":["{x}",{}],"only":"{o}"}}`),
		`{"event":"gift","updates":[` + good + strings.Repeat(`,`+good, 31) + `]}`, update(`{"board":"b","member":"m","score":-0}`),
		update(`{"board":"b","member":"m","score":-9007199254740991}`), update(`{"board":"b","member":"m","score":1,"data":{}}`),
	} {
		e := redistest.Must(ParseEvent("gift", []byte(body)))(t, body)
		sameEvent(t, e)
	}
}

// An event is of now: the reason says so, whatever else would be wrong with a name.
func TestEventsAreNotForPeriods(t *testing.T) {
	t.Parallel()
	for _, board := range []string{"stars@-1", "fans:s17@2026"} {
		_, err := Event{Name: "gift", Updates: []Target{{Board: board, Member: "m", Score: "1"}}}.Normalize()
		refused(t, err, "updates[0].board")
		require.Contains(t, err.Error(), "has a period")
	}
}

func TestEventsAreForBoardsThatThereAre(t *testing.T) {
	t.Parallel()
	boards := map[string]bool{"stars/0": true, "fans/1": true, "hot/0": true, "hot/2": true}
	for board, reason := range map[string]string{
		"stars": "", "fans:{star}": "", "fans:s17": "", "hot": "", "hot:{a}:phone": "",
		"sars": "is for sars, but there is no such board", "fans": "is for fans, but", "fans:{a}:{b}": "is for fans:{a}:{b}, but",
		"hot:{a}": "is for hot:{a}, but",
	} {
		e, err := Event{Name: "gift", Updates: []Target{{Board: "stars", Member: "m", Score: "1"},
			{Board: board, Member: "m", Score: "1"}}}.Normalize()
		require.NoError(t, err)
		err = e.CheckBoards(nil, boards)
		if reason == "" {
			require.NoError(t, err, board)
			continue
		}
		refused(t, err, "updates[1].board", board)
		require.Contains(t, err.Error(), reason)
		refused(t, e.LocateInFile(err), "events.gift[1].board", board)
	}
}

func TestEventsAreWrittenAsTheyAreRead(t *testing.T) {
	t.Parallel()
	given := Event{Name: "gift", Updates: []Target{
		{Board: "stars", Member: "{star}", Score: "{flowers}"},
		{Board: "fans:{star}", Member: "{user}", Score: "-3", Op: Best, If: Exists, Data: jsontext.Value(` { "note" : "{note}" } `)},
	}}
	e := redistest.Must(given.Normalize())(t)
	require.Equal(t, ` { "note" : "{note}" } `, string(given.Updates[1].Data), "the caller's own stays as it is")
	b := redistest.Must(json.Marshal(e))(t)
	require.Equal(t, `{"event":"gift","updates":[{"board":"stars","member":"{star}","score":"{flowers}"},`+
		`{"board":"fans:{star}","member":"{user}","score":-3,"op":"best","if":"exists","data":{"note":"{note}"}}]}`, string(b))
	sameEvent(t, e)
}

// anyEvent draws events of fields a to d, with one type for each.
func anyEvent(t *rapid.T) Event {
	text := rapid.StringMatching(`[a-zא日][^:@/{}\p{Cc}\p{Cs}\x{2028}-\x{202e}\x{2066}-\x{2069}]{0,7}`)
	mixed := func(label string) string {
		return rapid.SampledFrom([]string{"", "x "}).Draw(t, label) + rapid.SampledFrom([]string{"{a}", "{b}",
			text.Draw(t, label+" text")}).Draw(t, label+" field")
	}
	e := Event{Name: "gift"}
	for i := range rapid.IntRange(1, 5).Draw(t, "updates") {
		label := fmt.Sprint(i)
		u := Target{
			Board:  "b" + label,
			Member: mixed("member"),
			Score: rapid.SampledFrom([]Amount{"{c}", "-{c}",
				Amount(fmt.Sprint(rapid.Int64Range(-MaxScore, MaxScore).Draw(t, "score")))}).Draw(t, "score field"),
			Op: Mode(rapid.SampledFrom([]string{"", "sum", "best", "last"}).Draw(t, "op")),
			If: Condition(rapid.SampledFrom([]string{"", "exists", "absent"}).Draw(t, "if")),
		}
		for range rapid.IntRange(0, 2).Draw(t, "parts") {
			u.Board += ":" + mixed("part")
		}
		if rapid.Bool().Draw(t, "data?") {
			data := map[string]any{"k": rapid.SampledFrom([]any{"{a}", "{c}", "{d}", 1, true, []string{"{d}", "x"}}).Draw(t, "data"),
				text.Draw(t, "key"): text.Draw(t, "value")}
			b := redistest.Must(json.Marshal(data))(t)
			u.Data = b
		}
		e.Updates = append(e.Updates, u)
	}
	return e
}

func TestEventsRoundTrip(t *testing.T) {
	t.Parallel()
	proptest.Check(t, 100, func(t *rapid.T) {
		e := redistest.Must(anyEvent(t).Normalize())(t)
		sameEvent(t, e)
	})
}

// What an event needs of a caller is told with it.
func TestEventTellsItsFields(t *testing.T) {
	t.Parallel()
	e, err := ParseEvent("gift", []byte(`{"updates":[
		{"board":"stars","member":"{star}","score":"{flowers}"},
		{"board":"fans:{star}","member":"car {car_2}","score":"-{less}","data":{"note":["{note}",{"of":"{flowers}"}],"who":"{car_2}"}},
		{"board":"stars","member":"all","score":1}]}`))
	require.NoError(t, err)
	types := make(map[string]FieldType)
	for _, name := range e.FieldNames() {
		is, ok := e.FieldType(name)
		require.True(t, ok, name)
		types[name] = is
	}
	require.Equal(t, map[string]FieldType{"car_2": TextField, "flowers": IntegerField, "less": IntegerField, "note": AnyField,
		"star": TextField}, types)
	require.True(t, slices.IsSorted(e.FieldNames()))
	_, ok := e.FieldType("user")
	require.False(t, ok)
	e = redistest.Must(ParseEvent("visit", []byte(`{"updates":[{"board":"visits","member":"all","score":1}]}`)))(t)
	require.Empty(t, e.FieldNames())
}
