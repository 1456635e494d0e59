package ranking

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/script"
)

// stored returns the fields to restore: boards that are not under deletion, events, and the
// kinds with profiles. A node that knows such a kind sets profiles without a new mark.
func (d *definitions) stored() map[string]string {
	kept := maps.Clone(d.values)
	for slot := range d.leaving {
		delete(kept, boardField+slot)
	}
	for kind := range d.profiled {
		kept[profilesField+kind] = "1"
	}
	for field := range d.idsSince {
		if _, there := kept[field]; there {
			kept[idsField+field] = "now" // Redis has lost the ids too
		}
	}
	return kept
}

// decode reads the fields of the hash. It reuses what was, an earlier copy or nil, has of a definition
// with the same JSON. Else a node would compile all definitions again after each change of one.
func (d *definitions) decode(fields *script.Reply, was *definitions) error {
	if was == nil {
		was = new(definitions)
	}
	d.boards, d.events, d.broken = make(map[string]*definition.Compiled), make(map[string]*definition.Event), make(map[string]error)
	d.leaving, d.values, d.profiled = make(map[string]int64), make(map[string]string), make(map[string]bool)
	d.idsSince = make(map[string]int64)
	for fields.More() {
		field := fields.Text()
		if slot, ok := strings.CutPrefix(field, leavingField); ok {
			d.leaving[slot] = fields.Number()
			continue
		}
		if of, ok := strings.CutPrefix(field, idsField); ok {
			d.idsSince[of] = fields.Number()
			continue
		}
		value := fields.Text()
		if kind, ok := strings.CutPrefix(field, profilesField); ok {
			d.profiled[kind] = true
		} else if known, there := was.values[field]; there && known == value {
			d.reuse(was, field)
		} else if err := d.decodeField(field, value); err != nil {
			// The error does not wrap the kind of err: the request of the caller is not
			// wrong.
			d.broken[field] = fmt.Errorf("%w: this node cannot read the definition %q, which a newer version may have written: %v",
				ErrUnavailable, field, err)
		}
	}
	d.spanIDs()
	return fields.Err
}

// spanIDs computes the spans of the boards' request ids, which depend on the events that update the boards.
func (d *definitions) spanIDs() {
	ofEvents := make(map[string][]time.Duration)
	for _, e := range d.events {
		for _, t := range e.Updates {
			ofEvents[t.Slot()] = append(ofEvents[t.Slot()], e.IDSpan())
		}
	}
	d.idSpans = make(map[string]time.Duration, len(d.boards))
	for slot, r := range d.boards {
		d.idSpans[slot] = r.IDSpan(ofEvents[slot])
	}
}

// decodeField decodes a board or an event. It leaves out a field of another kind.
func (d *definitions) decodeField(field, value string) error {
	if slot, ok := strings.CutPrefix(field, boardField); ok {
		d.values[field] = value
		r, err := compile(slot, value)
		if err != nil {
			return err
		}
		d.boards[slot] = r
	} else if name, ok := strings.CutPrefix(field, eventField); ok {
		d.values[field] = value
		e := new(definition.Event)
		if err := json.Unmarshal([]byte(value), e); err != nil {
			return err
		}
		d.events[name] = e
	}
	return nil
}

// reuse takes a board or an event, or its error, from an earlier copy.
func (d *definitions) reuse(was *definitions, field string) {
	d.values[field] = was.values[field] // so that the node keeps the text once
	if err := was.broken[field]; err != nil {
		d.broken[field] = err
	} else if slot, ok := strings.CutPrefix(field, boardField); ok {
		d.boards[slot] = was.boards[slot]
	} else {
		name := strings.TrimPrefix(field, eventField)
		d.events[name] = was.events[name]
	}
}

func compile(slot, value string) (*definition.Compiled, error) {
	var d definition.Board
	if err := json.Unmarshal([]byte(value), &d); err != nil {
		return nil, err
	}
	if d.Slot() != slot {
		return nil, fmt.Errorf("it is the definition of %q", d.Name)
	}
	return definition.Compile(d)
}

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
func (all definedBoards) checkTargets(events map[string]*definition.Event, change []definition.Event,
	changed []definition.Board, at locateError) error {
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
					return at(b, conflict(is, "is not possible with event %q, whose %s %s: change the event first", name,
						definition.ItemPath("updates", i)+field, reason))
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
