package ranking

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"rankcast/ranking/definition"
)

// DefinitionsVersion returns a text that changes with each change of a definition. What Boards and Events
// list after that call is as new as that version, or newer.
func (s *Store) DefinitionsVersion(ctx context.Context) (string, error) {
	d, err := s.catalog.get(ctx)
	if err != nil {
		return "", err
	}
	return d.version, nil
}

// Boards lists the boards and families by name.
func (s *Store) Boards(ctx context.Context) ([]definition.Board, error) {
	d, err := s.catalog.get(ctx)
	if err != nil {
		return nil, err
	}
	return slices.SortedFunc(maps.Values(d.boardsAfter(nil)), byBoard), nil
}

// Events lists the events by name.
func (s *Store) Events(ctx context.Context) ([]definition.Event, error) {
	d, err := s.catalog.get(ctx)
	if err != nil {
		return nil, err
	}
	var events []definition.Event
	for _, name := range slices.Sorted(maps.Keys(d.events)) {
		events = append(events, *d.events[name])
	}
	return events, nil
}

// Event returns an event, or ErrUnknownEvent.
func (s *Store) Event(ctx context.Context, name string) (definition.Event, error) {
	e, err := s.event(ctx, name)
	if err != nil {
		return definition.Event{}, err
	}
	return *e.Event, nil
}

// Definition returns a board or family by the name of its definition: "stars",
// "fans:{star}". It returns ErrUnknownBoard where there is none.
func (s *Store) Definition(ctx context.Context, board string) (definition.Board, error) {
	r, err := s.compiledDefinition(ctx, board)
	if err != nil {
		return definition.Board{}, err
	}
	return r.Board, nil
}

// compiledDefinition finds a definition by its own name, also one made a moment ago.
func (s *Store) compiledDefinition(ctx context.Context, board string) (*definition.Compiled, error) {
	t, err := definition.ParseFamilyName(board)
	if err != nil {
		return nil, err
	}
	r, err := findDefinition(ctx, &s.catalog, func(d *definitions, _ bool) (*definition.Compiled, error) {
		r, err := d.compiledIn(t.Slot())
		if r == nil && err == nil {
			err = unknownBoard(board)
		}
		return r, err
	})
	if err == nil && r.Board.Name != board { // another definition has the slot
		return nil, unknownBoard(board)
	}
	return r, err
}

func unknownBoard(board string) error {
	return &definition.FieldError{Field: "board", Reason: fmt.Sprintf("there is no board %q", board), Kind: definition.ErrUnknownBoard}
}

// maxNamedEvents bounds the events that the error of an unknown event names.
const maxNamedEvents = 10

// unknownEvent is the error of an event that is not defined. It names the events that are.
func (d *definitions) unknownEvent(event string) error {
	names := slices.Sorted(maps.Keys(d.events))
	more := ""
	if n := len(names) - maxNamedEvents; n > 0 {
		names, more = names[:maxNamedEvents], fmt.Sprintf(" and %d more", n)
	}
	known := "no event is defined"
	if len(names) > 0 {
		known = "the events are " + strings.Join(names, ", ") + more
	}
	return &definition.FieldError{Field: "event", Reason: fmt.Sprintf("there is no event %q", event),
		Kind: definition.ErrUnknownEvent, Hint: known}
}
