package ranking

import (
	"cmp"
	"context"
	"fmt"
	"maps"
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
	maxRefresh     = day
)

// refresh is how old the result of a board that is built may get; 0: it is not built.
func (d Definition) refresh() time.Duration {
	if d.Union == nil {
		return 0
	}
	return d.Union.Refresh
}

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
			if readDuration(f.value, &u.Refresh) != nil {
				return f.value.refuse(wantRefresh) // its range is narrower
			}
			return nil
		}
		return f.refuse("is not a field of a union; want of, weights, aggregate, last or refresh")
	})
}

const wantRefresh = "is not a whole number of s, m, h or d, such as 90s or 5m, from 1s to 1d"

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
func (d *Definition) checkUnion(t template) error {
	if d.Union == nil {
		return nil
	}
	for _, f := range []struct {
		name  string
		given bool
	}{
		{"mode", d.Mode != Sum}, {"period", d.Period != ""}, {"base", !d.Base.IsZero()},
		{"timezone", d.Timezone != ""}, {"week_starts", d.WeekStarts != ""}, {"day_starts_at", d.DayStartsAt != ""},
		{"keep", d.Keep != nil}, {"starts", !d.Starts.IsZero()}, {"ends", !d.Ends.IsZero()}, {"tie_span", d.TieSpan != 0}, {"limit", d.Limit != 0}, {"member_ttl", d.MemberTTL != 0},
		{"min", d.Min != nil}, {"max", d.Max != nil}, {"max_change", d.MaxChange != 0},
	} {
		if f.given {
			return Invalid(f.name, "does not apply to a union, which is built from other boards; leave it away")
		}
	}
	u := *d.Union
	d.Union = &u
	return u.normalize(d.Union, t)
}

