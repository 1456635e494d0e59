package definition_test

import (
	"cmp"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rankcast/ranking/definition"
	"rankcast/ranking/proptest"
	"rankcast/ranking/rankingtest"
	"rankcast/ranking/redistest"
)

// contest has solved problems, and minutes of which fewer are better.
var contest = definition.Columns{{Name: "solved", Max: 20}, {Name: "penalty", Order: definition.Asc, Max: 99999}}

// The integer of a tuple sorts as the tuple does, gives the tuple back, and is the sum of the integers of its parts.
func TestPackedColumnsSortAsTuples(t *testing.T) {
	t.Parallel()
	proptest.Check(t, 500, func(t *rapid.T) {
		d := definition.Board{Name: "b", Ties: definition.ByMember, Columns: rankingtest.Columns(t, 53)}
		d, err := d.Normalize()
		require.NoError(t, err)
		c := d.Columns
		tuple := func() []int64 {
			values := make([]int64, len(c))
			for i, column := range c {
				values[i] = rapid.OneOf(rapid.SampledFrom([]int64{column.Min, column.Max, 0}),
					rapid.Int64Range(column.Min, column.Max)).Draw(t, "value")
			}
			return values
		}
		a, b := tuple(), tuple()
		packed := c.Pack(a)
		unpacked := c.Unpack(packed)
		require.Equal(t, a, unpacked[:len(c)])
		require.LessOrEqual(t, max(packed, -packed), int64(definition.MaxScore))
		require.Equal(t, rankingtest.CompareColumns(c, a, b), cmp.Compare(c.Pack(b), packed))
		require.Zero(t, c.Pack(make([]int64, len(c))))
		sum := make([]int64, len(c))
		for i, column := range c {
			if sum[i] = a[i] + b[i]; sum[i] < column.Min || sum[i] > column.Max {
				return
			}
		}
		require.Equal(t, packed+c.Pack(b), c.Pack(sum))
	})
}

func TestColumnsOfADefinition(t *testing.T) {
	t.Parallel()
	d := redistest.Must(definition.ParseBoard("icpc", []byte(`{"columns":[
		{"name":"solved","max":20,"title":{"en":"Solved","zh":"解题"}},
		{"name":"penalty","order":"asc","max":99999,"display":{"unit":"min"}}]}`)))(t)
	want := `{"board":"icpc","mode":"sum","order":"desc","ties":"first","columns":[` +
		`{"name":"solved","title":{"en":"Solved","zh":"解题"},"order":"desc","max":20},` +
		`{"name":"penalty","order":"asc","max":99999,"display":{"unit":"min"}}],"kind":"member"}`
	require.Equal(t, want, string(redistest.Must(json.Marshal(d))(t)))
	require.Equal(t, d, redistest.Must(definition.ParseBoard("icpc", []byte(want)))(t), "the order given is that of packed scores")
	text := redistest.Must(d.YAML())(t)
	require.Equal(t, d, redistest.Must(definition.ParseBoardYAML("icpc", []byte(text)))(t), text)

	require.Equal(t, `{"solved":5,"penalty":320}`, string(d.Columns.JSON(5*100_000-320)))
	require.Nil(t, definition.Columns(nil).JSON(5))
	require.Equal(t, `{"solved":1,"penalty":-20}`, string(d.Columns.AppendToNext(nil, 2*100_000-10, 3*100_000-30)))

	plain := redistest.Must(definition.Board{Name: "icpc"}.Normalize())(t)
	require.Equal(t, "columns", d.IncompatibleField(plain))
	require.NotEqual(t, plain.Shape(), d.Shape())
	for name, change := range map[string]func(*definition.Column){
		"name":  func(c *definition.Column) { c.Name = "time" },
		"order": func(c *definition.Column) { c.Order = definition.Desc },
		"min":   func(c *definition.Column) { c.Min = -1 },
		"max":   func(c *definition.Column) { c.Max = 9 },
	} {
		other := redistest.Must(d.Normalize())(t)
		change(&other.Columns[1])
		require.Equal(t, "columns", other.IncompatibleField(d), name)
		require.NotEqual(t, d.Shape(), other.Shape(), name)
	}
	other := redistest.Must(d.Normalize())(t)
	other.Columns[0].Title, other.Columns[1].Display = nil, definition.Display{}
	require.Equal(t, "", other.IncompatibleField(d))
	require.Equal(t, d.Shape(), other.Shape())
}

