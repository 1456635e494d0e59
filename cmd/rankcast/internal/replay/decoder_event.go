package replay

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"rankcast/ranking/definition"
	"rankcast/server/client"
)

// eventAt is the field that tells a server when an event happened, unless the event has a
// field of that name.
const eventAt = "at"

// eventFields are the fields of an event, by its definition.
type eventFields struct {
	event    definition.Event
	names    []string        // sorted
	integers map[string]bool // fields that are scores
	texts    map[string]bool // fields in names of boards and members; a field in data alone may be any JSON
}

// newEventFields decodes an event's definition from a server's answer.
func newEventFields(event string, def jsontext.Value) (*eventFields, error) {
	e, err := definition.ParseEvent(event, def)
	if err != nil {
		return nil, fmt.Errorf("this version cannot decode the definition of event %q: %w", event, err)
	}
	f := &eventFields{event: e, integers: make(map[string]bool), texts: make(map[string]bool)}
	for _, field := range e.Fields() {
		f.names = append(f.names, field.Name)
		f.integers[field.Name] = field.Type == definition.IntegerField
		f.texts[field.Name] = field.Type == definition.TextField
	}
	return f, nil
}

// batchLimit is how many of these events a server accepts in one request.
func (f *eventFields) batchLimit() int { return client.MaxEventUpdates / len(f.event.Updates) }

// checkNumbers refuses a column for --numbers that is text or no field of the event.
func (f *eventFields) checkNumbers(columns []string) error {
	for _, name := range columns {
		switch {
		case f.texts[name]:
			return fmt.Errorf("--numbers: %s is text: event %s has it in the name of a board or a member", name, f.event.Name)
		case !slices.Contains(f.names, name):
			return fmt.Errorf("--numbers: %s is no field of event %s; its fields are %s", name, f.event.Name, strings.Join(f.names, ", "))
		}
	}
	return nil
}

// pick returns the event's fields of a line and leaves out the rest, which a server refuses. The error of a mistake is the
// FieldError of a server.
func (f *eventFields) pick(line fields) (fields, error) {
	picked := make(fields, len(f.names))
	for _, name := range f.names {
		if v, there := line[name]; there {
			picked[name] = v
		}
	}
	_, err := f.event.Expand(picked)
	return picked, err
}
