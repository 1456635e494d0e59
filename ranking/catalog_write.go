package ranking

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"rankcast/ranking/definition"
)

// Define adds or changes the given definitions and keeps the others. It does all or
// nothing. It returns ErrConflict for a change that would re-order existing data and for a
// name that clashes with another. It returns the same for an end that has passed, or that
// is too near for all nodes to learn of it. A FieldError names the field by its path in a
// boards file: boards.stars.period, events.gift[0].board. Define adds nothing to the audit.
func (s *Store) Define(ctx context.Context, all definition.Set) error {
	return s.defineAll(ctx, all, located.LocateInFile, nil)
}

// DefineAudited is Define that adds a line to the audit, with by, for each board and each event that it adds or changes.
func (s *Store) DefineAudited(ctx context.Context, all definition.Set, by Moderator) error {
	return s.defineAll(ctx, all, located.LocateInFile, &by)
}

// DefineBoard is DefineAudited for one board or family. A FieldError names the field alone.
func (s *Store) DefineBoard(ctx context.Context, board definition.Board, by Moderator) error {
	return s.defineAll(ctx, definition.Set{Boards: []definition.Board{board}}, asGiven, &by)
}

// DefineEvent is DefineAudited for one event. A FieldError names the field alone, such as
// updates[0].board.
func (s *Store) DefineEvent(ctx context.Context, event definition.Event, by Moderator) error {
	return s.defineAll(ctx, definition.Set{Events: []definition.Event{event}}, asGiven, &by)
}

// located is a board or an event.
type located interface{ LocateInFile(err error) error }

// locateError adds to the error of a definition the path by which the caller knows the field.
type locateError func(of located, err error) error

// asGiven keeps the path within the definition.
func asGiven(_ located, err error) error { return err }

// CheckDefine returns the error that Define would return now, and changes nothing. A later call of
// Define may fail all the same, because other callers define boards and write to them.
func (s *Store) CheckDefine(ctx context.Context, all definition.Set) error {
	_, err := s.check(ctx, all, located.LocateInFile)
	return err
}

// CheckBoard returns the error that DefineBoard would return now, and changes nothing. It also returns the present
// definition of the board, nil for a new one.
func (s *Store) CheckBoard(ctx context.Context, board definition.Board) (was *definition.Board, err error) {
	d, err := s.check(ctx, definition.Set{Boards: []definition.Board{board}}, asGiven)
	if err != nil || d.boards[board.Slot()] == nil {
		return nil, err
	}
	return &d.boards[board.Slot()].Board, nil
}

// CheckEvent is CheckBoard for an event.
func (s *Store) CheckEvent(ctx context.Context, event definition.Event) (was *definition.Event, err error) {
	d, err := s.check(ctx, definition.Set{Events: []definition.Event{event}}, asGiven)
	if err != nil {
		return nil, err
	}
	return d.events[event.Name], nil
}

// check returns the error that a call with these definitions would return now, or the definitions in Redis.
func (s *Store) check(ctx context.Context, all definition.Set, at locateError) (*definitions, error) {
	plan, err := s.planAll(all, at)
	if err != nil {
		return nil, err
	}
	d, err := s.catalog.readFresh(ctx)
	if err != nil {
		return nil, err
	}
	c, err := plan(d)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout) // of all counts together
	defer cancel()
	for _, slot := range slices.Sorted(maps.Keys(c.mustBeEmpty)) {
		instances, err := s.listedInstances(ctx, slot, InstancesQuery{Limit: 1, Pending: true})
		if err != nil {
			return nil, fmt.Errorf("count the instances of %q: %w", slot, err)
		}
		if instances.Total > 0 {
			return nil, c.mustBeEmpty[slot]
		}
	}
	return d, nil
}

// defineAll adds or changes definitions. by is their author for the audit; nil for no lines.
func (s *Store) defineAll(ctx context.Context, all definition.Set, at locateError, by *Moderator) error {
	plan, err := s.planAll(all, at)
	if err != nil {
		return err
	}
	return s.define(ctx, plan, by)
}

// planAll returns the plan of the change that adds definitions. It refuses a definition that is not valid.
func (s *Store) planAll(all definition.Set, at locateError) (plan func(*definitions) (catalogChange, error), err error) {
	boards, events := slices.Clone(all.Boards), slices.Clone(all.Events)
	for i, b := range boards {
		var err error
		if boards[i], err = b.Normalize(); err != nil {
			return nil, at(b, err)
		}
	}
	for i, e := range events {
		var err error
		if events[i], err = e.Normalize(); err != nil {
			return nil, at(e, err)
		}
	}
	return func(d *definitions) (catalogChange, error) {
		return d.planDefine(boards, events, at, s.catalog.clock.now())
	}, nil
}

