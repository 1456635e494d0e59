package ranking

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/keyspace"
	"rankcast/ranking/internal/script"
)

// TakenBack is the result of taking back an occurrence of an event.
type TakenBack struct {
	EventResult      // its updates, with each member's score and rank after it
	Before      bool // an earlier or concurrent call has taken it back, and has its line in the audit
}

// TakeBack takes back an occurrence of an event by its id, on each board that it has
// updated, once. It returns each member's score and rank after that. sender is the Sender of
// the occurrence; nil for that of a trusted caller.
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
// The store knows an occurrence for at least the time of the event's ids. After that, and for an unknown
// id, TakeBack returns an ErrUnknownEvent that names the id. After a new definition of the event, or the erasure of
// a member that the occurrence names, TakeBack does nothing and returns an ErrConflict.
// After any error of a board, such as ErrUnavailable, call TakeBack again: it continues where it stopped.
func (s *Store) TakeBack(ctx context.Context, event, id string, sender *Sender, by Moderator) (TakenBack, error) {
	e, err := s.event(ctx, event)
	if err != nil {
		return TakenBack{}, err
	}
	if err := cmp.Or(definition.CheckText("id", id), sender.check(), by.Check()); err != nil {
		return TakenBack{}, err
	}
	o := EventCall{ID: id, Sender: sender}
	record, err := s.recordTakeBack(ctx, e, o.storedID(), "t")
	if err != nil {
		return TakenBack{}, err
	}
	if err := json.Unmarshal([]byte(record.fields), &o.Fields); err != nil {
		return TakenBack{}, fmt.Errorf("%w: event %q has stored fields that are not valid JSON", definition.ErrUnavailable, event)
	}
	t := TakenBack{Before: record.was == "T"}
	if t.Updates, err = e.ExpandRecorded(o.Fields); err != nil {
		return TakenBack{}, errRedefined(event)
	}
	taken := occurrence{id: o.storedID(), isTakenBack: true, result: t.EventResult}
	one := []*occurrence{&taken}
	s.applyUpdatesOf(ctx, one, s.updatesByBoard(event, one))
	if t.EventResult = taken.result; t.Err != nil {
		return TakenBack{}, fmt.Errorf("take back event %q: %w", event, t.Err)
	}
	if t.Before {
		return t, nil
	}
	for i, o := range t.Outcomes {
		if o.Err != nil && !errors.Is(o.Err, definition.ErrNotOpen) { // else the update would stay unnoticed
			return TakenBack{}, fmt.Errorf("take back event %q on board %q: %w", event, t.Updates[i].Board, o.Err)
		}
	}
	// Concurrent callers all come here, and so does a caller that repeats a failed call. The
	// audit gets one line from all of them.
	added, err := s.audit(ctx, o.takeBackAction(event, by), takeBackID(event, o.storedID(), record.began))
	if err != nil {
		return TakenBack{}, err
	}
	t.Before = !added
	// By now the id may have expired, or an erasure may have taken the fields.
	_, err = s.recordTakeBack(ctx, e, o.storedID(), "T")
	if err != nil && !errors.Is(err, definition.ErrUnknownEvent) && !errors.Is(err, definition.ErrConflict) {
		return TakenBack{}, err
	}
	return t, nil
}

// takeBackAction is the line of the audit for taking back the occurrence.
func (o EventCall) takeBackAction(event string, by Moderator) Action {
	a := Action{Action: actionTakeBack, Event: event, ID: o.ID, Moderator: by}
	if o.Sender != nil {
		a.Sub = &o.Sender.Sub
	}
	return a
}

func errRedefined(event string) error {
	return conflict("event", "%q has been redefined since this occurrence", event)
}

// takeBackID is the id of the act of taking back an occurrence, for the audit. id is as storedID returns it. A later
// occurrence may have the same id, but it began later.
func takeBackID(event, id, began string) string {
	return strings.Join([]string{"take_back", event, id, began}, keyspace.FieldSep)
}

// takeBackRecord is what Redis knows of an occurrence that is taken back.
type takeBackRecord struct {
	was    string // the state before, see takeback.lua
	fields string // of the occurrence, as JSON
	began  string // see takeback.lua
}

// recordTakeBack records the state of taking back an occurrence. id is as storedID returns it.
func (s *Store) recordTakeBack(ctx context.Context, e knownEvent, id, state string) (takeBackRecord, error) {
	ids := s.keys.EventIDs(e.Name)
	r := script.TakeBack.Run(ctx, s.rdb, ids[:], []any{id, state, e.UpdatesDigest(), e.IDSpan().Microseconds(), e.idsSince()})
	if r.Err != nil {
		return takeBackRecord{}, fmt.Errorf("take back event %q: %w: %w", e.Name, definition.ErrOutcomeUnknown, r.Err)
	}
	switch r.Text() {
	case "none":
		return takeBackRecord{}, &definition.FieldError{Field: "id", Kind: definition.ErrUnknownEvent, Reason: fmt.Sprintf(
			"is not the id of an event %q of the last %s by this sender; the event of a viewer needs the viewer's sub",
			e.Name, definition.FormatDuration(e.IDsCount()))}
	case "other":
		return takeBackRecord{}, errRedefined(e.Name)
	case "erased":
		return takeBackRecord{}, conflict("id", "is of an event that names a member who was erased since, "+
			"so Redis no longer holds its fields: correct the scores of other members one by one")
	}
	return takeBackRecord{r.Text(), r.Text(), r.Text()}, r.Err
}
