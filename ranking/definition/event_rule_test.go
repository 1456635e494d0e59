package definition

import (
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
)

// sentGift is a gift that viewers may send.
var sentGift = Event{Name: "gift", Sender: "user",
	Rules: FieldRules{"star": {Kind: "star"}, "flowers": {Min: new(int64(1)), Max: new(int64(99))}},
	Updates: []Target{
		{Board: "stars", Member: "{star}", Score: "{flowers}"},
		{Board: "fans:{star}", Member: "{user}", Score: "{flowers}", Data: jsontext.Value(`{"note":"{note}"}`)},
	}}

func TestRulesAreWrittenAsTheyAreRead(t *testing.T) {
	t.Parallel()
	e := redistest.Must(sentGift.Normalize())(t)
	b := redistest.Must(json.Marshal(e))(t)
	require.Equal(t, `{"event":"gift","sender":"user","fields":{"flowers":{"min":1,"max":99},"star":{"kind":"star"}},`+
		`"updates":[{"board":"stars","member":"{star}","score":"{flowers}"},{"board":"fans:{star}","member":"{user}",`+
		`"score":"{flowers}","data":{"note":"{note}"}}]}`, string(b))
	sameEvent(t, e)

	defs, err := ParseFile([]byte(`
events:
  gift:
    sender: user
    fields: {flowers: {min: 1, max: 99}, star: {kind: star}}
    updates:
      - {board: stars, member: "{star}", score: "{flowers}"}
      - {board: "fans:{star}", member: "{user}", score: "{flowers}", data: {note: "{note}"}}
  list:
    - {board: stars, member: m, score: 1}
  object:
    updates: [{board: stars, member: m, score: 1}]
`))
	require.NoError(t, err)
	defs.Events[0].inObject = false
	require.Equal(t, e, defs.Events[0])
	list, object := defs.Events[1], defs.Events[2]
	require.Equal(t, list.Updates, object.Updates)
	for i, want := range []string{"events.gift.updates[0].board", "events.list[0].board", "events.object.updates[0].board"} {
		refused(t, defs.Events[i].LocateInFile(Invalid("updates[0].board", "is wrong")), want)
	}
	refused(t, e.LocateInFile(Invalid("updates[0].board", "is wrong")), "events.gift.updates[0].board")
	missing := redistest.Must(defs.CheckReferences())(t)
	var paths []string
	for _, m := range missing {
		paths = append(paths, m.Field)
	}
	require.Equal(t, []string{"events.gift.updates[0].board", "events.gift.updates[1].board", "events.list[0].board",
		"events.object.updates[0].board"}, paths)
}

