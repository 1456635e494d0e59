package definition

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Union says how a board is built from the scores of other boards, its sources. Each score is
// multiplied by the weight of its source. Scores and results are whole numbers: the fraction
// of a source's sort keys, which decides ties there, has no effect.
type Union struct {
	// Of lists the sources, 1 to 32 boards, none of which is a union. A part of a source's
	// name may be one of the union's own placeholders: "fans:{star}", "fans:s17".
	Of []string `json:"of"`
	// Weights are integers within ±1,000,000, one for each source, and never 0. Default 1 for
	// each source.
	Weights []int64 `json:"weights,omitzero"`
	// Aggregate says how the weighted scores of a member become one score. Only the boards
	// that the member is on contribute. A result beyond ±MaxScore becomes that bound. Default
	// sum.
	Aggregate Aggregate `json:"aggregate,omitzero"`
	// Last is the number of periods of each source that count: the current period and those
	// before it. 1 to Keep+1 of the source, and 1 where a source has no periods. Last times
	// the number of sources is at most 1,000. Default 1.
	Last int `json:"last,omitzero"`
	// Refresh is the greatest age of a result, not counting the time of the build. 1s to 1d,
	// default 1m.
	Refresh time.Duration `json:"refresh,omitzero"`
}

// Aggregate says how several scores become one.
type Aggregate string

// The aggregates.
const (
	SumOf Aggregate = "sum" // the sum of the weighted scores
	MinOf Aggregate = "min" // the least of the weighted scores
	MaxOf Aggregate = "max" // the greatest of the weighted scores
)

const (
	maxSources     = 32
	maxWeight      = 1_000_000
	maxUnionLast   = 1000
	maxSummed      = 1000 // board-periods of one result
	defaultRefresh = time.Minute
	MaxRefresh     = day // the greatest refresh interval of a union or a window
)

func readUnion(v Value, u *Union) error {
	return ReadFields(v, u, "an object, such as {of: [a, b]}", "a union", unionReaders)
}

// unionReaders read the fields of a union.
var unionReaders = []FieldReader[Union]{
	{Name: "of", Read: func(u *Union, v Value) error { return readEach(v, "a list of boards, such as [a, b]", &u.Of, ReadText) }},
	{Name: "weights", Read: func(u *Union, v Value) error {
		return readEach(v, "a list of integers, such as [1, 2]", &u.Weights, readWeight)
	}},
	{Name: "aggregate", Read: func(u *Union, v Value) error { return ReadText(v, &u.Aggregate) }},
	{Name: "last", Read: func(u *Union, v Value) error { return readInteger(v, &u.Last, 1) }},
	{Name: "refresh", Read: func(u *Union, v Value) error { return refreshRange.read(v, &u.Refresh) }},
}

func readWeight(v Value, n *int64) error { return readInteger(v, n, -maxWeight) }

// refreshRange is the range of the refresh interval of a union.
var refreshRange = durationRange{minDuration, MaxRefresh, "is not a whole number of s, m, h or d, such as 90s or 5m, from 1s to 1d"}

// readEach reads a list that is not empty, and each of its items with read.
func readEach[T any](v Value, want string, list *[]T, read func(Value, *T) error) error {
	if v.Kind != '[' {
		return v.Want(want)
	}
	if len(v.Items) == 0 {
		return v.Refuse("is empty; want %s", want)
	}
	*list = make([]T, len(v.Items))
	for i, item := range v.Items {
		if err := read(item, &(*list)[i]); err != nil {
			return err
		}
	}
	return nil
}

// checkUnion normalizes a union, and refuses the fields that have no meaning on a board that
// takes no updates.
func (d *Board) checkUnion(t FamilyName) error {
	if d.Union == nil {
		return nil
	}
	if field := firstGiven(append(d.timed(), []presence{
		{"window", d.Window != 0}, {"refresh", d.Refresh != 0}, {"mode", d.Mode != Sum}, {"tie_span", d.TieSpan != 0},
		{"min", d.Min != nil}, {"max", d.Max != nil}, {"max_change", d.MaxChange != 0}, {"ids", d.IDs != 0},
		{"shards", d.Shards != 0},
	}...)); field != "" {
		return Invalid(field, "does not apply to a union, which is built from other boards; omit it")
	}
	u := *d.Union
	d.Union = &u
	return u.normalize(d.Union, t)
}

