package ranking

import (
	"cmp"
	"maps"
	"slices"

	"rankcast/ranking/definition"
)

// definedBoards are the boards after a change, by slot.
type definedBoards map[string]definition.Board

// boardsAfter returns the present boards, without those under deletion, with the given
// boards added or replaced.
func (d *definitions) boardsAfter(boards []definition.Board) definedBoards {
	all := make(definedBoards)
	for slot := range d.boards {
		if r, _ := d.compiledIn(slot); r != nil {
			all[slot] = r.Board
		}
	}
	for _, b := range boards {
		all[b.Slot()] = b
	}
	return all
}

func (all definedBoards) of(slot string) (definition.Board, bool) {
	d, there := all[slot]
	return d, there
}

// unionOf names a union that has the slot as a source; "" where no union has.
func (all definedBoards) unionOf(slot string) string {
	for _, d := range slices.SortedFunc(maps.Values(all), byBoard) {
		if d.Union != nil && slices.Contains(d.Union.Slots(), slot) {
			return d.Name
		}
	}
	return ""
}

func byBoard(a, b definition.Board) int { return cmp.Compare(a.Name, b.Name) }

// checkUnions refuses changed unions with invalid sources, and changed boards that an
// existing union cannot have as a source any more.
func (all definedBoards) checkUnions(changed []definition.Board, at locateError) error {
	for _, b := range changed {
		if b.Union == nil {
			continue
		}
		if err := b.Union.CheckSources(all.of); err != nil {
			return at(b, err)
		}
	}
	for _, u := range slices.SortedFunc(maps.Values(all), byBoard) {
		if u.Union == nil {
			continue
		}
		err := u.Union.CheckSources(all.of)
		for _, b := range changed {
			if err != nil && slices.Contains(u.Union.Slots(), b.Slot()) {
				return at(b, conflict("board", "%q is a source of union %q, which does not allow this definition: %v", b.Name, u.Name, err))
			}
		}
	}
	return nil
}

// checkTargets refuses changed boards that would no longer take the updates of an event. It
// does not check the events that change too.
func (all definedBoards) checkTargets(events map[string]*definition.Event, change []definition.Event, changed []definition.Board, at locateError) error {
	for _, name := range slices.Sorted(maps.Keys(events)) {
		if slices.ContainsFunc(change, func(e definition.Event) bool { return e.Name == name }) {
			continue
		}
		for i, t := range events[name].Updates {
			for _, b := range changed {
				if t.Slot() != b.Slot() {
					continue
				}
				if is, field, reason := t.Conflict(b); is != "" {
					return at(b, conflict(is, "is not possible with event %q, whose %s %s: change the event first", name, definition.ItemPath("updates", i)+field, reason))
				}
			}
		}
	}
	return nil
}

// checkEvent refuses an event whose updates do not fit their boards.
func (all definedBoards) checkEvent(e definition.Event) error {
	for i, t := range e.Updates {
		if is, field, reason := t.Conflict(all[t.Slot()]); is != "" {
			return Invalid(definition.ItemPath("updates", i)+field, reason)
		}
	}
	return nil
}
