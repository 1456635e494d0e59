package ranking

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"

	"rankcast/ranking/internal/script"
)

const (
	// maxTripUpdates is the number of updates with which a batch of occurrences ends where one Redis
	// holds all boards.
	maxTripUpdates = 64
	// maxTripWork bounds the work of one trip, see boardBatch.work. The trip is one call of a script,
	// so it holds Redis for 2 to 6 ms at most.
	maxTripWork = 384
)

// eventTrip tells what applyInOneTrip has done.
type eventTrip struct {
	recorded  bool // the ids are recorded
	differ    bool // see takeRecorded
	published bool // the occurrences are published
}

// applyInOneTrip carries out occurrences by one call of event.lua, and takes the results. The batches
// come from updatesByBoard. The caller completes what applyInOneTrip leaves:
//
//   - Nothing is done on a cluster, for a batch that would hold Redis for too long, and where Redis
//     refuses the call.
//   - No board is called when an id is that of another occurrence, or of one that was taken back, or one too many.
//   - A board that needs another call has updates waiting in its batch. No occurrence is published
//     then, and none is when a board refuses an update.
//
// An error means that no occurrence has counted, or with ErrOutcomeUnknown that each may have.
func (s *Store) applyInOneTrip(ctx context.Context, event string, all []*occurrence, batches []*boardBatch,
	sent func()) (trip eventTrip, err error) {
	if s.inThreeTrips.Load() || !s.fitOneTrip(ctx, batches) {
		return trip, nil
	}
	call, err := s.eventCall(event, all, batches)
	if err != nil {
		return trip, nil // the three trips find the same error
	}
	r := s.send(ctx, sent, call)[0]
	if _, ok := errors.AsType[redis.Error](r.Err); ok {
		if redis.HasErrorPrefix(r.Err, "CROSSSLOT") { // one node is all of a cluster, or a proxy stands before one
			s.inThreeTrips.Store(true)
		}
		return trip, nil // no board has changed, see event.lua
	}
	if r.Err != nil {
		return trip, outcomeOf(r.Err)
	}
	if trip.differ, err = s.takeRecorded(event, r.Of(script.Begin), all); err != nil {
		return trip, outcomeOf(err)
	}
	trip.recorded = true
	if len(r.Rest) == 0 {
		return trip, nil
	}
	ofBoards, replies := r.List(), make([]*script.Reply, len(batches))
	for i := range batches {
		replies[i] = ofBoards.Of(script.ApplyPlain)
		s.rights.ObserveReply(replies[i])
	}
	s.takeReplies(ctx, batches, replies)
	if len(r.Rest) > 0 {
		trip.published = r.Of(script.Publish).Err == nil
	}
	return trip, nil
}

// fitOneTrip plans the next call of each batch, and reports whether one call of event.lua may make
// them all.
func (s *Store) fitOneTrip(ctx context.Context, batches []*boardBatch) bool {
	work := 0
	for _, b := range batches {
		if b.err != nil || s.plan(ctx, b) != nil { // the three trips find the same error
			return false
		}
		work += b.work()
		if b.sent < len(b.waiting) || work > maxTripWork {
			return false
		}
	}
	return true
}

// eventCall returns the call of event.lua for occurrences. fitOneTrip has planned the batches.
func (s *Store) eventCall(event string, all []*occurrence, batches []*boardBatch) (script.Call, error) {
	ids, recorded := s.keys.EventIDs(event), s.recordArgs(all)
	published, err := s.publishArgs(event, all)
	if err != nil {
		return script.Call{}, err
	}
	calls := make([]script.Call, len(batches))
	keyCount, argCount := 0, 0
	for i, b := range batches {
		calls[i] = s.applyCall(b)
		keyCount, argCount = keyCount+len(calls[i].Keys), argCount+len(calls[i].Args)
	}
	keys := append(make([]string, 0, len(ids)+keyCount), ids[:]...)
	const head, each = 3, 3
	args := make([]any, 0, head+each*len(calls)+len(recorded)+len(published)+argCount)
	args = append(args, len(recorded), len(published), len(calls))
	for _, c := range calls {
		keys = append(keys, c.Keys...)
		form := "plain"
		if c.Script == script.ApplyWhole {
			form = "whole"
		}
		args = append(args, form, len(c.Keys), len(c.Args))
	}
	args = append(append(args, recorded...), published...)
	for _, c := range calls {
		args = append(args, c.Args...)
	}
	return script.Call{Script: script.Event, Keys: keys, Args: args}, nil
}
