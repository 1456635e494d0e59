package ranking

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/batch"
	"rankcast/ranking/internal/keyspace"
	"rankcast/ranking/internal/script"
)

// CheckFeed returns a FieldError for a name that is no feed. The feeds are "periods" and
// the defined events; for another name the error is ErrUnknownEvent. If this process has
// never reached Redis, CheckFeed accepts each valid name.
func (s *Store) CheckFeed(ctx context.Context, feed string) error {
	if feed == definition.PeriodsFeed {
		return nil
	}
	_, err := s.event(ctx, feed)
	if errors.Is(err, ErrUnavailable) && s.catalog.latest.Load() == nil && definition.IsEventName(feed) {
		return nil
	}
	var field *FieldError
	if errors.As(err, &field) {
		return &FieldError{Field: "feed", Reason: fmt.Sprintf("there is no feed %q", definition.Clip(feed)), Kind: field.Kind}
	}
	return err
}

// EventCall is one occurrence of an event.
type EventCall struct {
	ID     string // makes a retry count once; "" for none, else an id that definition.CheckNewText accepts
	Fields map[string]jsontext.Value
	Sender *Sender // nil: a trusted caller, who may send anything that the event has
}

// EventResult is the result of one EventCall. Err is set when the occurrence is wrong in
// itself, when its id was used for another one (ErrIDMismatch), or when its result is not
// known.
type EventResult struct {
	Updates  []definition.BoardUpdate // made by the occurrence, in the order of the event's definition
	Outcomes []Outcome                // of Updates, in the same order
	Err      error

	takenBack bool // the store takes its updates back instead of applying them
}

const (
	// maxFieldsBytes bounds the fields of one EventCall, as compact JSON.
	maxFieldsBytes = 4 << 10
	// eventBoards is the number of boards that one call writes to at the same time.
	eventBoards = 32
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
// An occurrence with an id is idempotent as a whole. After an ErrUnavailable, or a crash
// half way, call ApplyEvents again with the same id, on any node. It completes the missing
// part and repeats nothing. An update that its board refuses (ErrOutOfRange, ErrNotOpen,
// ErrConflict) does not stop the other updates of its event. An occurrence that was taken
// back never counts, also on boards where it has not counted yet.
func (s *Store) ApplyEvents(ctx context.Context, event string, all []EventCall) ([]EventResult, error) {
	// One bound for both: a caller may wait for a read of the definitions, and then for the first
	// script.
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
		return nil, &FieldError{Field: "events", Reason: fmt.Sprintf("make %d updates; want at most %d, which is %d events", n, MaxEventUpdates, MaxEventUpdates/len(e.Updates)), Kind: ErrTooLarge}
	}
	if err := checkSenders(e, all); err != nil {
		return nil, err
	}
	happened := make([]EventResult, len(all))
	items := make([]eventItem, len(all))
	for i, o := range all {
		h := &happened[i]
		items[i].id = o.storedID()
		if items[i].fields, h.Err = o.check(); h.Err == nil {
			h.Updates, h.Err = e.Expand(o.Fields)
		}
		if h.Err == nil && o.Sender != nil {
			h.Err = e.CheckSent(o.Sender.Sub, o.Fields)
		}
		if h.Err == nil && e.CarriesTime(o.Fields) {
			h.Err = s.checkEventTime(ctx, e)
		}
	}
	s.checkNamedMembers(first, e, all, happened)
	for i, o := range all {
		if happened[i].Err == nil {
			items[i].digest, items[i].definition = e.Digest(o.Fields), e.UpdatesDigest()
		}
	}
	s.queueEach(first, &s.eventBegins, event, happened, items, func(i int) bool { return all[i].ID != "" })
	var taken []*EventResult
	for i := range happened {
		if h := &happened[i]; errors.Is(h.Err, errTakenBack) {
			h.Err = nil
			h.takenBack = true // also on boards that the event updates only since then
			taken = append(taken, h)
		}
	}
	s.applyEventUpdates(ctx, event, all, happened)
	for _, h := range taken {
		for i := range h.Outcomes {
			h.Outcomes[i].Result.Duplicate = h.Outcomes[i].Err == nil
		}
	}
	s.queueEach(ctx, &s.eventPublishes, event, happened, items, func(i int) bool { return happened[i].hasApplied() })
	unavailable := len(all) > 0
	for i := range happened {
		h := &happened[i]
		if errors.Is(h.Err, ErrOverloaded) && h.reachedRedis() {
			h.Err = fmt.Errorf("%w: %w", ErrOutcomeUnknown, h.Err) // another board may have its update
		}
		unavailable = unavailable && (errors.Is(h.Err, ErrUnavailable) || errors.Is(h.Err, ErrOverloaded))
	}
	if unavailable {
		return nil, fmt.Errorf("event %q: %w", event, happened[0].Err)
	}
	return happened, nil
}

