package ranking

import (
	"fmt"
	"math/big"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rankcast/ranking/definition"
	"rankcast/ranking/proptest"
	"rankcast/ranking/redistest"
)

// member is a name of a JSON object with its value.
type jsonMember struct {
	name  string
	value any
}

// drawJSON draws a value of JSON: nil, bool, *big.Rat, string, []any or []jsonMember.
func drawJSON(t *rapid.T, depth int) any {
	kinds := 6
	if depth == 0 {
		kinds = 4
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		return rapid.Bool().Draw(t, "bool")
	case 1:
		digits := rapid.SampledFrom([]string{"0", "1", "10", "25", "9007199254740992", "9007199254740993", "18446744073709551617",
			"1000000000000000000000001"}).Draw(t, "digits")
		n, _ := new(big.Rat).SetString(digits + "e" + strconv.Itoa(rapid.IntRange(-3, 3).Draw(t, "shift")))
		if rapid.Bool().Draw(t, "negative") {
			n.Neg(n)
		}
		return n
	case 2:
		return rapid.SampledFrom([]string{"", "A", "a", "1", "é", "\"", "\\", "/", "😀", "1e3", "{"}).Draw(t, "text")
	case 3:
		return nil
	case 4:
		return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) any { return drawJSON(t, depth-1) }), 0, 3).Draw(t, "list")
	}
	var object []jsonMember
	for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"x", "y", "A", "é"}), 0, 3, rapid.ID).Draw(t, "names") {
		object = append(object, jsonMember{name, drawJSON(t, depth-1)})
	}
	return object
}

// leftOut stands for data that an update does not have: it leaves those of before, while null removes them.
type leftOut struct{}

// drawData draws the data of an update.
func drawData(t *rapid.T) any {
	if rapid.IntRange(0, 7).Draw(t, "left out") == 0 {
		return leftOut{}
	}
	return drawJSON(t, 2)
}

// spell draws a text for a value.
func spell(t *rapid.T, v any) string {
	space := rapid.SampledFrom([]string{"", " "}).Draw(t, "space")
	switch v := v.(type) {
	case nil:
		return space + "null"
	case bool:
		return space + fmt.Sprint(v)
	case *big.Rat:
		return space + spellNumber(t, v)
	case string:
		return space + spellText(t, v)
	case []any:
		var items []string
		for _, item := range v {
			items = append(items, spell(t, item))
		}
		return "[" + strings.Join(items, ",") + space + "]"
	case []jsonMember:
		var items []string
		for _, m := range rapid.Permutation(v).Draw(t, "order") {
			items = append(items, spellText(t, m.name)+space+":"+spell(t, m.value))
		}
		return "{" + strings.Join(items, ",") + space + "}"
	}
	panic("no JSON")
}

func spellNumber(t *rapid.T, n *big.Rat) string {
	exponent := rapid.IntRange(-4, 4).Draw(t, "exponent")
	power, _ := new(big.Rat).SetString("1e" + strconv.Itoa(-exponent))
	text := new(big.Rat).Mul(n, power).FloatString(7)
	if rapid.Bool().Draw(t, "short") {
		text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
	}
	if n.Sign() == 0 && text[0] != '-' && rapid.Bool().Draw(t, "minus zero") {
		text = "-" + text
	}
	if exponent == 0 && rapid.Bool().Draw(t, "no exponent") {
		return text
	}
	return text + rapid.SampledFrom([]string{"e", "E"}).Draw(t, "e") + strconv.Itoa(exponent)
}

func spellText(t *rapid.T, text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r < 0x10000 && rapid.Bool().Draw(t, "escaped"):
			fmt.Fprintf(&b, `\u%04X`, r)
		case r == '"' || r == '\\':
			fmt.Fprintf(&b, `\%c`, r)
		default:
			b.WriteRune(r)
		}
	}
	return `"` + b.String() + `"`
}

// meaning is a form in which equal values are equal to reflect.DeepEqual.
func meaning(v any) any {
	switch v := v.(type) {
	case *big.Rat:
		return "number " + v.RatString()
	case string:
		return "text " + v
	case []any:
		all := []any{}
		for _, item := range v {
			all = append(all, meaning(item))
		}
		return all
	case []jsonMember:
		all := map[string]any{}
		for _, m := range v {
			all[m.name] = meaning(m.value)
		}
		return all
	}
	return v
}