func TestColumnsThatNoBoardHas(t *testing.T) {
	t.Parallel()
	two := `[{"name":"a","max":1},{"name":"b","max":1}]`
	for _, c := range [][2]string{
		{`{"columns":[]}`, "columns: is empty"},
		{`{"columns":{"a":1}}`, "columns: is an object; want a list of columns, such as"},
		{`{"columns":[{"name":"a","max":1}]}`, "columns: has 1 columns; want 2 to 8"},
		{`{"columns":[{"max":1},{"name":"b"}]}`, "columns[0].name: is missing"},
		{`{"columns":[{"name":"a","max":1},{"name":"b"}]}`, "columns[1].max: is missing"},
		{`{"columns":[{"name":"a","max":1},{"name":"a","max":1}]}`, "columns[1].name: is a, as another column has it"},
		{`{"columns":[{"name":"A","max":1},{"name":"b","max":1}]}`, `columns[0].name: is "A"; want 1 to 32 characters of a-z`},
		{`{"columns":[{"name":"1a","max":1},{"name":"b","max":1}]}`, `columns[0].name: is "1a"; want 1 to 32`},
		{`{"columns":[{"name":"a","max":0},{"name":"b","max":1}]}`, "columns[0].max: is 0; want at least 1"},
		{`{"columns":[{"name":"a","min":1,"max":3},{"name":"b","max":1}]}`, "columns[0].min: is 1; want 0 or less"},
		{`{"columns":[{"name":"a","order":"up","max":3},{"name":"b","max":1}]}`, `columns[0].order: is "up"; want one of desc, asc`},
		{`{"columns":[{"name":"a","weight":1,"max":3},{"name":"b","max":1}]}`,
			"columns[0].weight: is not a field of a column; want name, title"},
		{`{"columns":[{"name":"a","max":3,"display":{"decimals":9}},{"name":"b","max":1}]}`,
			"columns[0].display.decimals: is 9; want 0 to 6"},
		{`{"columns":[{"name":"a","max":1048575},{"name":"b","max":1048576}]}`,
			"columns: have ranges (max − min + 1) whose product is more than 1099511627776"},
		{`{"columns":[{"name":"a","max":9007199254740991},{"name":"b","max":9007199254740991}],"ties":"member"}`,
			"more than 9007199254740992"},
		{`{"columns":` + two + `,"order":"asc"}`, "order: does not apply to a board with columns; omit it: each column has an order"},
		{`{"columns":` + two + `,"display":{"decimals":1}}`, "display: does not apply to a board with columns"},
		{`{"columns":` + two + `,"window":"3h"}`, "window: does not apply to a board with columns"},
		{`{"columns":` + two + `,"union":{"of":["x"]}}`, "union: does not apply to a board with columns"},
		{`{"columns":` + two + `,"min":0}`, "min: does not apply to a board with columns"},
		{`{"columns":` + two + `,"max":9}`, "max: does not apply to a board with columns"},
		{`{"columns":` + two + `,"max_change":9}`, "max_change: does not apply to a board with columns"},
	} {
		err := redistest.ErrorOf(definition.ParseBoard("b", []byte(c[0])))
		require.ErrorContains(t, err, c[1], c[0])
		require.ErrorIs(t, err, definition.ErrInvalid, c[0])
	}
	for _, body := range []string{
		`{"columns":[{"name":"a","max":1048575},{"name":"b","max":1048575}]}`,
		`{"columns":[{"name":"a","min":-67108863,"max":67108864},{"name":"b","max":67108863}],"ties":"member"}`,
		`{"columns":` + two + `,"shards":3,"period":"week","ties":"shared"}`,
		`{"columns":` + two + `,"mode":"best","limit":10,"member_ttl":"1h","history":"1m"}`,
	} {
		require.NoError(t, redistest.ErrorOf(definition.ParseBoard("b", []byte(body))), body)
	}
	union := definition.Union{Of: []string{"icpc"}}
	err := union.CheckSources(map[string]definition.Board{definition.SlotOf("icpc"): {Name: "icpc", Columns: contest}})
	require.ErrorContains(t, err, "union.of[0]: is icpc, which has columns")
}