// checkEventTime refuses an event with a time when none of its boards has a window.
func (s *Store) checkEventTime(ctx context.Context, e *definition.Event) error {
	d, err := s.catalog.get(ctx)
	if err != nil {
		return err
	}
	for _, t := range e.Updates {
		if r := d.boards[t.Slot()]; r != nil && r.IsWindowed() {
			return nil
		}
	}
	return Invalid(definition.AtField, fmt.Sprintf("applies only to an event that updates a board with a window, and %s updates none; omit it", e.Name))
}

// errTakenBack reports an occurrence that was taken back.
var errTakenBack = errors.New("was taken back")

// hasApplied reports whether any update of the occurrence was applied.
func (h *EventResult) hasApplied() bool {
	return slices.ContainsFunc(h.Outcomes, func(o Outcome) bool { return o.Err == nil })
}

// reachedRedis reports whether an update of the occurrence may have reached Redis.
func (h *EventResult) reachedRedis() bool {
	return slices.ContainsFunc(h.Outcomes, func(o Outcome) bool { return !errors.Is(o.Err, ErrOverloaded) })
}

// event finds an event, also one that was defined a moment ago.
func (s *Store) event(ctx context.Context, name string) (*definition.Event, error) {
	return findDefinition(ctx, &s.catalog, func(d *definitions, _ bool) (*definition.Event, error) { return d.event(name) })
}

// check refuses an occurrence that is wrong for any event, and returns the fields as
// deterministic JSON.
func (o EventCall) check() ([]byte, error) {
	if o.ID != "" {
		if err := definition.CheckNewText("id", o.ID); err != nil {
			return nil, err
		}
	}
	if err := o.Sender.check(); err != nil {
		return nil, err
	}
	fields, err := json.Marshal(o.Fields, json.Deterministic(true))
	if err != nil {
		return nil, Invalid("event", "is not valid JSON")
	}
	if len(fields) > maxFieldsBytes {
		return nil, Invalid("event", fmt.Sprintf("has %d bytes without white space; want %d at most", len(fields), maxFieldsBytes))
	}
	return fields, nil
}

// eventItem is an occurrence in a queue to Redis.
type eventItem struct {
	id, digest string // id as storedID returns it
	definition string // digest of the event's updates
	fields     []byte // JSON
	err        *error // the result
}

func (i eventItem) Bytes() int { return len(i.id) + len(i.fields) }

func (i eventItem) Fail(err error) { *i.err = err }

// queueEach sends the picked occurrences without an error through a queue.
func (s *Store) queueEach(ctx context.Context, q *batch.Queues[eventItem], event string, happened []EventResult, items []eventItem, picked func(int) bool) {
	var through []eventItem
	var whose []*EventResult
	errs := make([]error, len(items))
	for i, item := range items {
		if happened[i].Err == nil && picked(i) {
			item.err = &errs[i]
			through, whose = append(through, item), append(whose, &happened[i])
		}
	}
	err := q.Commit(ctx, event, through)
	for i, h := range whose {
		// After an early end of Commit, other goroutines still write to errs.
		came := err
		if came == nil {
			came = *through[i].err
		}
		if through[i].id != "" {
			h.Err = came
		} // without an id it has counted, and a retry would count again
	}
}

