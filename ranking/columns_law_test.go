package ranking_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/definition/definitiontest"
	"rankcast/ranking/proptest"
	"rankcast/ranking/rankingtest"
	"rankcast/ranking/redistest"
)

// A board with columns is a stable sort of tuples: through sums, bests, sets, removals, retries and take-backs, at the edges of
// the ranges too.
func TestColumnsSortAsTuples(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		s, boards := open(t, url), 0
		proptest.CheckSeeded(t, redistest.Volume(url, 60), func(t *rapid.T) {
			boards++
			b := newTuples(t, s, fmt.Sprint("b", boards))
			for range rapid.IntRange(1, 25).Draw(t, "calls") {
				b.call()
			}
			b.read()
		})
	})
}

// tuples is a board with columns, and the model of it: a list of tuples.
type tuples struct {
	t       *rapid.T
	s       *ranking.Store
	d       definition.Board
	list    []tuple
	reached int               // counts changes of scores
	lives   map[string]int    // how often each member has left
	events  []judged          // that counted
	retries map[string]func() // by request id
}

// tuple is a member of the model.
type tuple struct {
	member  string
	values  []int64
	reached int
}

// judged is an event of the model.
type judged struct {
	id, member string
	life       int
	amounts    []int64
	changes    bool // it was not refused, and did not leave the member as it was; and it was not taken back
}

var (
	someTeam = rapid.SampledFrom([]string{"a", "b", "c", "d"})
	someMode = rapid.SampledFrom([]definition.Mode{definition.Sum, definition.Sum, definition.Best, definition.Last})
	why      = ranking.Moderator{Reason: "law"}
)

func newTuples(t *rapid.T, s *ranking.Store, name string) *tuples {
	ties := []definition.Ties{definition.First, definition.Shared, definition.Dense, definition.ByMember}
	if definitiontest.Shards() > 0 { // shards do not know the arrivals of each other
		ties = ties[3:]
	}
	d := definition.Board{Name: name, Mode: someMode.Draw(t, "mode"), Ties: rapid.SampledFrom(ties).Draw(t, "ties")}
	bits := 40
	if d.Ties == definition.ByMember {
		bits = 53
		d.Shards = rapid.SampledFrom([]int{0, 2}).Draw(t, "shards")
	}
	d.Columns = rankingtest.Columns(t, rapid.SampledFrom([]int{8, 20, bits, bits}).Draw(t, "bits"))
	e := definition.Event{Name: name, Updates: []definition.Target{{Board: name, Member: "{m}", Columns: definition.ColumnAmounts{},
		Op: definition.Sum}}}
	for _, c := range d.Columns {
		e.Updates[0].Columns[c.Name] = definition.Amount("{" + c.Name + "}")
	}
	require.NoError(t, s.Define(t.Context(), definition.Set{Boards: []definition.Board{d}, Events: []definition.Event{e}}))
	return &tuples{t: t, s: s, d: d, lives: make(map[string]int), retries: make(map[string]func())}
}

func (b *tuples) find(member string) *tuple {
	i := slices.IndexFunc(b.list, func(e tuple) bool { return e.member == member })
	if i < 0 {
		return nil
	}
	return &b.list[i]
}

// valuesOf are the values of a member; zeros where it is not on the board.
func (b *tuples) valuesOf(member string) []int64 {
	if e := b.find(member); e != nil {
		return slices.Clone(e.values)
	}
	return make([]int64, len(b.d.Columns))
}

func (b *tuples) set(member string, values []int64) {
	b.reached++
	switch e := b.find(member); {
	case e == nil:
		b.list = append(b.list, tuple{member, values, b.reached})
	case !slices.Equal(e.values, values):
		e.values, e.reached = values, b.reached
	}
}

func (b *tuples) remove(member string) {
	b.lives[member]++
	b.list = slices.DeleteFunc(b.list, func(e tuple) bool { return e.member == member })
}

// named are values by the names of the columns.
func (b *tuples) named(values []int64) map[string]int64 {
	named := make(map[string]int64)
	for i, c := range b.d.Columns {
		named[c.Name] = values[i]
	}
	return named
}

// drawValues draws a tuple, which may lie just outside the ranges.
func (b *tuples) drawValues() []int64 {
	values := make([]int64, len(b.d.Columns))
	for i, c := range b.d.Columns {
		edges := rapid.SampledFrom([]int64{0, 0, 1, c.Min, c.Max, c.Min, c.Max})
		values[i] = rapid.OneOf(rapid.Int64Range(c.Min, c.Max), edges).Draw(b.t, "value")
		if rapid.IntRange(0, 40).Draw(b.t, "outside") == 0 {
			values[i] = c.Max + 1
		}
	}
	return values
}

