package ranking

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/batch"
	"rankcast/ranking/internal/script"
)

const (
	// windowItems is the number of updates in one call for a board with a window. The call also
	// removes as many overdue events, and 16 more. So it holds Redis for 2 to 3 ms at most.
	windowItems = 32
	// windowSweep is the number of these 16 events: SWEEP in lua/lib/apply_window.lua.
	windowSweep = 16
	// ttlSweep is the number of members that a call for a board with a member_ttl removes at most:
	// EXPIRE in lua/apply.lua.
	ttlSweep = 32
	// maxLookups is the number of boards for which the node looks up at the same time what their
	// calls lacked.
	maxLookups = 32
)

// boardBatch is a batch of updates of one board on its way through apply.lua.
type boardBatch struct {
	instance string
	shard    string // the name under which Redis holds the members of the updates: instance, or a shard of it
	shards   int    // of the definition by which that is so
	name     definition.Name
	waiting  []updateItem // the updates without an outcome, in their order
	err      error        // why they will get none

	definitions *definitions
	args        applyArgs
	at          int64  // the time for which args hold, µs since 1970
	sent        int    // number of updates in the call that is out
	why         string // why the last call did nothing
	repeated    int    // calls that did nothing, since the last one that was carried out
}

// work is the number of updates in the call that is next, together with the members, and the events of
// a window beyond one for each update, whose time may be over and that the call then removes.
func (b *boardBatch) work() int {
	work := b.sent
	if b.args.rule.IsWindowed() {
		work += windowSweep
	}
	if b.args.rule.MemberTTL > 0 {
		work += ttlSweep
	}
	return work
}

// fail ends the batch: its updates without an outcome get err.
func (b *boardBatch) fail(err error) {
	b.err = err
	for _, u := range b.waiting {
		u.Fail(fmt.Errorf("apply to board %q: %w", b.instance, err))
	}
}

// isDone reports whether each update has an outcome or an error.
func (b *boardBatch) isDone() bool { return len(b.waiting) == 0 || b.err != nil }

// applyBatch applies updates to a shard of an instance. It returns an error when no update has an outcome.
// It calls sent once the last of the updates have their place on the connection.
func (s *Store) applyBatch(ctx context.Context, shard string, items []updateItem, sent func()) error {
	to := items[len(items)-1].to
	b := boardBatch{instance: to.instance, shard: shard, shards: to.rule.Shards, name: to.name, waiting: items}
	if b.shards > 0 && slices.ContainsFunc(items, func(i updateItem) bool { return i.to.rule.Shards != b.shards }) {
		return errOtherShards
	}
	s.prepare(&b)
	s.applyBatches(ctx, []*boardBatch{&b}, sent)
	if len(b.waiting) == len(items) {
		return b.err
	}
	return nil
}

// prepare makes a batch that has all its updates ready for its first call.
func (s *Store) prepare(b *boardBatch) {
	if b.at = s.catalog.clock.now(); b.err != nil {
		b.fail(b.err)
	}
}

// found is the board as the caller of the latest update found it; nil for updates of events.
func (b *boardBatch) found() *target { return b.waiting[len(b.waiting)-1].to }

// applyBatches applies batches of different boards, which are prepared. Each round trip takes one
// call of apply.lua for each board that is not done. When the script finds that the node's knowledge
// of a board is out of date, the node updates it and calls again. The outcomes and errors are in the
// batches.
//
// applyBatches calls sent once the last updates of all boards have been sent for the first time.
func (s *Store) applyBatches(ctx context.Context, batches []*boardBatch, sent func()) {
	active := make([]*boardBatch, 0, len(batches))
	calls := make([]script.Call, 0, len(batches))
	for {
		active, calls = active[:0], calls[:0]
		areLast := true
		for _, b := range batches {
			if b.isDone() {
				continue
			}
			if err := s.plan(ctx, b); err != nil {
				b.fail(err)
				continue
			}
			if b.isDone() { // no update fits the columns of the board
				continue
			}
			active, calls = append(active, b), append(calls, s.applyCall(b))
			areLast = areLast && b.sent == len(b.waiting)
		}
		if len(active) == 0 {
			return
		}
		// A later round only repeats calls, or goes on with boards that are not done: the next batch
		// need not wait for it.
		var notify func()
		if areLast {
			notify, sent = sent, nil
		}
		replies := s.send(ctx, notify, calls...)
		s.takeReplies(ctx, active, replies)
	}
}

// send sends calls of scripts together, see script.Send. Each trip has the whole Config.CallTimeout,
// because the end of its time closes the connection that all writes share. An expired ctx sends
// nothing.
func (s *Store) send(ctx context.Context, sent func(), calls ...script.Call) []*script.Reply {
	if ctx.Err() == nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), s.cfg.CallTimeout)
		defer cancel()
	}
	return script.Send(ctx, s.rdb, sent, calls...)
}

// errOtherShards is the error of updates that were meant for other shards than the board has. The next attempt finds its shards.
var errOtherShards = fmt.Errorf("%w: the board has been defined with another number of shards", definition.ErrUnavailable)

