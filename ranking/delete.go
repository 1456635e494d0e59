package ranking

import (
	"context"
	"slices"
	"strings"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/script"
)

// dropAtOnce is the number of board-periods in one call of drop.lua.
const dropAtOnce = 8

// lastWrite is when a period of an instance was last written to, or when its last build began, in µs
// since 1970.
func (s *Store) lastWrite(ctx context.Context, p periodRecord) (latest int64, err error) {
	for _, shard := range p.shards {
		r := s.readFields(ctx, s.keys.Board(shard, p.Name).Meta, "clock", "wrote", pendingField, builtField)
		for r.More() {
			latest = max(latest, r.OptionalNumber())
		}
		if r.Err != nil {
			return 0, r.Err
		}
	}
	return latest, nil
}

// dropPeriods deletes periods of an instance, whatever was written to them. until is the end of the lease of the definitions, in µs since
// 1970. The record of a period's first shard says that its result was delivered, so the first shards go last, as in all deletions.
func (s *Store) dropPeriods(ctx context.Context, r *definition.Compiled, instance string, until int64, periods []string) error {
	for _, shard := range slices.Backward(shardNames(r, instance)) {
		if err := s.dropShard(ctx, shard, until, periods); err != nil {
			return err
		}
	}
	return nil
}

// dropShard deletes periods of a shard, and with the last of them the further keys.
func (s *Store) dropShard(ctx context.Context, shard string, until int64, periods []string, keys ...string) error {
	for len(periods) > 0 || len(keys) > 0 {
		n := min(len(periods), dropAtOnce)
		now := periods[:n]
		var more []string
		if periods = periods[n:]; len(periods) == 0 {
			more, keys = keys, nil
		}
		if _, err := s.callDrop(ctx, shard, dropCall{until: until, periods: now, keys: more}); err != nil {
			return err
		}
	}
	return nil
}

// dropUnwritten deletes an instance that was not written to since a time, in µs since 1970,
// and reports whether it did. periods are all periods found of it, the newest last.
// With shards, an update that comes between the calls stops them: what the shards before it have held is gone.
func (s *Store) dropUnwritten(ctx context.Context, r *definition.Compiled, instance string, until int64, periods []periodRecord,
	since int64) (gone bool, err error) {
	for _, shard := range slices.Backward(shardNames(r, instance)) {
		var names []string // the newest first
		for _, p := range slices.Backward(periods) {
			if slices.Contains(p.shards, shard) {
				names = append(names, p.Name)
			}
		}
		if len(names) == 0 {
			continue
		}
		if gone, err = s.dropUnwrittenShard(ctx, shard, until, names, since); err != nil || !gone {
			return gone, err
		}
	}
	return gone, nil
}

// dropUnwrittenShard is dropUnwritten for one shard, with its periods, the newest first.
func (s *Store) dropUnwrittenShard(ctx context.Context, shard string, until int64, names []string, since int64) (gone bool, err error) {
	// The instance has gone with its newest period: only that period, or a newer one, can
	// take a write. A later write begins a new life of the instance.
	n := min(len(names), dropAtOnce)
	if gone, err = s.callDrop(ctx, shard, dropCall{until: until, since: since, of: len(names), periods: names[:n]}); err != nil || !gone {
		return gone, err
	}
	return true, s.dropShard(ctx, shard, until, names[n:])
}

// dropCall is the work of one call of drop.lua. Times are in µs since 1970.
type dropCall struct {
	until   int64    // end of the lease of the definitions
	since   int64    // only if the newest period was not written to since then; 0: in any case
	of      int      // and only if the instance has so many periods
	periods []string // the newest first
	keys    []string // further keys to delete; after that no data of the instance are left
}

// callDrop calls drop.lua and reports whether the periods have gone.
func (s *Store) callDrop(ctx context.Context, shard string, d dropCall) (gone bool, err error) {
	k := s.keys.Board(shard, "")
	keys := []string{k.Periods, k.Meta}
	if len(d.periods) > 0 {
		keys[1] = s.keys.Board(shard, d.periods[0]).Meta
	}
	args := []any{d.until, "", ""}
	if d.since > 0 {
		args = []any{d.until, d.since, d.of}
	}
	for _, p := range d.periods {
		keys = append(keys, s.keys.Board(shard, p).All()...)
		args = append(args, p)
	}
	if len(d.keys) > 0 {
		args = append(args, lastSettledField)
	}
	r := script.Drop.Run(ctx, s.rdb, append(keys, d.keys...), args)
	state := r.Text()
	if state == "stale" {
		r.Err = errStaleDefinitions
	}
	return state == "ok", r.Err
}

// forgetIDs deletes the request ids of the shards of an instance, or of an event ("/gift"), that has no
// other data, once they are too old for a retry. It returns when to look again, in µs since
// 1970; 0: no data are left.
func (s *Store) forgetIDs(ctx context.Context, all ...string) (next int64, err error) {
	for _, of := range all {
		at, err := s.forgetIDsOf(ctx, of)
		if err != nil {
			return 0, err
		}
		if next == 0 || at > 0 && at < next {
			next = at
		}
	}
	return next, nil
}

// forgetIDsOf is forgetIDs for one shard, or an event.
func (s *Store) forgetIDsOf(ctx context.Context, of string) (next int64, err error) {
	ids := s.keys.Ids(of)
	keys := ids[:]
	if !strings.HasPrefix(of, "/") {
		keys = append(keys, s.keys.Board(of, "").Periods)
	}
	r := script.Forget.Run(ctx, s.rdb, keys, nil)
	switch r.Text() {
	case "none":
		return 0, r.Err
	case "kept":
		return r.Number(), r.Err
	}
	return s.catalog.clock.now() + relistAfter.Microseconds(), r.Err
}

// deleteData deletes all data of an instance at once. until is the end of the lease of the
// definitions, in µs since 1970. r may be nil, see shardNames.
func (s *Store) deleteData(ctx context.Context, r *definition.Compiled, instance string, until int64) error {
	periods, err := s.periodRecords(ctx, r, instance)
	if err != nil {
		return err
	}
	names := make([]string, len(periods))
	var deliveries []string
	for i, p := range periods {
		names[i] = p.Name
		if p.id != "" && !p.done {
			deliveries = append(deliveries, definition.Qualify(instance, p.Name))
		}
	}
	if err := s.cancelDeliveries(ctx, instance, deliveries...); err != nil {
		return err
	}
	if err := s.forgetHidden(ctx, instance); err != nil {
		return err
	}
	s.builds.note(instance, 0)
	for _, shard := range slices.Backward(shardNames(r, instance)) {
		ids := s.keys.Ids(shard)
		if err := s.dropShard(ctx, shard, until, names, append(ids[:], s.keys.Build(shard).All()...)...); err != nil {
			return err
		}
	}
	return nil
}
