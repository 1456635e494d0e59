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
	// maxTripWork bounds the updates of one trip, together with the events that its boards with a
	// window remove. The trip is one call of a script, so it holds Redis for 2 to 6 ms at most.
	maxTripWork = 256
)

// eventTrip tells what applyInOneTrip has done.
type eventTrip struct {
	recorded  bool          // the ids are recorded
	batches   []*boardBatch // of all updates, when each board has been called; else nil
	published bool          // the occurrences are published
}

// applyInOneTrip carries out occurrences by one call of event.lua, and takes the results. The caller
// completes what is left:
//
//   - Nothing is done on a cluster, for a batch that would hold Redis for too long, and where Redis
//     refuses the call.
//   - No board is called when an id is that of another occurrence, or of one that was taken back.
//   - A board that needs another call has updates waiting in its batch. No occurrence is published
//     then, and none is when a board refuses an update.
//
// An error means that no occurrence has counted, or with ErrOutcomeUnknown that each may have.
func (s *Store) applyInOneTrip(ctx context.Context, event string, all []*occurrence, sent func()) (trip eventTrip, err error) {
	if s.eventsSplit {
		return trip, nil
	}
	batches := s.updatesByBoard(event, all)
	call, err := s.eventCall(ctx, event, all, batches)
	if err != nil || call == nil {
		return trip, nil // the three trips find the same error
	}
	r := s.send(ctx, sent, *call)[0]
	var refused redis.Error
	if errors.As(r.Err, &refused) {
		return trip, nil // the first of the three trips recovers, or fails in the same way
	}
	if r.Err != nil {
		return trip, outcomeOf(r.Err)
	}
	begun := r.Of(script.Begin)
	takeRecorded(begun, all)
	if begun.Err != nil {
		return trip, outcomeOf(begun.Err)
	}
	trip.recorded = true
	if len(r.Rest) == 0 {
		return trip, nil
	}
	trip.batches = batches
	ofBoards, replies := r.List(), make([]*script.Reply, len(batches))
	for i, b := range batches {
		replies[i] = ofBoards.Of(script.Apply(b.parts()))
		s.rights.observeReply(replies[i])
	}
	s.takeReplies(ctx, batches, replies)
	if len(r.Rest) > 0 {
		published := r.Of(script.Publish)
		s.rights.observeReply(published)
		trip.published = published.Err == nil
	}
	return trip, nil
}

// eventCall returns the call of event.lua for occurrences, or no call where their updates need more
// than one.
func (s *Store) eventCall(ctx context.Context, event string, all []*occurrence, batches []*boardBatch) (*script.Call, error) {
	calls := make([]script.Call, len(batches))
	var sets script.PartSets
	work, keyCount, argCount := 0, 0, 0
	for i, b := range batches {
		if b.err != nil {
			return nil, b.err
		}
		call, err := s.nextCall(ctx, b)
		if err != nil {
			return nil, err
		}
		if work += b.work(); b.sent < len(b.waiting) || work > maxTripWork {
			return nil, nil
		}
		calls[i] = call
		sets.Add(b.parts())
		keyCount, argCount = keyCount+len(call.Keys), argCount+len(call.Args)
	}
	ids, recorded := s.keys.EventIDs(event), recordArgs(all)
	published, err := s.publishArgs(event, all)
	if err != nil {
		return nil, err
	}
	keys := append(make([]string, 0, len(ids)+keyCount), ids[:]...)
	const head, each = 3, 3
	args := make([]any, 0, head+each*len(calls)+len(recorded)+len(published)+argCount)
	args = append(args, len(recorded), len(published), len(calls))
	for i, c := range calls {
		keys = append(keys, c.Keys...)
		args = append(args, sets.Place(batches[i].parts()), len(c.Keys), len(c.Args))
	}
	args = append(append(args, recorded...), published...)
	for _, c := range calls {
		args = append(args, c.Args...)
	}
	return &script.Call{Script: script.Event(sets), Keys: keys, Args: args}, nil
}
