package ranking

import (
	"fmt"
	"maps"
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
			d.broken[field] = fmt.Errorf("%w: this node cannot read the definition %q, which a newer version may have written: %v", ErrUnavailable, field, err)
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
