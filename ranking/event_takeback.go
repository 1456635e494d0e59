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

// TakenBack is what came of taking back an event.
type TakenBack struct {
	EventResult      // its updates, and where they leave their members
	Before      bool // it had been taken back before: nothing was done
}

// TakeBack takes back an event by its id, on each board that it has touched, once, and
// says where that leaves its members. On a board with a window its updates leave before
// their time, and that is all. Elsewhere what it added is subtracted, and who comes to 0 by
// that leaves, whoever brought it there. A score that it set is again what it was before,
// less what was taken back of that too, in whatever order; who was not there before
// leaves; a score that others have set since stays. It stops at the board's min and max.
// Of a member that has left since, and has maybe come again, nothing is taken back; where
// the event has not counted yet, as after a failure half way, it will not. What it did in
// a period that has closed since stays (ErrNotOpen), and so do entries' data.
//
// An event is known for ten minutes at least; after that, and where it never was, TakeBack
// returns an ErrUnknownEvent that names the id. It returns an ErrConflict, and does
// nothing, where the event is defined otherwise than when it happened. After any error of
// a board, such as ErrUnavailable, call it again: it goes on where it was.
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
		return TakenBack{}, fmt.Errorf("%w: event %q has noted %q, which are no fields", ErrUnavailable, event, definition.Clip(fields))
	}
	t := TakenBack{Before: state == "T"}
	if t.Updates, err = e.Expand(o.Fields); err != nil {
		return TakenBack{}, errRedefined(event)
	}
	t.revoked = true
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
		if o.Err != nil && !errors.Is(o.Err, ErrNotOpen) { // it would stay there, and nobody know
			return TakenBack{}, fmt.Errorf("take back event %q on board %q: %w", event, t.Updates[i].Board, o.Err)
		}
	}
	if err := s.audit(ctx, Action{Action: "take_back", Event: event, ID: id, Moderator: by}); err != nil {
		return TakenBack{}, err
	}
	if _, _, err := s.recordTakeBack(ctx, e, id, "T"); err != nil && !errors.Is(err, ErrUnknownEvent) { // which it may be by now
		return TakenBack{}, err
	}
	return t, nil
}

func errRedefined(event string) error {
	return conflict("event", "%q is defined otherwise than when it happened", event)
}

// recordTakeBack notes how far it has come, and says how far it had.
func (s *Store) recordTakeBack(ctx context.Context, e *definition.Event, id, state string) (was, fields string, err error) {
	ids := s.keys.EventIDs(e.Name)
	r, err := script.TakeBack.Run(ctx, s.rdb, ids[:], []any{id, state, e.UpdatesDigest()})
	if err != nil {
		return "", "", fmt.Errorf("take back event %q: %w: %w", e.Name, ErrOutcomeUnknown, err)
	}
	switch r.Text() {
	case "none":
		return "", "", &FieldError{Field: "id", Reason: fmt.Sprintf("is of no event %q of the last ten minutes", e.Name), Kind: ErrUnknownEvent}
	case "other":
		return "", "", errRedefined(e.Name)
	}
	return r.Text(), r.Text(), r.Err
}

// SetScore sets a member's score outright, whatever the most is that an update may
// change; a Reason is needed. It returns ErrOutOfRange for a score beyond the board's
// bounds.
func (s *Store) SetScore(ctx context.Context, board, member string, score int64, by Moderator) (Result, error) {
	if by.Reason == "" {
		return Result{}, Invalid("reason", "is missing")
	}
	if err := by.check(); err != nil {
		return Result{}, err
	}
	outcomes, err := s.applyAs(ctx, setting, board, []definition.Update{{Member: member, Score: score}})
	if err == nil {
		err = outcomes[0].Err
	}
	if err != nil {
		return Result{}, err
	}
	r := outcomes[0].Result
	if r.Current == nil && r.Previous == nil {
		rule, err := s.compiledNamed(ctx, board)
		if err != nil || !rule.IsBuilt() { // it has no place within the limit
			return r, err
		}
	}
	a := Action{Action: "set", Board: board, Member: member, Score: &score, Moderator: by}
	if r.Previous != nil {
		a.Was = &r.Previous.Score
	}
	return r, s.audit(ctx, a)
}