// plan decides which updates the next call for a batch has, and by which definition.
func (s *Store) plan(ctx context.Context, b *boardBatch) error {
	if b.repeated == maxAttempts {
		return b.exhausted()
	}
	d, rule, err := s.latestRule(ctx, b)
	if err != nil {
		return err
	}
	if rule.Union != nil { // it was no union a moment ago
		return errUnionWrite(b.instance)
	}
	if rule.Shards != b.shards {
		return errOtherShards
	}
	b.refuseColumns(rule)
	b.definitions = d
	b.args.rule, b.args.hidden, b.args.span = rule, d.hidden, rule.Span(b.at)
	b.args.leased = d.readAt + lease.Microseconds()
	b.args.ids = d.idSpans[b.name.Slot()]
	_, b.args.wantsWhole = s.wantWhole.Load(b.name.Slot())
	b.sent = min(len(b.waiting), batch.MaxWeight)
	if rule.IsWindowed() {
		b.sent = min(b.sent, windowItems)
	}
	return nil
}

// refuseColumns gives the updates whose columns are not those of the board their errors.
func (b *boardBatch) refuseColumns(rule *definition.Compiled) {
	misfits := func(u updateItem) bool {
		_, err := u.columnAmounts(rule)
		if err != nil {
			u.Fail(err)
		}
		return err != nil
	}
	if slices.ContainsFunc(b.waiting, misfits) {
		b.waiting = slices.DeleteFunc(slices.Clone(b.waiting), misfits) // the queue has the items too
	}
}

// latestRule finds the definition of the board of a batch, unless that which the caller found is the latest one.
func (s *Store) latestRule(ctx context.Context, b *boardBatch) (*definitions, *definition.Compiled, error) {
	if to := b.found(); to != nil && to.definitions == s.catalog.latest.Load() {
		return to.definitions, to.rule, nil
	}
	d, err := s.catalog.get(ctx)
	if err != nil {
		return nil, nil, err
	}
	rule, err := d.compiled(b.name)
	return d, rule, err
}

// exhausted is the error of a batch whose calls found the node's knowledge out of date each time.
func (b *boardBatch) exhausted() error {
	switch b.why {
	case "stale", "behind":
		return fmt.Errorf("%w: the definitions change too often, or the clocks of the Redis masters differ by seconds", definition.ErrUnavailable)
	case "shape":
		return errOtherShape(b.instance)
	}
	return fmt.Errorf("%w: the board's periods pass too fast, or callers keep deleting and creating the board", definition.ErrUnavailable)
}

// errOtherShape is the error of a write to data of an earlier definition.
func errOtherShape(instance string) error {
	return conflict("board", "%q holds data of another order, or of other periods, than its definition has: delete the board first", instance)
}

// takeReplies takes the replies for batches, and finds out what their next calls need.
func (s *Store) takeReplies(ctx context.Context, batches []*boardBatch, replies []*script.Reply) {
	var lookups errgroup.Group
	lookups.SetLimit(maxLookups)
	for i, b := range batches {
		reply, err := s.takeApplyReply(b.instance, b.args.rule, replies[i], b.waiting[:b.sent])
		switch {
		case err != nil:
			b.fail(outcomeOf(err))
		case reply.why == "ok":
			if reply.isFull {
				s.fullBoards.Store(b.shard, true)
			}
			s.metrics.batchUpdates.Observe(float64(b.sent))
			b.waiting, b.repeated = b.waiting[b.sent:], 0
		default:
			if reply.why != "whole" { // the node learns that once
				b.repeated++
			}
			b.why, b.at = reply.why, reply.now
			lookups.Go(func() error {
				if err := s.lookUp(ctx, b, reply); err != nil {
					b.fail(err)
				}
				return nil
			})
		}
	}
	_ = lookups.Wait() // the batches have the errors
}

// lookUp finds out what a call for a batch lacked.
func (s *Store) lookUp(ctx context.Context, b *boardBatch, reply applyReply) (err error) {
	switch reply.why {
	case "turn":
		s.catalog.clock.set(reply.now)
		b.args.listed = 0 // the listing was for another period
	case "whole":
		s.wantWhole.Store(b.name.Slot(), true)
	case "behind":
		err = s.restoreModeration(ctx, b.definitions, reply.revision)
		b.args.listed, b.at = 0, s.catalog.clock.now()
	case "stale", "shape":
		_, err = s.catalog.readNewer(ctx, b.definitions)
		b.args.listed = 0 // the listing was by the definition before
	case "due":
		b.args.isBehind = b.args.isBehind || !s.awaitSweep(ctx, b.instance)
		b.at = s.catalog.clock.now()
	case "new":
		b.args.listedAs = listedPublic
		b.args.listed, err = s.registerInstance(ctx, b.definitions, b.instance, b.args.rule, b.args.span.End(), listedPublic)
	case "wait":
		b.args.listedAs = listedPending
		b.args.listed, err = s.registerInstance(ctx, b.definitions, b.instance, b.args.rule, b.args.span.End(), listedPending)
	}
	return err
}
