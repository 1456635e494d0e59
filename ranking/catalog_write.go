package ranking

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

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
	var boards []definition.Board
	for slot := range d.boards {
		if r, _ := d.compiledIn(slot); r != nil {
			boards = append(boards, r.Board)
		}
	}
	slices.SortFunc(boards, func(a, b definition.Board) int { return cmp.Compare(a.Name, b.Name) })
	return boards, nil
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
	return *e, nil
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

// Define adds or changes the given definitions and keeps the others. It does all or
// nothing. It returns ErrConflict for a change that would re-order existing data and for a
// name that clashes with another. It returns the same for an end that has passed, or that
// is too near for all nodes to learn of it. A FieldError names the field by its path in a
// boards file: boards.stars.period, events.gift[0].board.
func (s *Store) Define(ctx context.Context, all definition.Set) error {
	return s.defineAll(ctx, all, definition.LocateInFile)
}

// DefineBoard is Define for one board or family. A FieldError names the field alone.
func (s *Store) DefineBoard(ctx context.Context, board definition.Board) error {
	return s.defineAll(ctx, definition.Set{Boards: []definition.Board{board}}, asGiven)
}

// DefineEvent is Define for one event. A FieldError names the field alone, such as
// updates[0].board.
func (s *Store) DefineEvent(ctx context.Context, event definition.Event) error {
	return s.defineAll(ctx, definition.Set{Events: []definition.Event{event}}, asGiven)
}

// locateError adds to the error of a definition the path by which the caller knows the
// field. section is boards or events, and name is the name of the definition.
type locateError func(section, name string, err error) error

// asGiven keeps the path within the definition.
func asGiven(_, _ string, err error) error { return err }

func (s *Store) defineAll(ctx context.Context, all definition.Set, at locateError) error {
	boards, events := slices.Clone(all.Boards), slices.Clone(all.Events)
	for i, b := range boards {
		var err error
		if boards[i], err = b.Normalize(); err == nil {
			err = boards[i].CheckNew()
		}
		if err != nil {
			return at(definition.SectionBoards, b.Name, err)
		}
	}
	for i, e := range events {
		var err error
		if events[i], err = e.Normalize(); err == nil {
			err = events[i].CheckNew()
		}
		if err != nil {
			return at(definition.SectionEvents, e.Name, err)
		}
	}
	return s.define(ctx, func(d *definitions) (catalogChange, error) {
		return d.planDefine(boards, events, at, s.catalog.clock.now())
	})
}

// define writes the change that plan returns. When another node has changed the definitions
// in the meantime, define reads them and calls plan again.
func (s *Store) define(ctx context.Context, plan func(*definitions) (catalogChange, error)) error {
	ctx, cancel := context.WithTimeout(ctx, defineTimeout)
	defer cancel()
	// Only one caller of this node at a time, so that only nodes compete.
	select {
	case s.defining <- struct{}{}:
		defer func() { <-s.defining }()
	case <-ctx.Done():
		return fmt.Errorf("define: %w: %w", ErrUnavailable, ctx.Err())
	}
	for {
		d, err := s.catalog.readFresh(ctx)
		if err != nil {
			return err
		}
		c, err := plan(d)
		if err != nil || len(c.fields) == 0 {
			return err
		}
		switch err := s.catalog.change(ctx, d, c); {
		case err == nil:
			_, err := s.catalog.readFresh(ctx) // so that the caller can use the definition
			return err
		case !errors.Is(err, errDefinitionsChanged):
			return err
		}
	}
}

// defineTimeout bounds the attempts to write a definition while other nodes define too. At
// each attempt at least one of the nodes succeeds.
const defineTimeout = 10 * time.Second

// catalogChange is one change of the definitions.
type catalogChange struct {
	fields      map[string]string // field to JSON; "" deletes the field
	mustBeEmpty map[string]error  // slots that must have no instances, to the error where one has
	reschedule  []string          // slots that need housekeeping once all nodes know the change
	deadline    int64             // the script refuses the change after this time, µs since 1970; 0: never
}

// applyBefore sets a deadline for the change, in µs since 1970. The earliest deadline
// counts.
func (c *catalogChange) applyBefore(end int64) {
	if c.deadline == 0 || end < c.deadline {
		c.deadline = end
	}
}

