package ranking

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/keyspace"
	"rankcast/ranking/internal/script"
)

// dropAtOnce is how many board-periods go in one call of drop.lua.
const dropAtOnce = 8

// lastWrite is when a board-period was last written to, or begun to be built, in µs since 1970.
func (s *Store) lastWrite(ctx context.Context, k keyspace.BoardKeys) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	values, err := s.rdb.HMGet(ctx, k.Meta, "clock", "wrote", builtField).Result()
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	latest := int64(0)
	for _, v := range values {
		if text, ok := v.(string); ok {
			at, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return 0, fmt.Errorf("%w: %s has the time %q, which is none", ErrUnavailable, k.Meta, text)
			}
			latest = max(latest, at)
		}
	}
	return latest, nil
}

// dropPeriods lets board-periods go, whatever was written to them, and with the last of them
// the keys that come on top. until is when what is known of the board is too old, in µs
// since 1970.
func (s *Store) dropPeriods(ctx context.Context, instance string, until int64, periods []string, keys ...string) error {
	for len(periods) > 0 || len(keys) > 0 {
		n := min(len(periods), dropAtOnce)
		now := periods[:n]
		var more []string
		if periods = periods[n:]; len(periods) == 0 {
			more, keys = keys, nil
		}
		if _, err := s.callDrop(ctx, instance, dropCall{until: until, periods: now, keys: more}); err != nil {
			return err
		}
	}
	return nil
}

// dropUnwritten lets all of an instance go, if nothing was written to it since a time,
// in µs since 1970. periods are all that were found of it, the newest last.
func (s *Store) dropUnwritten(ctx context.Context, instance string, until int64, periods []periodRecord, since int64) (gone bool, err error) {
	names := make([]string, len(periods))
	for i, p := range periods {
		names[len(names)-1-i] = p.Name
	}
	// With the newest, which alone can be written to, or of which the next would be
	// the newer, the instance has gone: what is written then begins anew.
	n := min(len(names), dropAtOnce)
	if gone, err = s.callDrop(ctx, instance, dropCall{until: until, since: since, of: len(names), periods: names[:n]}); err != nil || !gone {
		return gone, err
	}
	return true, s.dropPeriods(ctx, instance, until, names[n:])
}

// dropCall is what one call of drop.lua lets go. Times are in µs since 1970.
type dropCall struct {
	until   int64    // when what is known of the board is too old
	since   int64    // only if nothing was written since; 0: whatever was
	of      int      // and there are so many periods
	periods []string // the newest first
	keys    []string // on top; with them nothing of the instance is left
}

// callDrop reports whether it is gone.
func (s *Store) callDrop(ctx context.Context, instance string, d dropCall) (gone bool, err error) {
	k := s.keys.Board(instance, "")
	keys := []string{k.Periods, k.Meta}
	if len(d.periods) > 0 {
		keys[1] = s.keys.Board(instance, d.periods[0]).Meta
	}
	args := []any{d.until, "", ""}
	if d.since > 0 {
		args = []any{d.until, d.since, d.of}
	}
	for _, p := range d.periods {
		keys = append(keys, s.keys.Board(instance, p).All()...)
		args = append(args, p)
	}
	if len(d.keys) > 0 {
		args = append(args, lastSettledField)
	}
	r, err := script.Drop.Run(ctx, s.rdb, append(keys, d.keys...), args)
	if err != nil {
		return false, err
	}
	switch r.Text() {
	case "ok":
		gone = true
	case "stale":
		r.Err = errStaleDefinitions
	}
	return gone, r.Err
}

// forgetIDs lets the request ids go of an instance, or an event ("/gift"), of which there
// is nothing else, once no retry is answered by them any more. It says when to look
// again, in µs since 1970; 0: there is nothing at all.
func (s *Store) forgetIDs(ctx context.Context, of string) (next int64, err error) {
	ids := s.keys.Ids(of)
	keys := ids[:]
	if !strings.HasPrefix(of, "/") {
		keys = append(keys, s.keys.Board(of, "").Periods)
	}
	r, err := script.Forget.Run(ctx, s.rdb, keys, nil)
	if err != nil {
		return 0, err
	}
	switch r.Text() {
	case "none":
		return 0, r.Err
	case "kept":
		return r.Number(), r.Err
	}
	return s.catalog.clock.now() + relistAfter.Microseconds(), r.Err
}

// deleteData lets all of an instance go, at once.
func (s *Store) deleteData(ctx context.Context, instance string, until int64) error {
	periods, err := s.periodRecords(ctx, instance)
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
	if err := s.cancelDeliveries(ctx, deliveries...); err != nil {
		return err
	}
	if err := s.forgetHidden(ctx, instance); err != nil {
		return err
	}
	ids := s.keys.Ids(instance)
	s.builds.note(instance, 0)
	return s.dropPeriods(ctx, instance, until, names, append(ids[:], s.keys.Build(instance).All()...)...)
}

// cancelDeliveries has nobody told of closed periods that are going.
func (s *Store) cancelDeliveries(ctx context.Context, periods ...string) error {
	if len(periods) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	members := make([]any, len(periods))
	for i, p := range periods {
		members[i] = p
	}
	if err := s.rdb.ZRem(ctx, s.keys.Deliveries(), members...).Err(); err != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return nil
}
