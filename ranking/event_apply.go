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

// CheckFeed refuses what is no feed: it is not "periods", and there is no event of
// that name (ErrUnknownEvent). As long as Redis was away since this process began, any
// name will do.
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

// EventCall is one time that an event happened.
type EventCall struct {
	ID     string // a retry with it counts once; "" for none, else 1 to 128 bytes of UTF-8 without control characters
	Fields map[string]jsontext.Value
}

// EventResult is what came of one Occurrence. Err is set where nothing is known of it,
// or nothing was done: it is wrong in itself, or ErrIDMismatch.
type EventResult struct {
	Updates  []definition.BoardUpdate // what it made, in the order of the event's definition
	Outcomes []Outcome                // of these
	Err      error

	revoked bool // its updates are taken back instead of applied
}

const (
	// maxFieldsBytes bounds the fields of one Occurrence, as compact JSON.
	maxFieldsBytes = 4 << 10
	// eventBoards is how many boards are written to at one time for one call.
	eventBoards = 32
	// MaxEventUpdates is the most updates that one call of Happen may come to, so that it is
	// done in time also where each is the first of another instance, and never too much
	// for one board.
	MaxEventUpdates = 4096
)

// ApplyEvents carries out what an event's occurrences make of boards, and tells the
// event's feed. It returns ErrUnknownEvent, ErrTooLarge for what comes to more than
// MaxEventUpdates updates, or ErrUnavailable where it is so for all.
//
// With an id an occurrence is idempotent as a whole: after an ErrUnavailable, or when
// the process has died half way, Happen with the same completes what is missing, on
// whatever node, and repeats nothing. An update that its board refuses (ErrOutOfRange,
// ErrNotOpen, ErrConflict) keeps no other of its event back. Of an event that was taken
// back nothing counts, also where it has not been yet.
func (s *Store) ApplyEvents(ctx context.Context, event string, all []EventCall) ([]EventResult, error) {
	e, err := s.event(ctx, event)
	if err != nil {
		return nil, err
	}
	if n := len(all) * len(e.Updates); n > MaxEventUpdates {
		return nil, &FieldError{Field: "events", Reason: fmt.Sprintf("come to %d updates; want %d at most, %d events", n, MaxEventUpdates, MaxEventUpdates/len(e.Updates)), Kind: ErrTooLarge}
	}
	happened := make([]EventResult, len(all))
	items := make([]eventItem, len(all))
	for i, o := range all {
		h := &happened[i]
		items[i].id = o.ID
		if items[i].fields, h.Err = o.check(); h.Err == nil {
			h.Updates, h.Err = e.Expand(o.Fields)
		}
		if h.Err == nil && e.CarriesTime(o.Fields) {
			h.Err = s.checkEventTime(ctx, e)
		}
		if h.Err == nil {
			items[i].digest, items[i].definition = e.Digest(o.Fields), e.UpdatesDigest()
		}
	}
	s.queueEach(ctx, &s.eventBegins, event, happened, items, func(i int) bool { return all[i].ID != "" })
	var taken []*EventResult
	for i := range happened {
		if h := &happened[i]; errors.Is(h.Err, errTakenBack) {
			h.Err = nil
			h.revoked = true // also on boards that the event has come to update since
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
			h.Err = fmt.Errorf("%w: %w", ErrOutcomeUnknown, h.Err) // elsewhere something may have been written
		}
		unavailable = unavailable && (errors.Is(h.Err, ErrUnavailable) || errors.Is(h.Err, ErrOverloaded))
	}
	if unavailable {
		return nil, fmt.Errorf("event %q: %w", event, happened[0].Err)
	}
	return happened, nil
}

// checkEventTime refuses an event that tells when it happened where no board counts by that.
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
	return Invalid(definition.AtField, fmt.Sprintf("applies only to an event with a board that has a window, which %s has not; leave it away", e.Name))
}

// errTakenBack is an occurrence that was seen before, and taken back.
var errTakenBack = errors.New("was taken back")

// hasApplied reports whether anything came of an occurrence.
func (h *EventResult) hasApplied() bool {
	return slices.ContainsFunc(h.Outcomes, func(o Outcome) bool { return o.Err == nil })
}

// reachedRedis reports whether an update of an occurrence came as far as Redis.
func (h *EventResult) reachedRedis() bool {
	return slices.ContainsFunc(h.Outcomes, func(o Outcome) bool { return !errors.Is(o.Err, ErrOverloaded) })
}

// event finds an event, also one that was defined a moment ago.
func (s *Store) event(ctx context.Context, name string) (*definition.Event, error) {
	return findDefinition(ctx, &s.catalog, func(d *definitions, _ bool) (*definition.Event, error) { return d.event(name) })
}

// check refuses what is wrong whatever the event, and gives the fields in one form.
func (o EventCall) check() ([]byte, error) {
	if o.ID != "" {
		if err := definition.CheckText("id", o.ID); err != nil {
			return nil, err
		}
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

// eventItem is an occurrence on its way to Redis.
type eventItem struct {
	id, digest string
	definition string // digest of the event's updates
	fields     []byte // JSON
	err        *error // what came of it
}

func (i eventItem) Bytes() int { return len(i.id) + len(i.fields) }

func (i eventItem) Fail(err error) { *i.err = err }

// queueEach takes those occurrences that nothing is wrong with through a queue.
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
		// Where commit was given up on, others still write to errs.
		came := err
		if came == nil {
			came = *through[i].err
		}
		if through[i].id != "" {
			h.Err = came
		} // else it has counted, and would again if it were sent again, told of or not
	}
}

// beginBatch notes ids, so that one that was used for something else is refused
// before anything is done.
func (s *Store) beginBatch(ctx context.Context, event string, batch []eventItem) error {
	ids := s.keys.EventIDs(event)
	args := make([]any, 0, 4*len(batch))
	for _, i := range batch {
		args = append(args, i.id, i.digest, i.definition, i.fields)
	}
	r, err := script.Begin.Run(ctx, s.rdb, ids[:], args)
	if err != nil {
		return err
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

// publishBatch tells the event's feed, each occurrence once.
func (s *Store) publishBatch(ctx context.Context, event string, batch []eventItem) error {
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
	_, err := script.Publish.Run(ctx, s.rdb, ids[:], args)
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrOutcomeUnknown, err)
	}
	return err
}

// applyEventUpdates carries out the updates of all occurrences, those of one board in order and
// in one go.
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
			if happened[p.of].revoked {
				updates[n].override = revoking
			}
			if id := all[p.of].ID; id != "" {
				updates[n].ID = updateID(id, event, made[:p.update], made[p.update])
			}
		}
		room <- struct{}{}
		wg.Go(func() {
			defer func() { <-room }()
			o, err := s.apply(ctx, board, updates)
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
				h.Err = o.Err // the others may have come through: it is sent again as a whole
			}
		}
	}
}

// updateID is the request id of one update of an event, those before it being made of
// the same occurrence; no caller can send it. It goes by board, which keeps it, and by
// member, so that what has counted does not count again when the event has come to
// make other updates, too, by the time of a retry.
func updateID(id, event string, before []definition.BoardUpdate, u definition.BoardUpdate) string {
	nth := 0
	for _, other := range before {
		if other.Board == u.Board && other.Update.Member == u.Update.Member {
			nth++
		}
	}
	return id + keyspace.FieldSep + event + keyspace.FieldSep + definition.Digest([]byte(u.Update.Member)) + strconv.Itoa(nth)
}
