package definition

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Union is what a board is built of: the scores of other boards, each times a weight.
// A score, and what it comes to, is a whole number; the fraction by which a source's
// members tie stays out of it.
type Union struct {
	// Of are 1 to 32 boards. In a part of an instance's name may stand one of the
	// union's own placeholders: "fans:{star}", "fans:s17". None of them is a union.
	Of []string `json:"of"`
	// Weights are integers within ±1,000,000 but 0, one for each of Of. Default 1.
	Weights []int64 `json:"weights,omitzero"`
	// Aggregate is what becomes of a member's weighted scores: those that it has, on
	// whatever boards it is. A result beyond ±MaxScore is left at that bound. Default
	// sum.
	Aggregate Aggregate `json:"aggregate,omitzero"`
	// Last is how many periods of each source count: the current one and those before
	// it, 1 to Keep+1 of the source; 1 where a source has no periods. With Of it comes
	// to 1,000 periods at most. Default 1.
	Last int `json:"last,omitzero"`
	// Refresh is how old a result gets, and a build. 1s to 1d, default 1m.
	Refresh time.Duration `json:"refresh,omitzero"`
}

// Aggregate is how one score is made of several.
type Aggregate string

// The aggregates.
const (
	SumOf Aggregate = "sum"
	MinOf Aggregate = "min"
	MaxOf Aggregate = "max"
)

const (
	maxSources     = 32
	maxWeight      = 1_000_000
	maxUnionLast   = 1000
	maxSummed      = 1000 // board-periods of one result
	defaultRefresh = time.Minute
	MaxRefresh     = day
)

func (u *Union) read(v value) error {
	return v.object("an object, such as {of: [a, b]}", func(f field) error {
		switch f.name {
		case "of":
			return readEach(f.value, "a list of boards, such as [a, b]", &u.Of, readText)
		case "weights":
			return readEach(f.value, "a list of integers, such as [1, 2]", &u.Weights, func(v value, n *int64) error {
				return readInteger(v, n, -maxWeight)
			})
		case "aggregate":
			return readText(f.value, &u.Aggregate)
		case "last":
			return readInteger(f.value, &u.Last, 1)
		case "refresh":
			return readRange(f.value, &u.Refresh, wantRefresh)
		}
		return f.refuse("is not a field of a union; want of, weights, aggregate, last or refresh")
	})
}

const wantRefresh = "is not a whole number of s, m, h or d, such as 90s or 5m, from 1s to 1d"

// readRange reads a duration whose range is narrower than that of others.
func readRange(v value, d *time.Duration, want string) error {
	err := readDuration(v, d)
	if err != nil && v.kind != 'n' {
		err = v.refuse("%s", want)
	}
	return err
}

// refreshFault tells what is wrong with how old a result may get.
func refreshFault(d time.Duration) string {
	if d > MaxRefresh || durationFault(d) != "" {
		return wantRefresh
	}
	return ""
}

// readEach reads a list of one kind, which is not empty.
func readEach[T any](v value, want string, list *[]T, read func(value, *T) error) error {
	if v.kind != '[' {
		return v.want(want)
	}
	if len(v.items) == 0 {
		return v.refuse("is empty; want %s", want)
	}
	*list = make([]T, len(v.items))
	for i, item := range v.items {
		if err := read(item, &(*list)[i]); err != nil {
			return err
		}
	}
	return nil
}

// checkUnion brings a union into one form, and refuses what a board that nobody writes
// to has no use for.
func (d *Board) checkUnion(t FamilyName) error {
	if d.Union == nil {
		return nil
	}
	if field := firstGiven(append(d.timed(), []presence{
		{"window", d.Window != 0}, {"refresh", d.Refresh != 0}, {"mode", d.Mode != Sum}, {"tie_span", d.TieSpan != 0},
		{"min", d.Min != nil}, {"max", d.Max != nil}, {"max_change", d.MaxChange != 0},
	}...)); field != "" {
		return Invalid(field, "does not apply to a union, which is built from other boards; leave it away")
	}
	u := *d.Union
	d.Union = &u
	return u.normalize(d.Union, t)
}