// define writes the change that plan returns, if any, and with it the lines of its acts in the audit. by is
// their author; nil for no lines. When another node has changed the definitions in the meantime, define reads
// them and calls plan again.
func (s *Store) define(ctx context.Context, plan func(*definitions) (catalogChange, error), by *Moderator) error {
	if by != nil {
		if err := by.Check(); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, defineTimeout)
	defer cancel()
	// Only one caller of this node at a time, so that only nodes compete.
	select {
	case s.defining <- struct{}{}:
		defer func() { <-s.defining }()
	case <-ctx.Done():
		return fmt.Errorf("define: %w: %w", definition.ErrUnavailable, ctx.Err())
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
		c.signActs(by)
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
	acts        []Action          // one for each definition that changes, for the audit
}

// signActs gives the acts their author; nil leaves them out.
func (c *catalogChange) signActs(by *Moderator) {
	if by == nil {
		c.acts = nil
		return
	}
	for i := range c.acts {
		c.acts[i].Moderator = *by
	}
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
			return c, at(b, conflict("board", "%q is defined twice", b.Name))
		}
		if err := d.broken[field]; err != nil {
			return c, err
		}
		if err := d.planRedefine(&c, b, now); err != nil {
			return c, at(b, err)
		}
		if err := c.mustBeEmpty[slot]; err != nil {
			c.mustBeEmpty[slot] = at(b, err)
		}
		there[slot] = true
		changed, err := d.planField(c, field, b)
		if err != nil {
			return c, err
		}
		if changed {
			c.acts = append(c.acts, Action{Action: actionDefineBoard, Board: b.Name})
		}
		if changed && d.boards[slot] != nil && !b.SameLifetime(d.boards[slot].Board) {
			c.reschedule = append(c.reschedule, slot) // its housekeeping is due at another time
		}
		d.planIDs(c, field, d.boardIDsCount(slot), b.IDsCount())
	}
	rules := d.boardsAfter(boards)
	if err := rules.checkUnions(boards, at); err != nil {
		return c, err
	}
	if err := rules.checkTargets(d.events, events, boards, at); err != nil {
		return c, err
	}
	for _, e := range events {
		if err := e.CheckBoards(rules, there); err != nil {
			return c, at(e, err)
		}
		named[eventField+e.Name] = true
		if changed, err := d.planField(c, eventField+e.Name, e); err != nil {
			return c, err
		} else if changed {
			c.acts = append(c.acts, Action{Action: actionDefineEvent, Event: e.Name})
		}
		d.planIDs(c, eventField+e.Name, d.eventIDsCount(e), e.IDsCount())
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
		c.mustBeEmpty[slot] = conflict(field,
			"would change the order or the meaning of the data of board %q: delete the board first, with its scores (DELETE "+
				"/v1/boards/%s), or define another board", b.Name, url.PathEscape(b.Name))
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
// that an event updates or that is a source of a union. It adds a line to the audit, with by.
func (s *Store) Delete(ctx context.Context, board string, by Moderator) error {
	if _, period, qualified := strings.Cut(board, "@"); qualified {
		return definition.Invalid("board",
			fmt.Sprintf("has the period %q; a period cannot be deleted by itself, only the board with all its periods", definition.Clip(period)))
	}
	n, err := definition.ParseName(board)
	if err == nil && len(n.Parts) > 0 {
		return s.deleteInstance(ctx, n, by)
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
			if slices.ContainsFunc(d.events[name].Updates, func(u definition.Target) bool { return u.Slot() == t.Slot() }) {
				return catalogChange{}, conflict("board", "%q is a target of event %q: change or delete the event first", board, name)
			}
		}
		if union := d.boardsAfter(nil).unionOf(t.Slot()); union != "" {
			return catalogChange{}, conflict("board", "%q is a source of union %q: change or delete the union first", board, union)
		}
		return catalogChange{fields: map[string]string{leavingField + t.Slot(): "now"}, reschedule: []string{t.Slot()},
			acts: []Action{{Action: actionDeleteBoard, Board: board}}}, nil
	}, &by)
}

// DeleteEvent deletes an event. The updates that it made stay. It adds a line to the audit, with
// by.
func (s *Store) DeleteEvent(ctx context.Context, event string, by Moderator) error {
	return s.define(ctx, func(d *definitions) (catalogChange, error) {
		if _, there := d.values[eventField+event]; !there {
			return catalogChange{}, d.unknownEvent(event)
		}
		// Housekeeping keeps its ids for late retries, and no longer.
		fields := map[string]string{eventField + event: "", idsField + eventField + event: ""}
		return catalogChange{fields: fields, reschedule: []string{"/" + event},
			acts: []Action{{Action: actionDeleteEvent, Event: event}}}, nil
	}, &by)
}

// deleteInstance deletes all data of an instance.
func (s *Store) deleteInstance(ctx context.Context, n definition.Name, by Moderator) error {
	if err := by.Check(); err != nil {
		return err
	}
	d, err := s.catalog.readFresh(ctx)
	if err != nil {
		return err
	}
	r, err := d.compiled(n)
	if err != nil {
		return err
	}
	if err := s.deleteData(ctx, r, n.Instance(), d.readAt+lease.Microseconds()); err != nil {
		return fmt.Errorf("delete board %q: %w", n.Instance(), err)
	}
	if err := s.scheduleNow(ctx, n.Instance()); err != nil { // so that housekeeping unlists it
		return err
	}
	_, err = s.audit(ctx, Action{Action: actionDeleteBoard, Board: n.Instance(), Moderator: by}, "")
	return err
}

func conflict(field, reason string, args ...any) error {
	return &definition.FieldError{Field: field, Reason: fmt.Sprintf(reason, args...), Kind: definition.ErrConflict}
}