func TestImpossibleRulesAreRefused(t *testing.T) {
	t.Parallel()
	const updates = `"updates":[{"board":"fans:{star}","member":"{user}","score":"{flowers}","data":{"note":"{note}"}}]`
	for with, field := range map[string]string{
		`"sender":"nobody"`: "sender", `"sender":"flowers"`: "sender", `"sender":"note"`: "sender", `"sender":"star"`: "sender",
		`"sender":""`: "sender", `"sender":null`: "sender",

		`"fields":{}`: "fields", `"fields":null`: "fields", `"fields":[]`: "fields", `"fields":{"flowers":{}}`: "fields.flowers",
		`"fields":{"flowers":null}`:     "fields.flowers",
		`"fields":{"flowrs":{"min":1}}`: "fields.flowrs", `"fields":{"a b":{"min":1}}`: `fields["a b"]`,
		`"fields":{"flowers":{"least":1}}`:                   "fields.flowers.least",
		`"fields":{"flowers":{"min":1},"flowers":{"min":1}}`: "fields.flowers",

		`"fields":{"flowers":{"min":2,"max":1}}`: "fields.flowers.max", `"fields":{"flowers":{"min":"1"}}`: "fields.flowers.min",
		`"fields":{"flowers":{"min":1.5}}`:               "fields.flowers.min",
		`"fields":{"flowers":{"max":9007199254740992}}`:  "fields.flowers.max",
		`"fields":{"flowers":{"max":null}}`:              "fields.flowers.max",
		`"fields":{"flowers":{"min":-9007199254740992}}`: "fields.flowers.min",
		`"fields":{"flowers":{"kind":"star"}}`:           "fields.flowers.kind",
		`"fields":{"flowers":{"min":1,"kind":"star"}}`:   "fields.flowers.kind",
		`"fields":{"star":{"min":1}}`:                    "fields.star.min", `"fields":{"star":{"kind":"star","max":1}}`: "fields.star.max",
		`"fields":{"star":{"kind":"A star"}}`: "fields.star.kind",
		`"fields":{"star":{"kind":""}}`:       "fields.star.kind", `"fields":{"note":{"min":1}}`: "fields.note.min",
		`"fields":{"note":{"kind":"star"}}`: "fields.note.kind",

		`"fields":{"flowers":{"choices":[]}}`: "fields.flowers.choices", `"fields":{"flowers":{"choices":null}}`: "fields.flowers.choices",
		`"fields":{"flowers":{"choices":9}}`:                       "fields.flowers.choices",
		`"fields":{"flowers":{"choices":[1,"9"]}}`:                 "fields.flowers.choices[1]",
		`"fields":{"flowers":{"choices":[0]}}`:                     "fields.flowers.choices[0]",
		`"fields":{"flowers":{"choices":[1,9,9]}}`:                 "fields.flowers.choices[2]",
		`"fields":{"flowers":{"choices":[1,9007199254740992]}}`:    "fields.flowers.choices[1]",
		`"fields":{"flowers":{"min":1,"max":98,"choices":[1,99]}}`: "fields.flowers.choices[1]",
		`"fields":{"flowers":{"min":2,"choices":[1]}}`:             "fields.flowers.choices[0]",
		`"fields":{"flowers":{"choices":[1,2,3,4,5,6,7]}}`:         "fields.flowers.choices",
		`"fields":{"star":{"choices":[1]}}`:                        "fields.star.choices",
		`"fields":{"note":{"choices":[1]}}`:                        "fields.note.choices",
	} {
		refused(t, redistest.ErrorOf(ParseEvent("gift", []byte(`{`+updates+`,`+with+`}`))), field, with)
	}
	for _, with := range []string{`"sender":"user"`, `"fields":{"flowers":{"min":1}}`, `"fields":{"flowers":{"max":-1}}`,
		`"fields":{"flowers":{"min":1,"max":99,"choices":[1,9,99]}}`, `"fields":{"flowers":{"min":1,"max":1}}`,
		`"fields":{"star":{"kind":"star"},"user":{"kind":"user"}}`} {
		e := redistest.Must(ParseEvent("gift", []byte(`{`+updates+`,`+with+`}`)))(t, with)
		sameEvent(t, e)
	}
}

// Bounds hold for each new occurrence. One that has counted stays readable when they become narrower.
func TestBoundsOfAField(t *testing.T) {
	t.Parallel()
	sent := func(flowers string) map[string]jsontext.Value {
		return fields(t, `{"star":"s17","user":"u4","note":"","flowers":`+flowers+`}`)
	}
	for rule, cases := range map[string]map[string]string{
		`{"min":1,"max":99}`: {"1": "", "99": "", "0": "is 0; want 1 to 99", "100": "is 100; want 1 to 99", "-1": "is -1; want 1 to 99"},
		`{"min":1}`:          {"1": "", "9007199254740991": "", "0": "is 0; want at least 1"},
		`{"max":0}`:          {"0": "", "-9007199254740991": "", "1": "is 1; want at most 0"},
	} {
		e, err := ParseEvent("gift", []byte(`{"updates":[{"board":"b","member":"m","score":"-{flowers}"}],"fields":{"flowers":`+rule+`}}`))
		require.NoError(t, err)
		for n, reason := range cases {
			given := map[string]jsontext.Value{"flowers": jsontext.Value(n)}
			_, err := e.Expand(given)
			if reason == "" {
				require.NoError(t, err)
			} else {
				require.ErrorIs(t, err, ErrOutOfRange)
				require.EqualError(t, err, "flowers: "+reason)
			}
			redistest.Must(e.ExpandRecorded(given))(t)
		}
	}
	e := redistest.Must(sentGift.Normalize())(t)
	require.Equal(t, []NamedMember{{"star", "star", "s17"}}, e.NamedMembers(sent("1")))
}

