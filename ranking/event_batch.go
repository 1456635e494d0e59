package ranking

import (
	"cmp"
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
	"rankcast/ranking/internal/keyspace"
	"rankcast/ranking/internal/script"
)

// maxEventBatch is the number of updates with which a batch of occurrences ends that takes three trips:
// on a cluster, and for a request with more updates than maxTripUpdates. They are some milliseconds of
// Redis, in calls of at most 128 updates.
const maxEventBatch = 512

// eventTimeouts times Config.CallTimeout bounds a batch of occurrences: one trip, and three more for
// what that one leaves.
const eventTimeouts = 4

// eventsInFlight is the number of batches of one event in flight on a cluster. While Redis carries
// out the first trip of one batch, it has the later trips of others behind it.
const eventsInFlight = 3

// slowEvents is the time after which a batch of occurrences no longer keeps the next ones back. It
// waits for a board that is slow, as one that is listed first, or on a node of a cluster that does
// not answer.
const slowEvents = 100 * time.Millisecond

// occurrence is one occurrence of an event in the queue of the event.
type occurrence struct {
	id, digest  string        // id as storedID returns it
	definition  string        // digest of the event's updates
	fields      []byte        // JSON
	keeps       time.Duration // the span of the event's ids, see definition.Event.IDSpan
	idsSince    int64         // see knownEvent.idsSince
	pauses      bool          // its feed pauses while a board of the event is frozen
	isTakenBack bool          // the store takes its updates back instead of applying them
	result      EventResult
}

func (o *occurrence) Weight() int { return len(o.result.Updates) }

func (o *occurrence) Bytes() int { return len(o.id) + len(o.fields) }

func (o *occurrence) Fail(err error) { o.result.Err, o.result.Outcomes = err, nil }

// hasApplied reports whether any update of the occurrence was applied.
func (o *occurrence) hasApplied() bool {
	return slices.ContainsFunc(o.result.Outcomes, func(u Outcome) bool { return u.Err == nil })
}

// useThreeTrips has the store carry out events in three trips, because no script may use keys of
// several slots of a cluster. Call it before the first event.
func (s *Store) useThreeTrips() {
	s.inThreeTrips.Store(true)
	s.events.MaxWeight, s.events.InFlight = maxEventBatch, eventsInFlight
}

// applyOccurrences carries out occurrences of one event: it records their ids, applies their updates
// to all boards, and publishes the occurrences that have counted. Where one Redis holds all boards,
// that takes one trip, see applyInOneTrip. What this trip leaves, and all of it on a cluster, goes in
// three trips: the ids, so that an id of another occurrence is refused before anything counts; then
// the updates of all boards; then the feed. A retry of an occurrence with an id completes what a
// crash in between has left.
//
// The results are in the occurrences. An error means that no outcome is known: no occurrence has
// counted, or with ErrOutcomeUnknown each may have. applyOccurrences calls sent once the first trip
// has its place on the connection: an id that two batches have is then recorded for the former one.
func (s *Store) applyOccurrences(ctx context.Context, event string, all []*occurrence, sent func()) error {
	sent = sync.OnceFunc(sent)
	batches := s.updatesByBoard(event, all)
	if refused, err := s.refuseFull(ctx, event, all, batches); err != nil {
		return err
	} else if refused {
		all = slices.DeleteFunc(slices.Clone(all), func(o *occurrence) bool { return o.result.Err != nil })
		if len(all) == 0 {
			sent()
			return nil
		}
		batches = s.updatesByBoard(event, all)
	}
	trip, err := s.applyInOneTrip(ctx, event, all, batches, sent)
	if err == nil && !trip.recorded {
		trip.differ, err = s.recordOccurrences(ctx, event, all, sent)
	}
	if err != nil {
		return err
	}
	if trip.differ {
		batches = s.updatesByBoard(event, all)
	}
	s.applyUpdatesOf(ctx, all, batches)
	var counted []*occurrence
	for _, o := range all {
		if o.isTakenBack { // its updates have not counted, and will not
			for i := range o.result.Outcomes {
				o.result.Outcomes[i].Result.Duplicate = o.result.Outcomes[i].Err == nil
			}
		}
		if o.result.Err == nil && o.hasApplied() {
			counted = append(counted, o)
		}
	}
	if trip.published {
		return nil
	}
	if err := s.publishOccurrences(ctx, event, counted); err != nil {
		for _, o := range counted {
			if o.id != "" { // otherwise it has counted, and a retry would count again
				o.Fail(err)
			}
		}
	}
	return nil
}

// isPaused reports whether the feed leaves the occurrence out.
func (o *occurrence) isPaused() bool {
	return o.pauses && slices.ContainsFunc(o.result.Outcomes, func(u Outcome) bool { return u.Result.Frozen })
}

// recordOccurrences records the ids of occurrences, see takeRecorded. It calls sent once they have
// their place on the connection.
func (s *Store) recordOccurrences(ctx context.Context, event string, all []*occurrence, sent func()) (differ bool, err error) {
	args := s.recordArgs(all)
	if len(args) == 3 {
		sent()
		return false, nil
	}
	ids := s.keys.EventIDs(event)
	return s.takeRecorded(event, s.send(ctx, sent, script.Call{Script: script.Begin, Keys: ids[:], Args: args})[0], all)
}

