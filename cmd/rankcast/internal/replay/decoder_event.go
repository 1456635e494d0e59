package replay

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"rankcast/ranking/definition"
	"rankcast/server/client"
)

// eventFields are the fields of an event, by its definition.
type eventFields struct{ definition.Event }

// newEventFields decodes an event's definition from a server's answer.
func newEventFields(event string, def jsontext.Value) (*eventFields, error) {
	e, err := definition.ParseEvent(event, def)
	if err != nil {
		return nil, fmt.Errorf("this version cannot decode the definition of event %q: %w", event, err)
	}
	return &eventFields{e}, nil
}

// batchLimit is how many of these events a server accepts in one request.
func (f *eventFields) batchLimit() int { return client.MaxEventUpdates / len(f.Updates) }

// checkNumbers refuses a column for --numbers that is text or no field of the event.
func (f *eventFields) checkNumbers(columns []string) error {
	for _, name := range columns {
		switch is, known := f.FieldType(name); {
		case is == definition.TextField:
			return fmt.Errorf("--numbers: %s is text: event %s has it in the name of a board or a member", name, f.Name)
		case !known:
			return fmt.Errorf("--numbers: %s is no field of event %s; its fields are %s", name, f.Name, strings.Join(f.FieldNames(), ", "))
		}
	}
	return nil
}

// pick returns the event's fields of a line and leaves out the rest, which a server refuses. The error of a mistake is the
// FieldError of a server.
func (f *eventFields) pick(line fields) (fields, error) {
	picked := make(fields, len(f.FieldNames()))
	for _, name := range f.FieldNames() {
		if v, there := line[name]; there {
			picked[name] = v
		}
	}
	_, err := f.Expand(picked)
	return picked, err
}