// normalize puts the one form of u into a copy of its own.
func (u Union) normalize(into *Union, t FamilyName) error {
	if n := len(u.Of); n < 1 || n > maxSources {
		return Invalid("union.of", fmt.Sprintf("has %d boards; want 1 to %d", n, maxSources))
	}
	for i, of := range u.Of {
		if err := checkSource(ItemPath("union.of", i), of, t); err != nil {
			return err
		}
		if slices.Contains(u.Of[:i], of) {
			return Invalid(ItemPath("union.of", i), fmt.Sprintf("is %q a second time; give it a weight", Clip(of)))
		}
	}
	u.Of = slices.Clone(u.Of)
	if u.Weights == nil {
		u.Weights = slices.Repeat([]int64{1}, len(u.Of))
	}
	u.Weights = slices.Clone(u.Weights)
	if len(u.Weights) != len(u.Of) {
		return Invalid("union.weights", fmt.Sprintf("has %d; want %d, one for each board", len(u.Weights), len(u.Of)))
	}
	for i, w := range u.Weights {
		if w == 0 || w < -maxWeight || w > maxWeight {
			return Invalid(ItemPath("union.weights", i), fmt.Sprintf("is %d; want an integer within ±%d, but 0", w, maxWeight))
		}
	}
	if err := oneOf("union.aggregate", &u.Aggregate, SumOf, MinOf, MaxOf); err != nil {
		return err
	}
	if u.Last = cmp.Or(u.Last, 1); u.Last < 1 || u.Last > maxUnionLast {
		return Invalid("union.last", fmt.Sprintf("is %d; want 1 to %d periods", u.Last, maxUnionLast))
	}
	if n := u.Last * len(u.Of); n > maxSummed {
		return Invalid("union.last", fmt.Sprintf("makes %d periods of %d boards; want %d at most", n, len(u.Of), maxSummed))
	}
	u.Refresh = cmp.Or(u.Refresh, defaultRefresh)
	if reason := refreshFault(u.Refresh); reason != "" {
		return Invalid("union.refresh", reason)
	}
	*into = u
	return nil
}

// checkSource looks at the name of a source, for itself.
func checkSource(path, of string, t FamilyName) error {
	if strings.Contains(of, "@") {
		return Invalid(path, "has a period; a union is of the current one, and with last of those before it: leave the @ away")
	}
	parts := strings.Split(of, ":")
	if !baseName.MatchString(parts[0]) {
		return Invalid(path, wantBase+"; parts follow after that, such as fans:{star}")
	}
	if len(parts)-1 > maxParts {
		return Invalid(path, fmt.Sprintf("has %d parts; want %d at most", len(parts)-1, maxParts))
	}
	for i, part := range parts[1:] {
		if name, is := PlaceholderIn(part); is {
			if !slices.Contains(t.Placeholders, name) {
				return Invalid(path, fmt.Sprintf("has the placeholder %s, which the union's own name has not; fill it in", Clip(part)))
			}
			continue
		}
		if reason := partFault(part); reason != "" {
			return Invalid(path, fmt.Sprintf("part %d %s", i+1, reason))
		}
	}
	return nil
}

// PlaceholderIn is the name of the placeholder that a part is.
func PlaceholderIn(part string) (name string, is bool) {
	inner, opened := strings.CutPrefix(part, "{")
	inner, closed := strings.CutSuffix(inner, "}")
	return inner, opened && closed
}

// Slots are those of the union's sources, in their order.
func (u *Union) Slots() []string {
	slots := make([]string, len(u.Of))
	for i, of := range u.Of {
		base, _, _ := strings.Cut(of, ":")
		slots[i] = SlotOf(base, strings.Count(of, ":"))
	}
	return slots
}

// CheckSources looks at a union beside the definitions there are, by slot.
func (u *Union) CheckSources(defined func(slot string) (Board, bool)) error {
	for i, slot := range u.Slots() {
		path := ItemPath("union.of", i)
		d, there := defined(slot)
		switch {
		case !there:
			return Invalid(path, fmt.Sprintf("is %s, but there is no such board", u.Of[i]))
		case d.Union != nil:
			return Invalid(path, fmt.Sprintf("is %s, which is a union itself; name the boards that it is of", u.Of[i]))
		case d.Period == "" && u.Last > 1:
			return Invalid("union.last", fmt.Sprintf("is %d; %s has no periods: want 1, or leave it away", u.Last, u.Of[i]))
		case d.Period != "" && u.Last > *d.Keep+1:
			return Invalid("union.last", fmt.Sprintf("is %d; of %s there are %d, as it keeps %d that have closed", u.Last, u.Of[i], *d.Keep+1, *d.Keep))
		}
	}
	return nil
}