// normalize puts the one form of u into a copy of its own.
func (u Union) normalize(into *Union, t template) error {
	if n := len(u.Of); n < 1 || n > maxSources {
		return Invalid("union.of", fmt.Sprintf("has %d boards; want 1 to %d", n, maxSources))
	}
	for i, of := range u.Of {
		if err := checkSource(item("union.of", i), of, t); err != nil {
			return err
		}
		if slices.Contains(u.Of[:i], of) {
			return Invalid(item("union.of", i), fmt.Sprintf("is %q a second time; give it a weight", clip(of)))
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
			return Invalid(item("union.weights", i), fmt.Sprintf("is %d; want an integer within ±%d, but 0", w, maxWeight))
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
	if u.Refresh = cmp.Or(u.Refresh, defaultRefresh); u.Refresh > maxRefresh || durationFault(u.Refresh) != "" {
		return Invalid("union.refresh", wantRefresh)
	}
	*into = u
	return nil
}

// checkSource looks at the name of a source, for itself.
func checkSource(path, of string, t template) error {
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
		if name, is := placeholderIn(part); is {
			if !slices.Contains(t.placeholders, name) {
				return Invalid(path, fmt.Sprintf("has the placeholder %s, which the union's own name has not; fill it in", clip(part)))
			}
			continue
		}
		if reason := partFault(part); reason != "" {
			return Invalid(path, fmt.Sprintf("part %d %s", i+1, reason))
		}
	}
	return nil
}

// placeholderIn is the name of the placeholder that a part is.
func placeholderIn(part string) (name string, is bool) {
	inner, opened := strings.CutPrefix(part, "{")
	inner, closed := strings.CutSuffix(inner, "}")
	return inner, opened && closed
}

// slots are those of the union's sources, in their order.
func (u *Union) slots() []string {
	slots := make([]string, len(u.Of))
	for i, of := range u.Of {
		base, _, _ := strings.Cut(of, ":")
		slots[i] = slot(base, strings.Count(of, ":"))
	}
	return slots
}

// check looks at a union beside the definitions there are, by slot.
func (u *Union) check(defined func(slot string) (Definition, bool)) error {
	for i, slot := range u.slots() {
		path := item("union.of", i)
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

// summed is a board-period that goes into a result.
type summed struct {
	keys   boardKeys
	order  Order
	weight int64
}

// summed are all that go into the union at a moment of Redis's clock, in µs since 1970.
func (u *Union) summed(d *definitions, k keys, n name, t template, now int64) ([]summed, error) {
	var all []summed
	for i, of := range u.Of {
		parts := strings.Split(of, ":")
		for j, part := range parts[1:] {
			if placeholder, is := placeholderIn(part); is {
				parts[j+1] = n.parts[slices.Index(t.placeholders, placeholder)]
			}
		}
		source := name{base: parts[0], parts: parts[1:]}
		r, err := d.rule(source)
		if err != nil {
			return nil, err
		}
		p, there := r.current(now), true
		for last := 0; last < u.Last && there; last++ {
			all = append(all, summed{keys: k.board(source.instance(), p.name), order: r.Order, weight: u.Weights[i]})
			if r.calendar == nil {
				break
			}
			p, there = r.calendar.before(p)
		}
	}
	return all, nil
}

// tally is what a member comes to so far: about 120 bytes with the member's id.
type tally struct {
	rest    wide  // of the sources before the latest
	some    bool  // there are such
	source  int32 // the latest that the member is on, as it is numbered
	current int64 // its score there: a source may tell of a member more than once
}

// tallies sum up sources, one after the other.
type tallies struct {
	aggregate Aggregate
	weights   []int64 // by source
	members   map[string]tally
}

// add takes note of a member's score on a source.
func (t *tallies) add(source int, member string, score int64) {
	e, there := t.members[member]
	if there && e.source != int32(source) {
		e.rest, e.some = t.whole(e), true
	}
	e.source, e.current = int32(source), score
	t.members[member] = e
}

// whole is what a member comes to.
func (t *tallies) whole(e tally) wide {
	latest := times(t.weights[e.source], e.current)
	switch {
	case !e.some:
		return latest
	case t.aggregate == MinOf:
		return slices.MinFunc([]wide{e.rest, latest}, wide.compare)
	case t.aggregate == MaxOf:
		return slices.MaxFunc([]wide{e.rest, latest}, wide.compare)
	default:
		return e.rest.plus(latest)
	}
}

// scores are those of all members, in no order.
func (t *tallies) scores() []scored {
	scores := make([]scored, 0, len(t.members))
	for member, e := range t.members {
		scores = append(scores, scored{member, t.whole(e).score()})
	}
	return scores
}

// wide is an integer, high·2^26 + low with 0 ≤ low < 2^26, that has room for a thousand
// scores times their weights.
type wide struct{ high, low int64 }

const lowBits = 26

func times(weight, score int64) wide {
	return wide{weight * (score >> lowBits), weight * (score & (1<<lowBits - 1))}.normal()
}

func (w wide) normal() wide { return wide{w.high + w.low>>lowBits, w.low & (1<<lowBits - 1)} }

func (w wide) plus(other wide) wide { return wide{w.high + other.high, w.low + other.low}.normal() }

func (w wide) compare(other wide) int {
	return cmp.Or(cmp.Compare(w.high, other.high), cmp.Compare(w.low, other.low))
}

// score is w, or the bound that it is beyond.
func (w wide) score() int64 {
	const most = MaxScore>>lowBits + 1
	high := min(max(w.high, -most-1), most)
	return min(max(high<<lowBits+w.low, -MaxScore), MaxScore)
}

// anyOf reports whether there is a result, or anything of the boards that it is of.
func (s *Store) anyOf(ctx context.Context, meta string, all []summed) (bool, error) {
	keys := []string{meta}
	for _, b := range all {
		keys = append(keys, b.keys.members)
	}
	for some := range slices.Chunk(keys, scanTogether) {
		ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
		pipe := s.rdb.Pipeline()
		for _, key := range some {
			pipe.Exists(ctx, key)
		}
		cmds, err := pipe.Exec(ctx)
		cancel()
		if err != nil {
			return false, fmt.Errorf("%w: %w", ErrUnavailable, err)
		}
		for _, c := range cmds {
			if n, ok := c.(interface{ Val() int64 }); ok && n.Val() > 0 {
				return true, nil
			}
		}
	}
	return false, nil
}

const (
	// scanPage is about how many members one call of scan.lua reads: it holds Redis for
	// half a millisecond.
	scanPage = 256
	// scanTogether is how many board-periods one round trip asks for.
	scanTogether = 100
)

// sum reads all that goes into a union, and says what each member comes to. It calls
// between with how long each call took.
func (s *Store) sum(ctx context.Context, u *Union, all []summed, between func(context.Context, time.Duration) error) ([]scored, error) {
	t := tallies{aggregate: u.Aggregate, members: make(map[string]tally)}
	for source, b := range all {
		t.weights = append(t.weights, b.weight)
		if err := s.scan(ctx, b, between, func(member string, score int64) { t.add(source, member, score) }); err != nil {
			return nil, err
		}
	}
	return t.scores(), nil
}

// scan reads a board-period: each member that is there throughout at least once, and its
// score as it was at that moment.
func (s *Store) scan(ctx context.Context, b summed, between func(context.Context, time.Duration) error, take func(member string, score int64)) error {
	server, cursor := "", "0"
	for first := true; first || cursor != "0"; first = false {
		began := time.Now()
		r, err := s.callKeys(ctx, scanScript, []string{b.keys.members, b.keys.meta}, []any{cursor, scanPage})
		if err != nil {
			return err
		}
		from := r.text()
		order, _ := r.shape(Definition{Order: b.order})
		cursor = r.text()
		rows := r.list()
		for len(rows.rest) > 0 && rows.err == nil {
			member, key := rows.text(), rows.key()
			take(member, key.Score(order))
		}
		if err := cmp.Or(r.err, rows.err); err != nil {
			return err
		}
		if first {
			server = from
		} else if from != server {
			return fmt.Errorf("%w: another Redis answers for a board that was being read", ErrUnavailable)
		}
		if err := between(ctx, time.Since(began)); err != nil {
			return err
		}
	}
	return nil
}

// defined are definitions as they are after a change, by slot.
type defined map[string]Definition

// with are those that there are, those that go left out, and others that come.
func (d *definitions) with(boards []Definition) defined {
	all := make(defined)
	for slot := range d.rules {
		if r, _ := d.ruleOf(slot); r != nil {
			all[slot] = r.Definition
		}
	}
	for _, b := range boards {
		all[b.slot()] = b
	}
	return all
}

func (all defined) of(slot string) (Definition, bool) {
	d, there := all[slot]
	return d, there
}

// unionOf names a union that is of a board; "" where none is.
func (all defined) unionOf(slot string) string {
	for _, d := range slices.SortedFunc(maps.Values(all), byBoard) {
		if d.Union != nil && slices.Contains(d.Union.slots(), slot) {
			return d.Board
		}
	}
	return ""
}

func byBoard(a, b Definition) int { return cmp.Compare(a.Board, b.Board) }

// checkUnions refuses boards that are unions of what they cannot be of, or that a union
// cannot be of any more.
func (all defined) checkUnions(changed []Definition, at located) error {
	for _, b := range changed {
		if b.Union == nil {
			continue
		}
		if err := b.Union.check(all.of); err != nil {
			return at(sectionBoards, b.Board, err)
		}
	}
	for _, u := range slices.SortedFunc(maps.Values(all), byBoard) {
		if u.Union == nil {
			continue
		}
		err := u.Union.check(all.of)
		for _, b := range changed {
			if err != nil && slices.Contains(u.Union.slots(), b.slot()) {
				return at(sectionBoards, b.Board, conflict("board", "%q is a board of union %q, which would not do: %v", b.Board, u.Board, err))
			}
		}
	}
	return nil
}

// checkTargets refuses boards that become unions although events update them, those
// left out that change too.
func (all defined) checkTargets(events map[string]*Event, change []Event, changed []Definition, at located) error {
	for _, name := range slices.Sorted(maps.Keys(events)) {
		if slices.ContainsFunc(change, func(e Event) bool { return e.Name == name }) {
			continue
		}
		e := events[name]
		for _, b := range changed {
			if b.Union != nil && slices.ContainsFunc(e.Updates, func(t Target) bool { return t.slot() == b.slot() }) {
				return at(sectionBoards, b.Board, conflict("union", "would leave event %q without a board to update: change the event first", name))
			}
		}
	}
	return nil
}

// checkTakes refuses an event that updates a union.
func (e Event) checkTakes(all defined) error {
	for i, t := range e.Updates {
		if d := all[t.slot()]; d.Union != nil {
			return Invalid(item("updates", i)+".board", fmt.Sprintf("is for %s, a union, which is built from other boards; update these", d.Board))
		}
	}
	return nil
}

// slot is that of the board that an update is for.
func (t Target) slot() string {
	base, _, _ := strings.Cut(t.Board, ":")
	return slot(base, strings.Count(t.Board, ":"))
}
