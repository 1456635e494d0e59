package ranking

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"rankcast/ranking/definition"
)

// CheckFeed returns a FieldError for a name that is no feed. The feeds are "periods" and
// the defined events; for another name the error is ErrUnknownEvent. If this process has
// never reached Redis, CheckFeed accepts each valid name.
func (s *Store) CheckFeed(ctx context.Context, feed string) error {
	if feed == definition.PeriodsFeed {
		return nil
	}
	_, err := s.event(ctx, feed)
	if errors.Is(err, definition.ErrUnavailable) && s.catalog.latest.Load() == nil && definition.IsEventName(feed) {
		return nil
	}
	if field, ok := errors.AsType[*definition.FieldError](err); ok {
		return &definition.FieldError{Field: "feed", Reason: fmt.Sprintf("there is no feed %q", definition.Clip(feed)), Kind: field.Kind}
	}
	return err
}

// EventCall is one occurrence of an event.
type EventCall struct {
	ID     string // makes a retry count once; "" for none, else an id that definition.CheckText accepts
	Fields map[string]jsontext.Value
	Sender *Sender // nil: a trusted caller, who may send anything that the event has
	// AtIfWindowed says that the time of the occurrence has no effect where no board of the event has a window: the store
	// removes it from Fields. Otherwise the store refuses it there.
	AtIfWindowed bool
}

// EventResult is the result of one EventCall. Err is set when the occurrence is wrong in
// itself, when its id was used for another one (ErrIDMismatch), or when its result is not
// known.
type EventResult struct {
	Updates  []definition.BoardUpdate // made by the occurrence, in the order of the event's definition
	Outcomes []Outcome                // of Updates, in the same order
	Err      error
}

const (
	// maxFieldsBytes bounds the fields of one EventCall, as compact JSON.
	maxFieldsBytes = 4 << 10
	// MaxEventUpdates bounds the updates that one call of ApplyEvents makes. So the call
	// ends in time even if each update creates another instance, and no board gets too many
	// updates at once.
	MaxEventUpdates = 4096
)

// ApplyEvents applies the updates that occurrences of an event make, and publishes the
// occurrences on the event's feed. It returns ErrUnknownEvent, or ErrTooLarge for more than
// MaxEventUpdates updates. It returns ErrForbidden where the definition of the event does not
// allow a Sender to send it at all. It returns ErrUnavailable or ErrOverloaded only when each of
// the occurrences ends with one of these errors.
//
// The Err of an occurrence is ErrForbidden, ErrOutOfRange or ErrInvalid when a field breaks a
// rule of the definition. A rule with a kind needs the member's profile; where the store cannot
// read that, Err is ErrUnavailable. Such an occurrence changes and publishes nothing.
//
// While a board of the event is frozen, occurrences that update it are not published, unless the definition has FeedOn. For a Sender
// each outcome on that board is the same, also where the board has refused the update.
//
// An occurrence with an id is idempotent as a whole. After an ErrUnavailable, or a crash
// half way, call ApplyEvents again with the same id, on any node. It completes the missing
// part and repeats nothing. An update that its board refuses (ErrOutOfRange, ErrNotOpen,
// ErrConflict) does not stop the other updates of its event. An occurrence that was taken
// back never counts, also on boards where it has not counted yet.
func (s *Store) ApplyEvents(ctx context.Context, event string, all []EventCall) ([]EventResult, error) {
	began := time.Now()
	results, err := s.applyEvents(ctx, event, all)
	s.metrics.updateSeconds.Observe(time.Since(began).Seconds())
	s.metrics.observeEvents(len(all), results, err)
	return results, err
}