// normalize checks u and stores its normalized form in into, with slices of its own.
func (u Union) normalize(into *Union, t FamilyName) error {
	if n := len(u.Of); n < 1 || n > maxSources {
		return Invalid("union.of", fmt.Sprintf("has %d boards; want 1 to %d", n, maxSources))
	}
	for i, of := range u.Of {
		if err := checkSource(ItemPath("union.of", i), of, t); err != nil {
			return err
		}
		if slices.Contains(u.Of[:i], of) {
			return Invalid(ItemPath("union.of", i), fmt.Sprintf("is %q a second time; give the board a weight instead", Clip(of)))
		}
	}
	u.Of = slices.Clone(u.Of)
	if u.Weights == nil {
		u.Weights = slices.Repeat([]int64{1}, len(u.Of))
	}
	u.Weights = slices.Clone(u.Weights)
	if len(u.Weights) != len(u.Of) {
		return Invalid("union.weights", fmt.Sprintf("has %d weights; want %d, one for each board", len(u.Weights), len(u.Of)))
	}
	for i, w := range u.Weights {
		if w == 0 || w < -maxWeight || w > maxWeight {
			return Invalid(ItemPath("union.weights", i), fmt.Sprintf("is %d; want an integer within ±%d other than 0", w, maxWeight))
		}
	}
	if err := oneOf("union.aggregate", &u.Aggregate, SumOf, MinOf, MaxOf); err != nil {
		return err
	}
	if u.Last = cmp.Or(u.Last, 1); u.Last < 1 || u.Last > maxUnionLast {
		return Invalid("union.last", fmt.Sprintf("is %d; want 1 to %d periods", u.Last, maxUnionLast))
	}
	if n := u.Last * len(u.Of); n > maxSummed {
		return Invalid("union.last", fmt.Sprintf("makes %d periods of %d boards; want at most %d", n, len(u.Of), maxSummed))
	}
	u.Refresh = cmp.Or(u.Refresh, defaultRefresh)
	*into = u
	return fault("union.refresh", refreshRange.fault(u.Refresh))
}

// checkSource checks the name of a source, without the other definitions.
func checkSource(path, of string, t FamilyName) error {
	if strings.Contains(of, "@") {
		return Invalid(path,
			"has a period; a union takes the current period, and with last the periods before it: omit the @ and what follows it")
	}
	_, parts, err := splitName(path, of, "parts", "; parts follow after a colon, such as fans:{star}")
	if err != nil {
		return err
	}
	for i, part := range parts {
		if name, is := PlaceholderIn(part); is {
			if !slices.Contains(t.Placeholders, name) {
				return Invalid(path,
					fmt.Sprintf("has the placeholder %s, which the union's own name does not have; write its value instead", Clip(part)))
			}
			continue
		}
		if reason := partFault(part); reason != "" {
			return Invalid(path, fmt.Sprintf("part %d %s", i+1, reason))
		}
	}
	return nil
}

// PlaceholderIn returns the name of the placeholder that a part of a source's name is. It
// returns false for a part that is no placeholder.
func PlaceholderIn(part string) (name string, is bool) {
	inner, opened := strings.CutPrefix(part, "{")
	inner, closed := strings.CutSuffix(inner, "}")
	return inner, opened && closed
}

// Slots returns the slots of the union's sources, in the order of Of.
func (u *Union) Slots() []string {
	slots := make([]string, len(u.Of))
	for i, of := range u.Of {
		slots[i] = SlotOf(of)
	}
	return slots
}

// CheckSources checks a normalized union against the other definitions: each source is
// defined, is not a union, and keeps enough periods for Last. defined are the normalized
// definitions by slot. The error is a FieldError.
func (u *Union) CheckSources(defined map[string]Board) error {
	for i, slot := range u.Slots() {
		path := ItemPath("union.of", i)
		d, there := defined[slot]
		switch {
		case !there:
			return Invalid(path, fmt.Sprintf("is %s, but there is no such board; define it first", u.Of[i]))
		case d.Union != nil:
			return Invalid(path, fmt.Sprintf("is %s, which is a union itself; name its sources instead", u.Of[i]))
		case d.Columns != nil:
			return Invalid(path, fmt.Sprintf("is %s, which has columns, whose scores no union can add; omit it", u.Of[i]))
		case d.Period == "" && u.Last > 1:
			return Invalid("union.last", fmt.Sprintf("is %d, but %s has no periods; want 1, or omit it", u.Last, u.Of[i]))
		case d.Period != "" && u.Last > *d.Keep+1:
			return Invalid("union.last", fmt.Sprintf("is %d; want at most %d, because %s keeps %d closed periods", u.Last, *d.Keep+1,
				u.Of[i], *d.Keep))
		}
	}
	return nil
}