// idSpan is the span of the ids of occurrences of one event, in µs. Their definitions may differ.
func idSpan(all []*occurrence) int64 {
	longest := definition.LeastIDSpan
	for _, o := range all {
		longest = max(longest, o.keeps)
	}
	return longest.Microseconds()
}

// recordArgs returns the arguments of begin.lua for the occurrences with an id.
func (s *Store) recordArgs(all []*occurrence) []any {
	since := int64(0)
	for _, o := range all {
		since = max(since, o.idsSince)
	}
	args := append(make([]any, 0, 3+4*len(all)), idSpan(all), s.cfg.MaxIDs, since)
	for _, o := range all {
		if o.id != "" {
			args = append(args, o.id, o.digest, o.definition, o.fields)
		}
	}
	return args
}

// takeRecorded takes the result of begin.lua for the occurrences with an id. It reports whether an id
// is that of another occurrence, or of one that was taken back, or one too many: then the batches of updatesByBoard
// differ from those before.
func (s *Store) takeRecorded(event string, r *script.Reply, all []*occurrence) (differ bool, err error) {
	if r.Err != nil {
		return false, r.Err
	}
	for _, o := range all {
		if o.id == "" {
			continue
		}
		state := r.Text()
		if wait, full := parseRoomWait(state); full {
			o.Fail(s.errTooManyIDs(fmt.Sprintf("event %q", event), wait))
			differ = true
		}
		switch state {
		case "m":
			o.Fail(&definition.FieldError{Field: "id", Reason: "was used for another event", Kind: definition.ErrIDMismatch})
			differ = true
		case "t":
			o.isTakenBack = true // also on boards that the event updates only since then
			differ = true
		}
	}
	return differ, r.Err
}

// publishOccurrences publishes each occurrence once on the event's feed. One that the feed leaves out is never published.
func (s *Store) publishOccurrences(ctx context.Context, event string, all []*occurrence) error {
	if len(all) == 0 {
		return nil
	}
	ids := s.keys.EventIDs(event)
	args, err := s.publishArgs(event, all)
	if err != nil {
		return err
	}
	if err := s.send(ctx, nil, script.Call{Script: script.Publish, Keys: ids[:], Args: args})[0].Err; err != nil {
		return fmt.Errorf("%w: %w", definition.ErrOutcomeUnknown, err)
	}
	return nil
}

// publishArgs returns the arguments of publish.lua.
func (s *Store) publishArgs(event string, all []*occurrence) ([]any, error) {
	at := time.UnixMicro(s.catalog.clock.now()).UTC().Format(definition.TimeForm)
	args := append(make([]any, 0, 2+3*len(all)), s.keys.Feed(event), idSpan(all))
	for _, o := range all {
		item, err := json.Marshal(feedItem{at, jsontext.Value(o.fields)})
		if err != nil {
			return nil, fmt.Errorf("encode an event: %w", err)
		}
		if o.isPaused() {
			item = nil
		}
		args = append(args, o.id, o.digest, item)
	}
	return args, nil
}

// updatesByBoard returns the updates of the occurrences without an error, in a batch for each board and each shard.
// The updates of one batch keep their order.
func (s *Store) updatesByBoard(event string, all []*occurrence) []*boardBatch {
	byBoard := make(map[string]*shardBatches, 8)
	var batches []*boardBatch
	for _, o := range all {
		if o.result.Err != nil {
			continue
		}
		made := o.result.Updates
		o.result.Outcomes = make([]Outcome, len(made))
		for i, u := range made {
			all := byBoard[u.Board]
			if all == nil {
				all = s.newBatches(u.Board)
				byBoard[u.Board] = all
			}
			b := all.batch(u.Update.Member)
			if len(b.waiting) == 0 {
				batches = append(batches, b)
			}
			w := write{Update: u.Update}
			if o.isTakenBack {
				w.override = takingBack
			}
			if o.id != "" {
				w.ID = updateID(o.id, event, made[:i], u)
			}
			b.waiting = append(b.waiting, updateItem{write: w, outcome: &o.result.Outcomes[i]})
		}
	}
	for _, b := range batches {
		s.prepare(b)
	}
	return batches
}

// applyUpdatesOf applies the updates of occurrences that wait in the batches, those of all boards in
// one trip.
func (s *Store) applyUpdatesOf(ctx context.Context, all []*occurrence, batches []*boardBatch) {
	s.applyBatches(ctx, batches, nil)
	for _, o := range all {
		if err := o.failure(); err != nil {
			o.result.Err = err // the caller sends the occurrence again as a whole
		}
	}
}

// failure returns an error when the store could not carry out an update of the occurrence. The error
// is ErrOutcomeUnknown too when any update has counted, or may have.
func (o *occurrence) failure() (err error) {
	mayCount := o.hasApplied()
	for _, u := range o.result.Outcomes {
		if errors.Is(u.Err, definition.ErrUnavailable) {
			err = cmp.Or(err, u.Err)
			mayCount = mayCount || errors.Is(u.Err, definition.ErrOutcomeUnknown)
		}
	}
	if err != nil && mayCount && !errors.Is(err, definition.ErrOutcomeUnknown) {
		err = fmt.Errorf("%w: %w", definition.ErrOutcomeUnknown, err)
	}
	return err
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
