package ranking

import (
	"context"
	"errors"
	"sync"

	"rankcast/ranking/definition"
)

// commitToShards applies updates of a board with shards that have passed their checks, in the queues of all their shards at the same time.
// outcomes are those of all updates of the caller, to which the items point. Where a shard has not carried out its updates, they
// have its error; where none has, so does the caller.
func (s *Store) commitToShards(ctx context.Context, to *target, items []updateItem, outcomes []Outcome) ([]Outcome, error) {
	type part struct {
		items []updateItem
		whose []*Outcome // of the caller
		own   []Outcome  // another goroutine may write to these after an early end
		err   error
	}
	parts := make(map[string]*part)
	for _, item := range items {
		name := NameOf(to.instance, item.Member, to.rule.Shards)
		p := parts[name]
		if p == nil {
			p = new(part)
			parts[name] = p
		}
		p.items, p.whose = append(p.items, item), append(p.whose, item.outcome)
	}
	var all sync.WaitGroup
	for name, p := range parts {
		p.own = make([]Outcome, len(p.items))
		for i := range p.items {
			p.items[i].outcome = &p.own[i]
		}
		all.Go(func() { p.err = s.commitUpdates(ctx, to.instance, name, p.items) })
	}
	all.Wait()
	var failed error
	applied := len(parts) == 0
	for _, p := range parts {
		if p.err == nil {
			applied = true
		} else if failed == nil || errors.Is(p.err, definition.ErrOutcomeUnknown) {
			failed = p.err
		}
		for i, o := range p.whose {
			if *o = (Outcome{Err: p.err}); p.err == nil {
				*o = p.own[i]
			}
		}
	}
	if !applied {
		return nil, failed
	}
	return outcomes, nil
}

// shardBatches are the batches of updates of one board: one of each shard, or one of the whole board.
type shardBatches struct {
	boardBatch               // of a board without shards; else that with which the batch of a shard begins
	of         []*boardBatch // by shard; nil: no update yet
}

// newBatches prepares the batches for updates of events to a board, by the node's copy of the definitions. Where the definition has
// another number of shards by the time of the call, plan refuses the batch.
func (s *Store) newBatches(board string) *shardBatches {
	all := &shardBatches{boardBatch: boardBatch{instance: board, shard: board}}
	all.name, all.err = definition.ParseName(board)
	if d := s.catalog.latest.Load(); all.err == nil && d != nil {
		if rule := d.boards[all.name.Slot()]; rule != nil && rule.Shards > 0 {
			all.shards, all.of = rule.Shards, make([]*boardBatch, rule.Shards)
		}
	}
	return all
}

// batch returns the batch for updates of a member. It has no updates yet where the member is the first one of it.
func (b *shardBatches) batch(member string) *boardBatch {
	if b.shards == 0 {
		return &b.boardBatch
	}
	i := ShardOf(member, b.shards)
	if b.of[i] == nil {
		one := b.boardBatch
		one.shard = ShardName(b.instance, i)
		b.of[i] = &one
	}
	return b.of[i]
}
