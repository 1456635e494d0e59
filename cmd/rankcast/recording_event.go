package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/server/client"
)

// eventAt is what tells a server when an event happened that has no field of that name.
const eventAt = "at"

// eventFields are the fields of an event, as its definition has them.
type eventFields struct {
	event    definition.Event
	names    []string        // sorted
	integers map[string]bool // are scores
	texts    map[string]bool // stand in boards and members; what is in data alone may be any JSON
}

// newEventFields reads an event's definition, as a server gives it.
func newEventFields(event string, def jsontext.Value) (*eventFields, error) {
	e, err := definition.ParseEvent(event, def)
	if err != nil {
		return nil, fmt.Errorf("the server has event %q as this version knows none: %w", event, err)
	}
	f := &eventFields{event: e, integers: make(map[string]bool), texts: make(map[string]bool)}
	for _, field := range e.Fields() {
		f.names = append(f.names, field.Name)
		f.integers[field.Name] = field.Type == definition.IntegerField
		f.texts[field.Name] = field.Type == definition.TextField
	}
	return f, nil
}

// atOnce is how many of the event a server takes at once.
func (f *eventFields) atOnce() int { return client.MaxEventUpdates / len(f.event.Updates) }

// checkNumbers refuses columns that cannot be numbers.
func (f *eventFields) checkNumbers(columns []string) error {
	for _, name := range columns {
		switch {
		case f.texts[name]:
			return fmt.Errorf("--numbers: %s is text, for event %s has it in a board or a member", name, f.event.Name)
		case !slices.Contains(f.names, name):
			return fmt.Errorf("--numbers: %s is no field of event %s; its fields are %s", name, f.event.Name, strings.Join(f.names, ", "))
		}
	}
	return nil
}

// pick gives what a line has of the event's fields. What else is in the line is of
// no use to the server, which would refuse it. What is wrong is told as the server
// would, with the field.
func (f *eventFields) pick(line fields) (picked fields, field string, err error) {
	picked = make(fields, len(f.names))
	for _, name := range f.names {
		if v, there := line[name]; there {
			picked[name] = v
		}
	}
	_, err = f.event.Expand(picked)
	var wrong *ranking.FieldError
	if errors.As(err, &wrong) {
		return nil, wrong.Field, errors.New(wrong.Reason)
	}
	return picked, "", err
}