func TestWhatNeedsAKey(t *testing.T) {
	t.Parallel()
	const updates = `"updates":[{"board":"fans:{star}","member":"{user}","score":"{flowers}","data":{"note":"{note}"}},` +
		`{"board":"b","member":"m","score":1}]`
	const star, flowers = `"star":{"kind":"star"}`, `"flowers":{"min":1,"max":99}`
	for with, want := range map[string][2]string{ // reasons for a viewer and for an anonymous caller
		`"sender":"user","fields":{` + star + `,` + flowers + `}`:     {"", ""},
		`"sender":"user","fields":{` + star + `}`:                     {"flowers both min and max", "flowers both min and max"},
		`"sender":"user","fields":{` + star + `,"flowers":{"max":9}}`: {"flowers both min and max", "flowers both min and max"},
		`"sender":"user","fields":{` + star + `,"flowers":{"min":1}}`: {"flowers both min and max", "flowers both min and max"},
		`"sender":"user","fields":{` + flowers + `}`:                  {"does not give star a kind", "does not give star a kind"},
		`"sender":"user"`:                                                {"both min and max", "both min and max"},
		`"fields":{` + star + `,` + flowers + `}`:                        {"names no sender", "does not give user a kind"},
		`"fields":{` + star + `,` + flowers + `,"user":{"kind":"user"}}`: {"names no sender", ""},
	} {
		e := redistest.Must(ParseEvent("gift", []byte(`{`+updates+`,`+with+`}`)))(t, with)
		for i, sub := range []string{"u4", ""} {
			err := e.CheckSender(sub)
			if want[i] == "" {
				require.NoError(t, err, with)
				continue
			}
			require.ErrorIs(t, err, ErrForbidden, with)
			require.ErrorContains(t, err, want[i], with)
		}
	}
}

func TestFieldsWithoutAKey(t *testing.T) {
	t.Parallel()
	e := redistest.Must(sentGift.Normalize())(t)
	long := strings.Repeat("x", MaxIDBytes)
	for sent, want := range map[string]struct {
		viewer, anonymous string // the field that is refused
		kind              error
	}{
		`{"user":"u4","note":"hi"}`:                                     {"", "", nil},
		`{"user":"\u00754","note":"` + long + `"}`:                      {"", "", nil},
		`{"user":"u4","note":-1.5e9}`:                                   {"", "", nil},
		`{"user":"u5","note":"hi"}`:                                     {"user", "", ErrForbidden},
		`{"user":"U4","note":"hi"}`:                                     {"user", "", ErrForbidden},
		`{"user":"u4 ","note":"hi"}`:                                    {"user", "", ErrForbidden},
		`{"user":"u4","note":"hi","at":1}`:                              {"at", "at", ErrForbidden},
		`{"user":"u4","note":"x` + long + `"}`:                          {"note", "note", ErrInvalid},
		`{"user":"u4","note":"\u202e"}`:                                 {"note", "note", ErrInvalid},
		`{"user":"u4","note":1` + strings.Repeat("0", MaxIDBytes) + `}`: {"note", "note", ErrInvalid},
		`{"user":"u4","note":{"a":1}}`:                                  {"note", "note", ErrInvalid},
		`{"user":"u4","note":["hi"]}`:                                   {"note", "note", ErrInvalid},
		`{"user":"u4","note":true}`:                                     {"note", "note", ErrInvalid},
	} {
		for sub, field := range map[string]string{"u4": want.viewer, "": want.anonymous} {
			given := fields(t, sent)
			given["star"], given["flowers"] = jsontext.Value(`"s17"`), jsontext.Value("3")
			_, at := given["at"]
			if !at {
				redistest.Must(e.Expand(given))(t, sent)
			}
			err := e.CheckSent(sub, given)
			if field == "" {
				require.NoError(t, err, sent)
				continue
			}
			var fe *FieldError
			require.ErrorAs(t, err, &fe, sent)
			require.Equal(t, field, fe.Field)
			require.ErrorIs(t, err, want.kind, sent)
		}
	}
}

// boundedEvent checks that each field of an event that was sent without a key is bounded: by sub, by a rule,
// or in length.
func boundedEvent(t require.TestingT, e Event, sent map[string]jsontext.Value, sub string) {
	require.False(t, e.CarriesTime(sent))
	named := e.NamedMembers(sent)
	for _, name := range e.FieldNames() {
		rule := e.Rules[name]
		switch is, _ := e.FieldType(name); {
		case is == IntegerField:
			require.True(t, rule.Min != nil && rule.Max != nil)
		case is == AnyField:
			require.LessOrEqual(t, len(textOf(sent[name])), MaxIDBytes)
		case name == e.Sender && sub != "":
			require.Equal(t, sub, textOf(sent[name]))
		case name != e.Sender:
			require.True(t, slices.ContainsFunc(named, func(m NamedMember) bool { return m.Field == name }))
		}
	}
}
