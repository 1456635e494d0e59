package definition

import (
	"errors"
	"fmt"
	"maps"
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

// gift uses a field in each way there is.
var gift = Event{Name: "gift", Updates: []Target{
	{Board: "stars", Member: "{star}", Score: "{flowers}"},
	{Board: "fans:{star}", Member: "{user}", Score: "{flowers}", Op: Best, If: Exists,
		Data: jsontext.Value(`{"n":"{flowers}","by":"{user}","note":["{note}"],"v":1}`)},
	{Board: "hot:{star}-{user}:all", Member: "{star} & {user}", Score: "-{flowers}"},
	{Board: "visits", Member: "all", Score: "1", If: Absent},
}}

func TestExpand(t *testing.T) {
	t.Parallel()
	e := redistest.Must(gift.Normalize())(t)
	for _, e := range []Event{e, gift} { // also as it was written
		got := redistest.Must(e.Expand(fields(t, `{"star":"s17","user":"ü \"4\"","flowers":3,"note":{ "to" : [null, 1.50] }}`)))(t)
		require.Equal(t, []BoardUpdate{
			{"stars", Update{Member: "s17", Score: 3}},
			{"fans:s17", Update{Member: `ü "4"`, Score: 3, Op: Best, If: Exists, Data: `{"n":3,"by":"ü \"4\"","note":[{"to":[null,1.50]}],"v":1}`}},
			{`hot:s17-ü "4":all`, Update{Member: `s17 & ü "4"`, Score: -3}},
			{"visits", Update{Member: "all", Score: 1, If: Absent}},
		}, got)
	}

	none := Event{Name: "visit", Updates: []Target{{Board: "visits", Member: "all", Score: "1"}}}
	got := redistest.Must(none.Expand(nil))(t)
	require.Len(t, got, 1)
	refused(t, redistest.ErrorOf(none.Expand(fields(t, `{"x":1}`))), "x")
	refused(t, redistest.ErrorOf(Event{Name: "visit"}.Expand(nil)), "updates")
}

func fields(t require.TestingT, s string) map[string]jsontext.Value {
	var f map[string]jsontext.Value
	require.NoError(t, json.Unmarshal([]byte(s), &f), s)
	return f
}

func TestFieldsOfAnEventAreChecked(t *testing.T) {
	t.Parallel()
	e := redistest.Must(gift.Normalize())(t)
	good := map[string]string{"star": `"s17"`, "user": `"u4"`, "flowers": "3", "note": `"hi"`}
	expand := func(name, v string) error {
		f := map[string]jsontext.Value{}
		for k, v := range good {
			f[k] = jsontext.Value(v)
		}
		if v == "" {
			delete(f, name)
		} else {
			f[name] = jsontext.Value(v)
		}
		_, err := e.Expand(f)
		return err
	}
	require.NoError(t, expand("note", `"hi"`))
	for name := range good {
		for _, v := range []string{"", "null", `""`, "{", "1 2", "\"\xff\"", "tru", `{"a":1,"a":2}`} {
			err := expand(name, v)
			refused(t, err, name, "%s %s", name, v)
			require.Equal(t, v == "", strings.Contains(err.Error(), "is missing"))
		}
	}
	for name, values := range map[string][]string{
		"flowers": {`"3"`, "1.0", "1e3", "1.5", "true", "[3]", "{}", `""`, "-", "+3", "03", "0x3"},
		"star": {"7", "true", `["s"]`, "{}", `""`, `"a:b"`, `"a@b"`, `"a/b"`, `"{a"`, `"a}"`, `"\u0000"`, `"\u0085"`,
			`"` + strings.Repeat("x", 65) + `"`},
		"user":    {"7", `""`, `"a:b"`, `"\n"`},
		"id":      {`"x"`, "1"},
		"nope":    {"1"},
		"Flowers": {"1"},
	} {
		for _, v := range values {
			refused(t, expand(name, v), name, "%s %s", name, v)
		}
	}
	refused(t, expand("a b", "1"), `["a b"]`)
	refused(t, expand("", "1"), `[""]`)
}

func TestScoresOfAnEventAreInRange(t *testing.T) {
	t.Parallel()
	e := Event{Name: "e", Updates: []Target{{Board: "b", Member: "m", Score: "-{n}"}}}
	for v, want := range map[string]int64{"0": 0, "-0": 0, "9007199254740991": -MaxScore, "-9007199254740991": MaxScore} {
		got := redistest.Must(e.Expand(map[string]jsontext.Value{"n": jsontext.Value(v)}))(t)
		require.Equal(t, want, got[0].Update.Score)
	}
	for _, v := range []string{"9007199254740992", "-9007199254740992", "99999999999999999999"} {
		_, err := e.Expand(map[string]jsontext.Value{"n": jsontext.Value(v)})
		require.ErrorIs(t, err, ErrOutOfRange)
		fe, _ := errors.AsType[*FieldError](err)
		require.Equal(t, "n", fe.Field)
	}
}

// What each value may be, all together may be too long: the longest is told.
func TestFieldsOfAnEventTogether(t *testing.T) {
	t.Parallel()
	long := func(n int) jsontext.Value { return jsontext.Value(`"` + strings.Repeat("x", n) + `"`) }
	for _, c := range []struct {
		target Target
		a, b   int // bytes
		field  string
	}{
		{Target{Board: "b:{a}-{b}", Member: "m", Score: "1"}, 31, 32, ""},
		{Target{Board: "b:{a}-{b}", Member: "m", Score: "1"}, 31, 33, "b"},
		{Target{Board: "b:{a}-{b}", Member: "m", Score: "1"}, 33, 31, "a"},
		{Target{Board: "b", Member: "{a}{b}", Score: "1"}, 64, 64, ""},
		{Target{Board: "b", Member: "{a}{b}", Score: "1"}, 64, 65, "b"},
		{Target{Board: "b", Member: "{a}", Score: "1", Data: jsontext.Value(`{"":["{b}"]}`)}, 1, 247, ""},
		{Target{Board: "b", Member: "{a}", Score: "1", Data: jsontext.Value(`{"":["{b}"]}`)}, 1, 248, "b"},
		{Target{Board: "b", Member: "{a}", Score: "1", Data: jsontext.Value(`{"":["{b}","{a}"]}`)}, 123, 121, ""},
		{Target{Board: "b", Member: "{a}", Score: "1", Data: jsontext.Value(`{"":["{b}","{a}"]}`)}, 124, 121, "a"},
	} {
		_, err := Event{Name: "e", Updates: []Target{c.target}}.Expand(map[string]jsontext.Value{"a": long(c.a), "b": long(c.b)})
		if c.field == "" {
			require.NoError(t, err, "%+v", c)
		} else {
			refused(t, err, c.field, "%+v", c)
		}
	}
}

// The same event, written otherwise, is the same; any other is another.
func TestDigestOfAnEvent(t *testing.T) {
	t.Parallel()
	same := []string{
		`{"star":"s17","n":3,"note":{"a":1,"b":[true,"x"]}}`,
		` { "note" : {"b":[ true , "\u0078"],"a":1}, "n":3, "star":"s\u00317" } `,
	}
	other := []string{
		`{"star":"s17","n":3}`, `{"star":"s17","n":4,"note":{"a":1,"b":[true,"x"]}}`, `{"star":"s17","n":3,"note":{"a":1,"b":["x",true]}}`,
		`{"star":"s17","n":9007199254740993}`, `{"star":"s17","n":9007199254740992}`, `{}`, `{"star":"s17n","n":3}`, `{"a1":2}`, `{"a":12}`,
	}
	digests := map[string]string{}
	for _, s := range same {
		digests[gift.Digest(fields(t, s))] = s
	}
	require.Len(t, digests, 1)
	for _, s := range other {
		digests[gift.Digest(fields(t, s))] = s
	}
	digests[Event{Name: "gif"}.Digest(fields(t, same[0]))] = "another event"
	require.Len(t, digests, 2+len(other))
}

func TestUpdatesOfConditionsAndData(t *testing.T) {
	t.Parallel()
	for _, u := range []Update{
		{Member: "m", If: Exists}, {Member: "m", If: Absent, Data: "null"}, {Member: "m", Data: `{"a":[1,"b c"]}`},
		{Member: "m", Data: `"` + strings.Repeat("x", 254) + `"`},
	} {
		require.NoError(t, u.Check(), "%+v", u)
	}
	for field, updates := range map[string][]Update{
		"if": {{Member: "m", If: "present"}},
		"data": {{Member: "m", Data: "{"}, {Member: "m", Data: "1 2"}, {Member: "m", Data: `{"a":1,"a":1}`},
			{Member: "m", Data: "\"\xff\""}, {Member: "m", Data: `"` + strings.Repeat("x", 255) + `"`}},
	} {
		for _, u := range updates {
			refused(t, u.Check(), field, "%+v", u)
		}
	}
	u := Update{Member: "m", Data: " { \"a\" : [ 1.0, \"\\u00e9\" ] } "}
	require.NoError(t, u.Check())
	require.Equal(t, `{"a":[1.0,"é"]}`, u.Data)
}

// The law of events: what fields are asked for suffices, and comes out as updates
// that are good; each of them missing, and any other, is refused by its name.
func TestEveryEventExpands(t *testing.T) {
	t.Parallel()
	proptest.Check(t, 100, func(t *rapid.T) {
		e := redistest.Must(anyEvent(t).Normalize())(t)
		values := map[string]jsontext.Value{"a": jsontext.Value(`"s17"`), "b": jsontext.Value(`"ü"`), "c": jsontext.Value("-5"),
			"d": jsontext.Value(`{"x":[]}`)}
		f := map[string]jsontext.Value{}
		for name := range e.compiled.fields {
			f[name] = values[name]
		}
		got := redistest.Must(e.Expand(f))(t)
		require.Len(t, got, len(e.Updates))
		goodUpdates(t, e, got)
		for name := range f {
			less := maps.Clone(f)
			delete(less, name)
			refused(t, redistest.ErrorOf(e.Expand(less)), name)
		}
		f["e"] = values["a"]
		refused(t, redistest.ErrorOf(e.Expand(f)), "e")
	})
}

// goodUpdates checks that what an event came to can be applied as it is.
func goodUpdates(t require.TestingT, e Event, updates []BoardUpdate) {
	for i, u := range updates {
		require.NoError(t, u.Update.Check())
		n := redistest.Must(ParseName(u.Board))(t)
		require.Equal(t, u.Board, n.Instance())
		require.NoError(t, Event{Updates: e.Updates[i : i+1]}.CheckBoards(nil, map[string]bool{n.Slot(): true}))
	}
}

func FuzzExpand(f *testing.F) {
	f.Add(`{"updates":[{"board":"fans:{star}","member":"{user}","score":"{flowers}","data":{"n":"{note}"}}]}`,
		`{"star":"s17","user":"u4","flowers":3,"note":[1]}`)
	f.Add(`{"updates":[{"board":"b:{a}-{b}:c","member":"x {a}","score":"-{n}","op":"last","if":"absent"}]}`,
		`{"a":"1","b":"2","n":-9007199254740991}`)
	f.Add(`{"updates":[{"board":"b","member":"m","score":1,"data":{"a":[{"b":"{c}"}],"d":"e"}}]}`, `{"c":"\u0000\ud83d\ude00"}`)
	f.Add(`{"sender":"u","fields":{"n":{"min":1,"max":9},"s":{"kind":"star"}},"updates":[{"board":"b:{s}","member":"{u}",`+
		`"score":"{n}","data":{"a":"{x}"}}]}`, `{"u":"u4","s":"s17","n":9,"x":"y"}`)
	f.Fuzz(func(t *testing.T, body, values string) {
		e, err := ParseEvent("gift", []byte(body))
		if err != nil {
			return
		}
		var fields map[string]jsontext.Value
		if json.Unmarshal([]byte(values), &fields) != nil {
			return
		}
		for _, v := range fields {
			if len(values)%2 == 0 { // what is no JSON at all is refused as well
				v[len(v)/2] ^= 1
			}
		}
		before := fmt.Sprint(fields)
		digest := e.Digest(fields)
		updates, err := e.Expand(fields)
		require.Equal(t, before, fmt.Sprint(fields))
		if err != nil {
			var fe *FieldError
			require.ErrorAs(t, err, &fe)
			require.NotEmpty(t, fe.Field)
			require.True(t, errors.Is(err, ErrInvalid) || errors.Is(err, ErrOutOfRange))
			return
		}
		goodUpdates(t, e, updates)
		for _, sub := range []string{"", "u4"} {
			if e.CheckSender(sub) == nil && e.CheckSent(sub, fields) == nil {
				boundedEvent(t, e, fields, sub)
			}
		}
		require.Equal(t, slices.Sorted(maps.Keys(fields)), append([]string(nil), e.compiled.names...))
		for name, v := range fields {
			fields[name] = append(append(jsontext.Value("\n"), v...), ' ')
		}
		require.Equal(t, digest, e.Digest(fields))
		again := redistest.Must(e.Expand(fields))(t)
		require.Equal(t, updates, again)
	})
}