// Whatever the spelling of its data, of its default op and of the fields of an event, a retry is a duplicate. What
// means another thing is refused. Boards and events agree, and so do the updates of one batch.
func TestRetryIsTheSameByMeaning(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		s := newNode(t, url)
		gift := definition.Event{Name: "gift", Updates: []definition.Target{
			{Board: "b", Member: "m", Score: "1", Data: jsontext.Value(`{"note":"{note}"}`)}, {Board: "c", Member: "m", Score: "1"},
		}}
		require.NoError(t, s.Define(t.Context(), definition.Set{Boards: []definition.Board{{Name: "b"}, {Name: "c"}},
			Events: []definition.Event{gift}}))
		stall(s)
		n := 0
		proptest.Check(t, redistest.Volume(url, 150), func(t *rapid.T) {
			first, second := drawData(t), drawData(t)
			if rapid.Bool().Draw(t, "the same") {
				second = first
			}
			same := reflect.DeepEqual(meaning(first), meaning(second))
			n++
			id := fmt.Sprint("id", n)
			of := func(v any) definition.Update {
				u := definition.Update{Member: "m", Score: 1, ID: id, Op: rapid.SampledFrom([]definition.Mode{"", definition.Sum}).Draw(t, "op")}
				if reflect.DeepEqual(v, leftOut{}) {
					return u
				}
				var err error
				if u.Data, err = definition.CompactData(jsontext.Value(spell(t, v))); err != nil {
					t.Skip("long data")
				}
				return u
			}
			check := func(what string, o Outcome) {
				if same {
					require.NoError(t, o.Err, what)
					require.True(t, o.Result.Duplicate, what)
				} else {
					require.ErrorIs(t, o.Err, definition.ErrIDMismatch, what)
				}
			}
			one, two := of(first), of(second)
			both := must(s.Apply(t.Context(), "b", []definition.Update{one, two}))(t)
			require.NoError(t, both[0].Err)
			check("in one batch", both[1])
			again := must(s.Apply(t.Context(), "b", []definition.Update{of(second)}))(t)
			check("later", again[0])
			none := func(v any) bool { return v == nil || reflect.DeepEqual(v, "") || reflect.DeepEqual(v, leftOut{}) }
			if none(first) || none(second) {
				return // no event has such fields
			}
			call := func(v any) EventResult {
				happened := must(s.ApplyEvents(t.Context(), "gift",
					[]EventCall{{ID: id, Fields: map[string]jsontext.Value{"note": jsontext.Value(spell(t, v))}}}))(t)
				return happened[0]
			}
			if r := call(first); r.Err != nil {
				t.Skip("long data")
			}
			r := call(second)
			if !same {
				require.ErrorIs(t, r.Err, definition.ErrIDMismatch)
				return
			}
			require.NoError(t, r.Err)
			for _, o := range r.Outcomes {
				check("of an event", o)
			}
		})
		for _, change := range []definition.Update{{Member: "m", Score: 2}, {Member: "o", Score: 1},
			{Member: "m", Score: 1, Op: definition.Last}, {Member: "m", Score: 1, If: definition.Exists},
			{Member: "m", Score: 1, If: definition.Absent}, {Member: "m", Score: 1, Data: "1"}} {
			if NameOf("c", change.Member, Shards) != NameOf("c", "m", Shards) {
				continue // each shard knows its own ids
			}
			apply(t, s, "c", definition.Update{Member: "m", Score: 1, ID: "x"})
			change.ID = "x"
			all := must(s.Apply(t.Context(), "c", []definition.Update{change}))(t)
			require.ErrorIs(t, all[0].Err, definition.ErrIDMismatch)
		}
	})
}

// A retry is told from another update by all that an update may have.
func TestDigestOfAnUpdate(t *testing.T) {
	digests := map[string]bool{}
	for _, u := range []definition.Update{{Member: "m"}, {Member: "m", If: definition.Exists},
		{Member: "m", If: definition.Absent}, {Member: "m", Data: "1"}, {Member: "m", Data: "2"},
		{Member: "m", If: definition.Exists, Data: "1"}, {Member: "m", Op: definition.Last}} {
		digests[write{Update: u}.digest(definition.Board{Mode: definition.Sum})] = true
	}
	require.Len(t, digests, 7)
}
