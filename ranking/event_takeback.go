package ranking

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/script"
)

// TakenBack is the result of taking back an occurrence of an event.
type TakenBack struct {
	EventResult      // its updates, with each member's score and rank after it
	Before      bool // it was taken back before: this call did nothing
}

// TakeBack takes back an occurrence of an event by its id, on each board that it has
// updated, once. It returns each member's score and rank after that.
//
// On a board with a window the updates leave before their time, and TakeBack does nothing
// else. The rest of this paragraph is about other boards. TakeBack subtracts a score that
// the event added. A member whose score becomes 0 by that leaves the board, whichever
// update brought it there. A score that the event set returns to the score before it, less
// the part of that score that was taken back too. The order of the calls makes no
// difference. A member that was not on the board before leaves it. A score that another
// update has set since stays. TakeBack stops at the board's min and max.
//
// TakeBack changes nothing for a member that has left since, also if it has entered again.
// Where the event has not counted yet, as after a failure half way, it never will. Updates
// in a period that has closed since stay (ErrNotOpen), and so do the data of entries.
//
// The store knows an occurrence for at least ten minutes. After that, and for an unknown
// id, TakeBack returns an ErrUnknownEvent that names the id. It returns an ErrConflict, and
// does nothing, when the event has been redefined since. After any error of a board, such
// as ErrUnavailable, call TakeBack again: it continues where it stopped.
func (s *Store) TakeBack(ctx context.Context, event, id string, by Moderator) (TakenBack, error) {
	e, err := s.event(ctx, event)
	if err != nil {
		return TakenBack{}, err
	}
	if err := cmp.Or(definition.CheckText("id", id), by.check()); err != nil {
		return TakenBack{}, err
	}
	state, fields, err := s.recordTakeBack(ctx, e, id, "t")
	if err != nil {
		return TakenBack{}, err
	}
	o := EventCall{ID: id}
	if err := json.Unmarshal([]byte(fields), &o.Fields); err != nil {
		return TakenBack{}, fmt.Errorf("%w: event %q has stored %q, which is not a valid set of fields", ErrUnavailable, event, definition.Clip(fields))
	}
	t := TakenBack{Before: state == "T"}
	if t.Updates, err = e.Expand(o.Fields); err != nil {
		return TakenBack{}, errRedefined(event)
	}
	t.takenBack = true
	all := []EventResult{t.EventResult}
	s.applyEventUpdates(ctx, event, []EventCall{o}, all)
	if t.EventResult = all[0]; t.Err != nil {
		err := t.Err
		if errors.Is(err, ErrOverloaded) {
			err = fmt.Errorf("%w: %w", ErrOutcomeUnknown, err)
		}
		return TakenBack{}, fmt.Errorf("take back event %q: %w", event, err)
	}
	if t.Before {
		return t, nil
	}
	for i, o := range t.Outcomes {
		if o.Err != nil && !errors.Is(o.Err, ErrNotOpen) { // else the update would stay unnoticed
			return TakenBack{}, fmt.Errorf("take back event %q on board %q: %w", event, t.Updates[i].Board, o.Err)
		}
	}
	if err := s.audit(ctx, Action{Action: "take_back", Event: event, ID: id, Moderator: by}); err != nil {
		return TakenBack{}, err
	}
	if _, _, err := s.recordTakeBack(ctx, e, id, "T"); err != nil && !errors.Is(err, ErrUnknownEvent) { // the id may have expired by now
		return TakenBack{}, err
	}
	return t, nil
}

func errRedefined(event string) error {
	return conflict("event", "%q has been redefined since this occurrence", event)
}

// recordTakeBack records the state of taking back an occurrence, and returns the state
// before and the fields of the occurrence.
func (s *Store) recordTakeBack(ctx context.Context, e *definition.Event, id, state string) (was, fields string, err error) {
	ids := s.keys.EventIDs(e.Name)
	r, err := script.TakeBack.Run(ctx, s.rdb, ids[:], []any{id, state, e.UpdatesDigest()})
	if err != nil {
		return "", "", fmt.Errorf("take back event %q: %w: %w", e.Name, ErrOutcomeUnknown, err)
	}
	switch r.Text() {
	case "none":
		return "", "", &FieldError{Field: "id", Reason: fmt.Sprintf("is not the id of an event %q of the last ten minutes", e.Name), Kind: ErrUnknownEvent}
	case "other":
		return "", "", errRedefined(e.Name)
	}
	return r.Text(), r.Text(), r.Err
}