// planDefine plans the change that adds definitions to d. now is Redis's clock, in µs since
// 1970.
func (d *definitions) planDefine(boards []definition.Board, events []definition.Event, at locateError, now int64) (catalogChange, error) {
	c := catalogChange{fields: make(map[string]string), mustBeEmpty: make(map[string]error)}
	there, named := make(map[string]bool), make(map[string]bool)
	for field := range d.values {
		if slot, ok := strings.CutPrefix(field, boardField); ok {
			_, leaving := d.leaving[slot]
			there[slot] = !leaving
		} else {
			named[field] = true
		}
	}
	for _, b := range boards {
		slot := b.Slot()
		field := boardField + slot
		if _, twice := c.fields[field]; twice {
			return c, at(definition.SectionBoards, b.Name, conflict("board", "%q is defined twice", b.Name))
		}
		if err := d.broken[field]; err != nil {
			return c, err
		}
		if err := d.planRedefine(&c, b, now); err != nil {
			return c, at(definition.SectionBoards, b.Name, err)
		}
		if err := c.mustBeEmpty[slot]; err != nil {
			c.mustBeEmpty[slot] = at(definition.SectionBoards, b.Name, err)
		}
		there[slot] = true
		if changed, err := d.planField(c, field, b); err != nil {
			return c, err
		} else if changed && d.boards[slot] != nil && !b.SameLifetime(d.boards[slot].Board) {
			c.reschedule = append(c.reschedule, slot) // its housekeeping is due at another time
		}
	}
	rules := d.boardsAfter(boards)
	if err := rules.checkUnions(boards, at); err != nil {
		return c, err
	}
	if err := rules.checkTargets(d.events, events, boards, at); err != nil {
		return c, err
	}
	for _, e := range events {
		if err := rules.checkEvent(e); err != nil {
			return c, at(definition.SectionEvents, e.Name, err)
		}
		if err := e.CheckBoards(func(slot string) bool { return there[slot] }); err != nil {
			return c, at(definition.SectionEvents, e.Name, err)
		}
		named[eventField+e.Name] = true
		if _, err := d.planField(c, eventField+e.Name, e); err != nil {
			return c, err
		}
	}
	if len(there) > maxDefinitions || len(named) > maxDefinitions {
		return c, conflict("boards", "would be too many: at most %d boards and %d events can be defined", maxDefinitions, maxDefinitions)
	}
	bytes := 0
	for field, value := range d.values {
		if _, changed := c.fields[field]; !changed {
			bytes += len(value)
		}
	}
	for _, value := range c.fields {
		bytes += len(value)
	}
	if bytes > maxDefinitionBytes {
		return c, conflict("boards", "would be too large: all definitions together can have at most %d bytes of JSON", maxDefinitionBytes)
	}
	return c, nil
}

// planRedefine plans the change of a board to b, or returns the ErrConflict that prevents
// it. now is Redis's clock, in µs since 1970.
func (d *definitions) planRedefine(c *catalogChange, b definition.Board, now int64) error {
	slot := b.Slot()
	if _, leaving := d.leaving[slot]; leaving {
		return conflict("board", "%q is being deleted: try again when the deletion is done", b.Name)
	}
	was := d.boards[slot]
	if was == nil {
		return nil
	}
	if was.Board.Name != b.Name {
		return conflict("board", "%q clashes with %q, whose instances have the same names", b.Name, was.Board.Name)
	}
	if field := b.IncompatibleField(was.Board); field != "" {
		c.mustBeEmpty[slot] = conflict(field, "would change the order or the meaning of the data of board %q: delete the board first, or define another board", b.Name)
	}
	if b.Ends.Equal(was.Ends) {
		return nil
	}
	// Until the grace has passed, some nodes still use the old end.
	if !was.Ends.IsZero() {
		latest := was.Ends.Add(-grace).UnixMicro()
		if now >= latest {
			return conflict("ends", "has passed for board %q, or is about to pass, and its result is final: define another board", b.Name)
		}
		c.applyBefore(latest)
	}
	if !b.Ends.IsZero() && c.mustBeEmpty[slot] == nil {
		latest := b.Ends.Add(-grace).UnixMicro()
		if now < latest {
			c.applyBefore(latest)
		} else {
			c.mustBeEmpty[slot] = conflict("ends", "is sooner than %v from now, and board %q is in use: give a later time", grace, b.Name)
		}
	}
	return nil
}

