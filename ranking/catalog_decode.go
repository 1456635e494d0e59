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
		kind, name, _ := strings.Cut(field, ":")
		switch kind + ":" {
		case leavingField:
			d.leaving[name] = fields.Number()
		case idsField:
			d.idsSince[name] = fields.Number()
		case boardField:
			decodeField(d, was, field, name, fields.Text(), d.boards, was.boards, compile)
		case eventField:
			decodeField(d, was, field, name, fields.Text(), d.events, was.events, decodeEvent)
		case profilesField:
			d.profiled[name] = true
			fields.Text()
		default:
			fields.Text()
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

// decodeField decodes a board or an event into found, by its name. It takes a definition with the same JSON, or the
// error of that, from an earlier copy.
func decodeField[T any](d, was *definitions, field, name, value string, found, before map[string]*T,
	decode func(name, value string) (*T, error)) {
	if known, there := was.values[field]; there && known == value {
		d.values[field] = known // so that the node keeps the text once
		if err := was.broken[field]; err != nil {
			d.broken[field] = err
		} else {
			found[name] = before[name]
		}
		return
	}
	d.values[field] = value
	v, err := decode(name, value)
	if err != nil {
		// The error does not wrap the kind of err: the request of the caller is not wrong.
		d.broken[field] = fmt.Errorf("%w: this node cannot read the definition %q, which a newer version may have written: %v",
			definition.ErrUnavailable, field, err)
		return
	}
	found[name] = v
}

func decodeEvent(_, value string) (*definition.Event, error) {
	e := new(definition.Event)
	return e, json.Unmarshal([]byte(value), e)
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
// existing union cannot have as a source any more. Of several wrong unions it names the first that changed.
func (all definedBoards) checkUnions(changed []definition.Board, at locateError) error {
	for _, u := range slices.Concat(changed, slices.SortedFunc(maps.Values(all), byBoard)) {
		if u.Union == nil {
			continue
		}
		err := u.Union.CheckSources(all)
		if err != nil && slices.ContainsFunc(changed, func(b definition.Board) bool { return b.Name == u.Name }) {
			return at(u, err)
		}
		for _, b := range changed {
			if err != nil && slices.Contains(u.Union.Slots(), b.Slot()) {
				return at(b, conflict("board", "%q is a source of union %q, which does not allow this definition: %v", b.Name, u.Name, err))
			}
		}
	}
	return nil
}

// checkFreezes refuses a changed board that no longer freezes with the other boards of an event.
func (all definedBoards) checkFreezes(e *definition.Event, changed []definition.Board, at locateError) error {
	reason := e.FreezeConflict(all)
	for _, b := range changed {
		if reason != "" && slices.ContainsFunc(e.Updates, func(t definition.Target) bool { return t.Slot() == b.Slot() }) {
			return at(b, conflict("freeze", "is not possible with event %q, whose %s", e.Name, reason))
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
		if err := all.checkFreezes(events[name], changed, at); err != nil {
			return err
		}
	}
	return nil
}
