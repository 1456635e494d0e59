package send

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"rankcast/cmd/rankcast/internal/term"
	"rankcast/ranking/definition"
	"rankcast/server/client"
)

// sendEvent reads the event's definition, by which it checks the fields, and sends the event.
func (s *Command) sendEvent(ctx context.Context, c *client.Client, at time.Time) error {
	def, err := c.EventDefinition(ctx, s.Event)
	if err != nil {
		return s.explain(ctx, s.Event, err)
	}
	e, err := definition.ParseEvent(s.Event, def)
	if err != nil {
		return fmt.Errorf("this version cannot decode the definition of event %q: %w", s.Event, err)
	}
	data, err := s.fields(e, at)
	if err != nil {
		return err
	}
	outcomes, err := c.Event(ctx, s.Event, client.Event{ID: s.ID, Data: data})
	if err != nil {
		return s.explain(ctx, s.Event, err)
	}
	if err := s.printOutcomes(outcomes); err != nil {
		return err
	}
	refused := 0
	for _, o := range outcomes {
		if o.Err != nil {
			refused++
		}
	}
	if refused > 0 {
		return fmt.Errorf("%d of %d boards did not take the event; send it again within ten minutes with --id %s, and it counts on those alone",
			refused, len(outcomes), s.ID)
	}
	return nil
}

// fields encodes the arguments as the event's fields, which the server checks. The definition
// says which are numbers; all others are text.
func (s *Command) fields(e definition.Event, at time.Time) (jsontext.Value, error) {
	fields := make(map[string]any)
	for _, arg := range s.What {
		name, value, ok := strings.Cut(arg, "=")
		if _, twice := fields[name]; twice {
			return nil, definition.Invalid(term.Printable(name), "is given twice")
		}
		if !ok {
			return nil, fmt.Errorf("%s: is not NAME=VALUE, such as star=s17", term.Printable(arg))
		}
		fields[name] = value
		if is, _ := e.FieldType(name); is == definition.IntegerField {
			n, err := definition.ParseScore(name, value)
			if err != nil {
				return nil, err
			}
			fields[name] = n
		}
	}
	if !at.IsZero() {
		if _, own := e.FieldType(definition.AtField); own {
			return nil, fmt.Errorf("--at: event %s has a field %s of its own; give it as %s=TIME", e.Name, definition.AtField, definition.AtField)
		}
		fields[definition.AtField] = at.UnixMilli()
	}
	return json.Marshal(fields)
}

// printOutcomes prints a line for each board, or all outcomes as JSON.
func (s *Command) printOutcomes(outcomes []client.Outcome) error {
	if s.JSON {
		return printOutcomesJSON(outcomes)
	}
	for _, o := range outcomes {
		if o.Err != nil {
			fmt.Printf("%s: refused: %s\n", term.Printable(o.Result.Board), term.Printable(term.Cause(o.Err).Error()))
			continue
		}
		fmt.Println(s.line(o.Result))
	}
	return nil
}

// printOutcomesJSON prints outcomes in the form of the server's answer.
func printOutcomesJSON(outcomes []client.Outcome) error {
	type refused struct {
		Board string        `json:"board"`
		Error *client.Error `json:"error"`
	}
	results := make([]any, len(outcomes))
	for i, o := range outcomes {
		results[i] = o.Result
		if e, ok := errors.AsType[*client.Error](o.Err); ok {
			results[i] = refused{o.Result.Board, e}
		}
	}
	return printJSON(map[string]any{"results": results})
}