// planField adds a field to the change if its definition differs from that in d, and
// reports whether it does. It keeps an equal definition in the form that another version
// wrote.
func (d *definitions) planField(c catalogChange, field string, v any) (changed bool, err error) {
	value, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return false, fmt.Errorf("encode a definition: %w", err)
	}
	there, err := json.Marshal(d.definitionIn(field), json.Deterministic(true))
	if err != nil {
		return false, fmt.Errorf("encode a definition: %w", err)
	}
	if changed = string(there) != string(value); changed {
		c.fields[field] = string(value)
	}
	return changed, nil
}

// definitionIn returns the definition in a field. It returns nil where there is none, and
// where this node cannot read it.
func (d *definitions) definitionIn(field string) any {
	if slot, is := strings.CutPrefix(field, boardField); is {
		if r := d.boards[slot]; r != nil {
			return r.Board
		}
	} else if e := d.events[strings.TrimPrefix(field, eventField)]; e != nil {
		return *e
	}
	return nil
}

// Delete deletes a board or family with all its data, or one instance of a family. An
// instance may be written to again. Within a second no node shows the board any more;
// housekeeping deletes the data some seconds later. Delete returns ErrConflict for a board
// that an event updates or that is a source of a union.
func (s *Store) Delete(ctx context.Context, board string) error {
	if _, period, qualified := strings.Cut(board, "@"); qualified {
		return Invalid("board", fmt.Sprintf("has the period %q; a period cannot be deleted by itself, only the board with all its periods", definition.Clip(period)))
	}
	n, err := definition.ParseName(board)
	if err == nil && len(n.Parts) > 0 {
		return s.deleteInstance(ctx, n)
	}
	t, err := definition.ParseFamilyName(board)
	if err != nil {
		return err
	}
	return s.define(ctx, func(d *definitions) (catalogChange, error) {
		r, broken := d.compiledIn(t.Slot())
		if broken == nil && (r == nil || r.Board.Name != board) {
			return catalogChange{}, unknownBoard(board)
		}
		for _, name := range slices.Sorted(maps.Keys(d.events)) {
			if d.events[name].CheckBoards(func(slot string) bool { return slot != t.Slot() }) != nil {
				return catalogChange{}, conflict("board", "%q is a target of event %q: change or delete the event first", board, name)
			}
		}
		if union := d.boardsAfter(nil).unionOf(t.Slot()); union != "" {
			return catalogChange{}, conflict("board", "%q is a source of union %q: change or delete the union first", board, union)
		}
		return catalogChange{fields: map[string]string{leavingField + t.Slot(): "now"}, reschedule: []string{t.Slot()}}, nil
	})
}

// DeleteEvent deletes an event. The updates that it made stay.
func (s *Store) DeleteEvent(ctx context.Context, event string) error {
	return s.define(ctx, func(d *definitions) (catalogChange, error) {
		if _, there := d.values[eventField+event]; !there {
			return catalogChange{}, d.unknownEvent(event)
		}
		// Housekeeping keeps its ids for late retries, and no longer.
		return catalogChange{fields: map[string]string{eventField + event: ""}, reschedule: []string{"/" + event}}, nil
	})
}

// deleteInstance deletes all data of an instance.
func (s *Store) deleteInstance(ctx context.Context, n definition.Name) error {
	d, err := s.catalog.readFresh(ctx)
	if err != nil {
		return err
	}
	if _, err := d.compiled(n); err != nil {
		return err
	}
	if err := s.deleteData(ctx, n.Instance(), d.readAt+lease.Microseconds()); err != nil {
		return fmt.Errorf("delete board %q: %w", n.Instance(), err)
	}
	return s.scheduleNow(ctx, n.Instance()) // so that housekeeping unlists it
}

func unknownBoard(board string) error {
	return &FieldError{Field: "board", Reason: fmt.Sprintf("there is no board %q", board), Kind: ErrUnknownBoard}
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
	return &FieldError{Field: "event", Reason: fmt.Sprintf("there is no event %q; %s", event, known), Kind: ErrUnknownEvent}
}

func conflict(field, reason string, args ...any) error {
	return &FieldError{Field: field, Reason: fmt.Sprintf(reason, args...), Kind: ErrConflict}
}