// An event has columns in the place of a score. Its fields may stand there.
func TestColumnsOfAnEvent(t *testing.T) {
	t.Parallel()
	e := redistest.Must(definition.ParseEvent("judged", []byte(
		`{"updates":[{"board":"icpc","member":"{team}","columns":{"solved":1,"penalty":"{minutes}"}}]}`)))(t)
	require.JSONEq(t, `{"event":"judged","updates":[{"board":"icpc","member":"{team}","columns":{"penalty":"{minutes}","solved":1}}]}`,
		string(redistest.Must(json.Marshal(e))(t)))
	text := redistest.Must(e.YAML())(t)
	require.Equal(t, e.UpdatesDigest(), redistest.Must(definition.ParseEventYAML("judged", []byte(text)))(t).UpdatesDigest(), text)
	updates := redistest.Must(e.Expand(map[string]jsontext.Value{"team": jsontext.Value(`"a"`), "minutes": jsontext.Value("20")}))(t)
	require.Equal(t, definition.Update{Member: "a", Columns: map[string]int64{"solved": 1, "penalty": 20}}, updates[0].Update)

	other := redistest.Must(definition.ParseEvent("judged", []byte(
		`{"updates":[{"board":"icpc","member":"{team}","columns":{"solved":2,"penalty":"{minutes}"}}]}`)))(t)
	require.NotEqual(t, e.UpdatesDigest(), other.UpdatesDigest())

	for update, says := range map[string]string{
		`"score":1,"columns":{"solved":1}`: "updates[0].score: cannot stand beside columns",
		`"columns":{}`:                     "updates[0].columns: is an object; want an object with the amount of each column",
		`"columns":7`:                      "updates[0].columns: is a number; want an object with the amount",
		`"columns":{"solved":"1"}`:         `updates[0].columns.solved: is the string "1"; want a number without quotes`,
		`"columns":{"solved":"{team}"}`:    "updates[0].columns.solved: uses the field team as an integer",
		`"columns":{"solved":1.5}`:         "updates[0].columns.solved: is 1.5; want an integer",
	} {
		err := redistest.ErrorOf(definition.ParseEvent("e", []byte(`{"updates":[{"board":"icpc","member":"{team}",`+update+`}]}`)))
		require.ErrorContains(t, err, says, update)
	}

	of := func(columns definition.ColumnAmounts, score definition.Amount, op definition.Mode) definition.Target {
		return definition.Target{Board: "b", Columns: columns, Score: score, Op: op}
	}
	for name, c := range map[string]struct {
		target      definition.Target
		mode        definition.Mode
		columns     definition.Columns
		field, says string
	}{
		"a score":           {of(nil, "1", ""), definition.Sum, contest, ".score", `want columns, such as {"solved":1,"penalty":0}`},
		"no columns":        {of(definition.ColumnAmounts{"solved": "1"}, "", ""), definition.Sum, nil, ".columns", "has no columns; want score"},
		"an unknown column": {of(definition.ColumnAmounts{"x": "1"}, "", ""), definition.Sum, contest, ".columns.x", "which has solved, penalty"},
		"one of two":        {of(definition.ColumnAmounts{"solved": "1"}, "", ""), definition.Best, contest, ".columns", "lacks penalty"},
		"one of a sum":      {of(definition.ColumnAmounts{"solved": "1"}, "", definition.Sum), definition.Best, contest, "", ""},
	} {
		is, field, reason := c.target.Conflict(definition.Board{Name: "b", Mode: c.mode, Columns: c.columns})
		require.Equal(t, c.field, field, name)
		require.Contains(t, reason, c.says, name)
		require.Equal(t, c.field != "", is == "columns", name)
	}
}

// A retry may leave out a column that is 0; another value is another update.
func TestDigestOfColumns(t *testing.T) {
	t.Parallel()
	digest := func(columns map[string]int64) string {
		return definition.Update{Member: "a", Columns: columns, At: time.Time{}}.Digest("")
	}
	one := digest(map[string]int64{"solved": 1})
	require.Equal(t, one, digest(map[string]int64{"solved": 1, "penalty": 0}))
	require.NotEqual(t, one, digest(map[string]int64{"solved": 1, "penalty": 99999}))
	require.NotEqual(t, digest(map[string]int64{"penalty": -1}), digest(map[string]int64{"solved": 1, "penalty": 99999}),
		"both make one integer")
}
