package ranking

import (
	"cmp"
	"maps"
	"slices"
)

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

// checkTargets refuses boards that would not take the updates of events any more, those
// left out that change too.
func (all defined) checkTargets(events map[string]*Event, change []Event, changed []Definition, at located) error {
	for _, name := range slices.Sorted(maps.Keys(events)) {
		if slices.ContainsFunc(change, func(e Event) bool { return e.Name == name }) {
			continue
		}
		for i, t := range events[name].Updates {
			for _, b := range changed {
				if t.slot() != b.slot() {
					continue
				}
				if is, field, reason := t.fault(b); is != "" {
					return at(sectionBoards, b.Board, conflict(is, "would not do for event %q, whose %s %s: change the event first", name, item("updates", i)+field, reason))
				}
			}
		}
	}
	return nil
}

// checkTakes refuses an event with updates that their boards do not take.
func (all defined) checkTakes(e Event) error {
	for i, t := range e.Updates {
		if is, field, reason := t.fault(all[t.slot()]); is != "" {
			return Invalid(item("updates", i)+field, reason)
		}
	}
	return nil
}