// beginBatch records the ids, so that the store refuses an id of another occurrence before
// it applies anything.
func (s *Store) beginBatch(ctx context.Context, event string, batch []eventItem, sent func()) error {
	ids := s.keys.EventIDs(event)
	args := make([]any, 0, 4*len(batch))
	for _, i := range batch {
		args = append(args, i.id, i.digest, i.definition, i.fields)
	}
	r := script.Send(ctx, s.rdb, sent, script.Call{Script: script.Begin, Keys: ids[:], Args: args})[0]
	if r.Err != nil {
		return r.Err
	}
	for _, i := range batch {
		switch r.Text() {
		case "m":
			i.Fail(&FieldError{Field: "id", Reason: "was used for another event", Kind: ErrIDMismatch})
		case "t":
			i.Fail(errTakenBack)
		}
	}
	return r.Err
}

// publishBatch publishes each occurrence once on the event's feed.
func (s *Store) publishBatch(ctx context.Context, event string, batch []eventItem, sent func()) error {
	ids := s.keys.EventIDs(event)
	at := time.UnixMicro(s.catalog.clock.now()).UTC().Format(definition.TimeForm)
	args := append(make([]any, 0, 1+3*len(batch)), s.keys.Feed(event))
	for _, i := range batch {
		item, err := json.Marshal(feedItem{at, jsontext.Value(i.fields)})
		if err != nil {
			return fmt.Errorf("encode an event: %w", err)
		}
		args = append(args, i.id, i.digest, item)
	}
	err := script.Send(ctx, s.rdb, sent, script.Call{Script: script.Publish, Keys: ids[:], Args: args})[0].Err
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrOutcomeUnknown, err)
	}
	return err
}

// applyEventUpdates applies the updates of all occurrences. Those of one board go in order
// and in one call.
func (s *Store) applyEventUpdates(ctx context.Context, event string, all []EventCall, happened []EventResult) {
	type part struct{ of, update int }
	parts := make(map[string][]part)
	var boards []string
	for i := range happened {
		h := &happened[i]
		if h.Err != nil {
			continue
		}
		h.Outcomes = make([]Outcome, len(h.Updates))
		for j, u := range h.Updates {
			if parts[u.Board] == nil {
				boards = append(boards, u.Board)
			}
			parts[u.Board] = append(parts[u.Board], part{i, j})
		}
	}
	outcomes := make(map[string][]Outcome)
	var mu sync.Mutex // guards outcomes
	var wg sync.WaitGroup
	room := make(chan struct{}, eventBoards)
	for _, board := range boards {
		updates := make([]write, len(parts[board]))
		for n, p := range parts[board] {
			made := happened[p.of].Updates
			updates[n].Update = made[p.update].Update
			if happened[p.of].takenBack {
				updates[n].override = takingBack
			}
			if id := all[p.of].storedID(); id != "" {
				updates[n].ID = updateID(id, event, made[:p.update], made[p.update])
			}
		}
		room <- struct{}{}
		wg.Go(func() {
			defer func() { <-room }()
			o, err := s.commitUpdates(ctx, board, updates)
			if err != nil {
				o = slices.Repeat([]Outcome{{Err: err}}, len(updates))
			}
			mu.Lock()
			defer mu.Unlock()
			outcomes[board] = o
		})
	}
	wg.Wait()
	for _, board := range boards {
		for n, p := range parts[board] {
			h, o := &happened[p.of], outcomes[board][n]
			h.Outcomes[p.update] = o
			if errors.Is(o.Err, ErrUnavailable) || errors.Is(o.Err, ErrOverloaded) {
				h.Err = o.Err // the other updates may have counted: the caller sends the occurrence again as a whole
			}
		}
	}
}

// updateID returns the request id of one update of an event; before are the updates ahead
// of it in the same occurrence. No caller can send this id. It depends on the board, which
// stores it, and on the member. So an update that has counted does not count again when the
// event is redefined with more updates before the retry.
func updateID(id, event string, before []definition.BoardUpdate, u definition.BoardUpdate) string {
	nth := 0
	for _, other := range before {
		if other.Board == u.Board && other.Update.Member == u.Update.Member {
			nth++
		}
	}
	return id + keyspace.FieldSep + event + keyspace.FieldSep + definition.Digest([]byte(u.Update.Member)) + strconv.Itoa(nth)
}