// drawAmounts draws what a sum adds to a tuple, mostly up to the edges of the ranges.
func (b *tuples) drawAmounts(to []int64) []int64 {
	amounts := make([]int64, len(to))
	for i, c := range b.d.Columns {
		least, most := c.Min-to[i], c.Max-to[i]
		amounts[i] = rapid.OneOf(rapid.Int64Range(least, most), rapid.SampledFrom([]int64{0, 0, 1, least, most})).Draw(b.t, "amount")
		if rapid.IntRange(0, 40).Draw(b.t, "outside") == 0 {
			amounts[i] = most + 1
		}
	}
	return amounts
}

// plus is a tuple after a sum.
func plus(values, amounts []int64) []int64 {
	sum := slices.Clone(values)
	for i, n := range amounts {
		sum[i] += n
	}
	return sum
}

// outside are the columns of a tuple whose values are out of range, as errors name them.
func (b *tuples) outside(values []int64) (outside []string) {
	for i, c := range b.d.Columns {
		if values[i] < c.Min || values[i] > c.Max {
			outside = append(outside, "columns."+c.Name)
		}
	}
	return outside
}

// call makes one call, and requires what the model says of it.
func (b *tuples) call() {
	ctx, member := b.t.Context(), someTeam.Draw(b.t, "member")
	switch rapid.IntRange(0, 9).Draw(b.t, "call") {
	case 0:
		_, err := b.s.Remove(ctx, b.d.Name, member)
		require.Equal(b.t, b.find(member) == nil, errors.Is(err, definition.ErrUnknownMember))
		if b.find(member) != nil {
			b.remove(member)
		}
	case 1:
		values := b.drawValues()
		r, err := b.s.SetColumns(ctx, b.d.Name, member, b.named(values), why)
		b.took(member, values, values, ranking.Outcome{Result: r, Err: err})
	case 2, 3:
		b.happen(member)
	case 4, 5:
		b.takeBack()
	case 6:
		for _, id := range slices.Sorted(maps.Keys(b.retries)) {
			b.retries[id]()
			break
		}
	default:
		b.update(member)
	}
}

// took compares the outcome of an update to a tuple with the values that the member should have.
func (b *tuples) took(member string, to, values []int64, o ranking.Outcome) {
	if outside := b.outside(to); outside != nil {
		var field *definition.FieldError
		require.ErrorAs(b.t, o.Err, &field)
		require.ErrorIs(b.t, field, definition.ErrOutOfRange)
		require.Contains(b.t, outside, field.Field)
		return
	}
	require.NoError(b.t, o.Err)
	b.set(member, values)
	require.Equal(b.t, b.valuesOf(member), b.unpack(o.Result.Current.Score))
}

func (b *tuples) unpack(score int64) []int64 {
	values := b.d.Columns.Unpack(score)
	return slices.Clone(values[:len(b.d.Columns)])
}

func (b *tuples) update(member string) {
	u := definition.Update{Member: member, ID: rapid.SampledFrom([]string{"", fmt.Sprint("i", b.reached)}).Draw(b.t, "id")}
	u.Op = rapid.SampledFrom([]definition.Mode{"", "", definition.Sum, definition.Best, definition.Last}).Draw(b.t, "op")
	had, to := b.valuesOf(member), b.drawValues()
	switch cmp.Or(u.Op, b.d.Mode) {
	case definition.Sum:
		amounts := b.drawAmounts(had)
		to, u.Columns = plus(had, amounts), b.named(amounts)
		for name, n := range u.Columns {
			if n == 0 && len(u.Columns) > 1 { // it may be left out
				delete(u.Columns, name)
			}
		}
	default:
		u.Columns = b.named(to)
	}
	want := to
	if b.find(member) != nil && cmp.Or(u.Op, b.d.Mode) == definition.Best && rankingtest.CompareColumns(b.d.Columns, had, to) < 0 {
		want = had
	}
	_, known := b.retries[member+u.ID]
	o := b.apply(u)
	b.took(member, to, want, o)
	if o.Err == nil && u.ID != "" && !known {
		b.retries[member+u.ID] = func() {
			again := b.apply(u)
			require.True(b.t, again.Result.Duplicate)
			require.Equal(b.t, o.Result.Current.Score, again.Result.Current.Score)
		}
	}
}

func (b *tuples) apply(u definition.Update) ranking.Outcome {
	return must(b.s.Apply(b.t.Context(), b.d.Name, []definition.Update{u}))(b.t)[0]
}