// applyEvents is ApplyEvents without its metrics.
func (s *Store) applyEvents(ctx context.Context, event string, all []EventCall) ([]EventResult, error) {
	// One bound for all: a caller may wait for a read of the definitions, for profiles, and then for
	// the scripts.
	began := time.Now()
	first, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	e, err := s.event(first, event)
	if err != nil {
		return nil, err
	}
	if err := s.catalog.checkLease(first, began); err != nil {
		return nil, fmt.Errorf("event %q: %w", event, err)
	}
	if n := len(all) * len(e.Updates); n > MaxEventUpdates {
		return nil, &definition.FieldError{Field: "events", Reason: fmt.Sprintf("make %d updates; want at most %d, which is %d events", n,
			MaxEventUpdates, MaxEventUpdates/len(e.Updates)), Kind: definition.ErrTooLarge}
	}
	happened := make([]EventResult, len(all))
	occurrences := make([]occurrence, len(all))
	for i, call := range all {
		if call.Sender != nil { // who may not send the event, whatever its fields are
			if err := e.CheckSender(call.Sender.Sub); err != nil {
				return nil, err
			}
		}
		if call.AtIfWindowed && !(e.CarriesTime(call.Fields) && e.updatesWindow()) {
			delete(call.Fields, definition.AtField)
		}
		o, h := &occurrences[i], &happened[i]
		o.id = call.storedID()
		if o.fields, h.Err = call.check(); h.Err == nil {
			h.Updates, h.Err = e.Expand(call.Fields)
		}
		if h.Err == nil && call.Sender != nil {
			h.Err = e.CheckSent(call.Sender.Sub, call.Fields)
		}
		if h.Err == nil && e.CarriesTime(call.Fields) && !e.updatesWindow() {
			h.Err = definition.Invalid(definition.AtField,
				fmt.Sprintf("applies only to an event that updates a board with a window, and %s updates none; omit it", e.Name))
		}
	}
	s.checkNamedMembers(first, e.Event, all, happened)
	var valid []*occurrence
	var whose []*EventResult
	for i := range occurrences {
		if happened[i].Err != nil {
			continue
		}
		o := &occurrences[i]
		o.digest, o.definition = e.Digest(all[i].Fields), e.UpdatesDigest()
		o.keeps, o.idsSince, o.pauses = e.IDSpan(), e.idsSince(), e.FreezeFeed != definition.FeedOn
		o.result.Updates = happened[i].Updates
		valid, whose = append(valid, o), append(whose, &happened[i])
	}
	weight := 0
	for _, o := range valid {
		weight += o.Weight()
	}
	bound, stop := context.WithDeadline(ctx, began.Add(time.Duration(1+weight/maxEventBatch)*s.cfg.CallTimeout))
	defer stop()
	err = s.events.Commit(bound, event, valid)
	for i, h := range whose {
		// After an early end of Commit, another goroutine still writes to the occurrence.
		if h.Err = err; err == nil {
			*h = valid[i].result
		}
	}
	for i, call := range all {
		if call.Sender != nil {
			happened[i].hideRefusals()
		}
	}
	unavailable := len(all) > 0
	for _, h := range happened {
		unavailable = unavailable && (errors.Is(h.Err, definition.ErrUnavailable) || errors.Is(h.Err, definition.ErrOverloaded))
	}
	if unavailable {
		return nil, fmt.Errorf("event %q: %w", event, happened[0].Err)
	}
	return happened, nil
}

// hideRefusals hides why boards that are frozen have refused updates: a viewer could search for the pending scores by their bounds.
func (r *EventResult) hideRefusals() {
	for i, o := range r.Outcomes {
		if o.Result.Frozen {
			r.Outcomes[i].Err = nil
		}
	}
}

// knownEvent is an event, and the definitions in which a call found it.
type knownEvent struct {
	*definition.Event
	in *definitions
}

// event finds an event, also one that was defined a moment ago.
func (s *Store) event(ctx context.Context, name string) (knownEvent, error) {
	return findDefinition(ctx, &s.catalog, func(d *definitions, _ bool) (knownEvent, error) {
		e, err := d.event(name)
		return knownEvent{e, d}, err
	})
}

// idsSince returns since when the ids of the event count for the time of its definition, in µs since 1970; 0: all of
// them do.
func (e knownEvent) idsSince() int64 { return e.in.fullIDsSince(eventField + e.Name) }

// updatesWindow reports whether a board of the event has a window.
func (e knownEvent) updatesWindow() bool {
	return slices.ContainsFunc(e.Updates, func(t definition.Target) bool {
		r := e.in.boards[t.Slot()]
		return r != nil && r.IsWindowed()
	})
}

// check refuses an occurrence that is wrong for any event, and returns the fields as
// deterministic JSON.
func (o EventCall) check() ([]byte, error) {
	if o.ID != "" {
		if err := definition.CheckText("id", o.ID); err != nil {
			return nil, err
		}
	}
	if err := o.Sender.check(); err != nil {
		return nil, err
	}
	fields, err := json.Marshal(o.Fields, json.Deterministic(true))
	if err != nil {
		return nil, definition.Invalid("event", "is not valid JSON")
	}
	if len(fields) > maxFieldsBytes {
		return nil, definition.Invalid("event", fmt.Sprintf("has %d bytes without white space; want %d at most", len(fields), maxFieldsBytes))
	}
	return fields, nil
}
