package send

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
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
	if err := s.printOutcomes(ctx, c, outcomes); err != nil {
		return err
	}
	refused := 0
	for _, o := range outcomes {
		if o.Err != nil {
			refused++
		}
	}
	if refused > 0 {
		return fmt.Errorf("%d of %d boards did not take the event; send it again within ten minutes with --id %s, and it counts on those alone", refused, len(outcomes), s.ID)
	}
	return nil
}

// fields encodes the arguments as the event's fields. The definition says which are numbers;
// all others are text.
func (s *Command) fields(e definition.Event, at time.Time) (jsontext.Value, error) {
	types := make(map[string]definition.FieldType)
	var names []string
	for _, f := range e.Fields() {
		types[f.Name] = f.Type
		names = append(names, f.Name)
	}
	fields := make(map[string]jsontext.Value)
	for _, arg := range s.What {
		name, value, ok := strings.Cut(arg, "=")
		kind, known := types[name]
		_, twice := fields[name]
		switch {
		case !ok:
			return nil, fmt.Errorf("%s: is not NAME=VALUE; event %s has %s", term.Printable(arg), e.Name, strings.Join(names, ", "))
		case !known:
			return nil, definition.Invalid(term.Printable(name), fmt.Sprintf("is not a field of event %s; it has %s", e.Name, strings.Join(names, ", ")))
		case twice:
			return nil, definition.Invalid(name, "is given twice")
		}
		v, err := jsontext.AppendQuote(nil, value)
		if err != nil {
			return nil, definition.Invalid(name, "is not valid UTF-8")
		}
		if kind == definition.IntegerField {
			n, err := definition.ParseScore(name, value)
			if err != nil {
				return nil, err
			}
			v = strconv.AppendInt(nil, n, 10)
		}
		fields[name] = v
	}
	if !at.IsZero() {
		if slices.Contains(names, definition.AtField) {
			return nil, fmt.Errorf("--at: event %s has a field %s of its own; give it as %s=TIME", e.Name, definition.AtField, definition.AtField)
		}
		fields[definition.AtField] = jsontext.Value(strconv.FormatInt(at.UnixMilli(), 10))
	}
	if _, err := e.Expand(fields); err != nil {
		return nil, err
	}
	return json.Marshal(fields, json.Deterministic(true))
}

// printOutcomes prints a line for each board, or the server's answer.
func (s *Command) printOutcomes(ctx context.Context, c *client.Client, outcomes []client.Outcome) error {
	if s.JSON {
		return printJSON(newAnswer(outcomes))
	}
	for _, o := range outcomes {
		if o.Err != nil {
			fmt.Printf("%s: refused: %s\n", term.Printable(o.Result.Board), term.Printable(term.Refusal(o.Err).Error()))
			continue
		}
		fmt.Println(s.line(ctx, c, o.Result))
	}
	return nil
}

// answer is the server's answer to an event.
type answer struct {
	Results []any `json:"results"`
}

type refusal struct {
	Board string       `json:"board"`
	Error refusalError `json:"error"`
}

type refusalError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Field   string `json:"field,omitempty"`
}

func newAnswer(outcomes []client.Outcome) answer {
	a := answer{Results: make([]any, len(outcomes))}
	for i, o := range outcomes {
		a.Results[i] = o.Result
		if refused, ok := errorAnswer(o.Err); ok {
			a.Results[i] = refusal{o.Result.Board, refused}
		}
	}
	return a
}

// errorAnswer is the server's refusal of one update of an event, as it stands in the answer.
func errorAnswer(err error) (refusalError, bool) {
	var refused *client.Error
	if !errors.As(err, &refused) {
		return refusalError{}, false
	}
	return refusalError{refused.Code, refused.Message, refused.Field}, true
}