// happen sends an event.
func (b *tuples) happen(member string) {
	had := b.valuesOf(member)
	amounts := b.drawAmounts(had)
	fields := []any{"m", member}
	for i, c := range b.d.Columns {
		fields = append(fields, c.Name, amounts[i])
	}
	id := fmt.Sprint("e", len(b.events))
	o := must(b.s.ApplyEvents(b.t.Context(), b.d.Name, []ranking.EventCall{ranking.Occurs(id, fields...)}))(b.t)[0]
	require.NoError(b.t, o.Err)
	sum := plus(had, amounts)
	changes := b.outside(sum) == nil && (b.find(member) == nil || !slices.Equal(had, sum))
	b.took(member, sum, sum, o.Outcomes[0])
	b.events = append(b.events, judged{id, member, b.lives[member], amounts, changes})
}

// takeBack takes one of the events back: each column stays in its range, and a member of which nothing is left leaves.
func (b *tuples) takeBack() {
	if len(b.events) == 0 {
		return
	}
	e := &b.events[rapid.IntRange(0, len(b.events)-1).Draw(b.t, "event")]
	must(b.s.TakeBack(b.t.Context(), b.d.Name, e.id, nil, why))(b.t)
	counts := e.changes && b.lives[e.member] == e.life && b.find(e.member) != nil
	if e.changes = false; !counts {
		return
	}
	values := b.valuesOf(e.member)
	for i, c := range b.d.Columns {
		values[i] = max(c.Min, min(c.Max, values[i]-e.amounts[i]))
	}
	if slices.Equal(values, make([]int64, len(values))) {
		b.remove(e.member)
		return
	}
	b.set(e.member, values)
}

// sorted is the model in the order of the board.
func (b *tuples) sorted() []tuple {
	list := slices.Clone(b.list)
	slices.SortFunc(list, func(x, y tuple) int {
		if b.d.Ties == definition.ByMember {
			return cmp.Or(rankingtest.CompareColumns(b.d.Columns, x.values, y.values), strings.Compare(x.member, y.member))
		}
		return cmp.Or(rankingtest.CompareColumns(b.d.Columns, x.values, y.values), cmp.Compare(x.reached, y.reached))
	})
	return list
}

// read compares what is read of the board with the model.
func (b *tuples) read() {
	ctx, list := context.Background(), b.sorted()
	page := must(b.s.Page(ctx, b.d.Name, 1, 100))(b.t)
	require.True(b.t, b.d.Columns.Equal(page.Columns))
	require.Len(b.t, page.Entries, len(list))
	rank := int64(0)
	for i, e := range page.Entries {
		require.Equal(b.t, list[i].member, e.Member)
		require.Equal(b.t, list[i].values, b.unpack(e.Score))
		rank = b.d.Ties.RankAfter(rank, int64(i)+1, i > 0 && slices.Equal(list[i-1].values, list[i].values))
		require.Equal(b.t, rank, e.Rank)
		if rank > 1 {
			n := must(b.s.Around(ctx, b.d.Name, e.Member, 0))(b.t)
			var lacks map[string]int64
			require.NoError(b.t, json.Unmarshal(n.ToNextColumns(page.Columns), &lacks))
			for j, c := range b.d.Columns {
				want := list[i-1].values[j] - list[i].values[j]
				if c.Order == definition.Asc {
					want = -want
				}
				require.Equal(b.t, want, lacks[c.Name])
			}
		}
	}
	low, high := b.drawValues(), b.drawValues()
	if b.outside(low) != nil || b.outside(high) != nil {
		_, err := b.s.Read(ctx, b.d.Name, ranking.Query{MinColumns: b.named(low), MaxColumns: b.named(high)})
		require.ErrorIs(b.t, err, definition.ErrInvalid)
		return
	}
	if rankingtest.CompareColumns(b.d.Columns, low, high) < 0 {
		low, high = high, low
	}
	within := must(b.s.Read(ctx, b.d.Name, ranking.Query{MinColumns: b.named(low), MaxColumns: b.named(high), Limit: 100}))(b.t)
	var want []string
	better, same, above := 0, 0, make(map[string]bool)
	for _, e := range list {
		toLow, toHigh := rankingtest.CompareColumns(b.d.Columns, e.values, low), rankingtest.CompareColumns(b.d.Columns, e.values, high)
		if toLow <= 0 && toHigh >= 0 {
			want = append(want, e.member)
		}
		switch {
		case toLow < 0:
			better++
			above[fmt.Sprint(e.values)] = true
		case toLow == 0:
			same++
		}
	}
	require.Equal(b.t, want, names(within.Entries))
	at := must(b.s.AtColumns(ctx, b.d.Name, b.named(low), nil, 10))(b.t)
	wantRank := map[definition.Ties]int{definition.First: better + same + 1, definition.Shared: better + 1, definition.Dense: len(above) + 1,
		definition.ByMember: better + 1}[b.d.Ties]
	require.EqualValues(b.t, wantRank, at.Rank)
	require.EqualValues(b.t, same, at.Count)
	require.Equal(b.t, low, b.unpack(at.Score))
}
