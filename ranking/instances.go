package ranking

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/script"
)

const (
	// listedFor is for how long after an instance was listed a board-period of it may
	// be created; listMargin is what clocks of masters may differ by; relistAfter is when
	// the instance is looked after then, so that a listing goes of which nothing came.
	listedFor   = 10 * time.Second
	listMargin  = time.Second
	relistAfter = time.Minute
)

// listInstance has an instance listed and looked after, by the time that the period closes
// which is to be created (µs since 1970; 0: never). It says until when that may be, by
// Redis's clock; 0 where it is not defined as in d any more. It returns ErrConflict
// where there are as many instances as may be.
func (s *Store) listInstance(ctx context.Context, d *definitions, n definition.Name, r *definition.Compiled, closes int64) (until int64, err error) {
	slot := n.Slot()
	reply, err := script.List.Run(ctx, s.rdb, []string{s.keys.Instances(slot), s.keys.Agenda(), s.keys.Listing(), s.keys.Definitions()},
		[]any{n.Instance(), r.InstanceLimit(), d.values[boardField+slot], boardField + slot, leavingField + slot,
			listedFor.Microseconds(), listMargin.Microseconds(), firstHousekeeping(r).Microseconds(), closes})
	if err != nil {
		return 0, err
	}
	switch reply.Text() {
	case "stale":
		_, err := s.catalog.readNewer(ctx, d)
		return 0, err
	case "full":
		return 0, conflict("board", "%q is one too many: %s may have %d instances (max_instances)", n.Instance(), r.Board.Name, r.InstanceLimit())
	}
	return reply.Number(), reply.Err
}

// firstHousekeeping is when a board-period is looked after for the first time, at the latest.
func firstHousekeeping(r *definition.Compiled) time.Duration {
	if r.MemberTTL > 0 {
		return min(relistAfter, r.MemberTTL)
	}
	return relistAfter
}

// MaxInstancesPage is the most instances that one call of Instances returns.
const MaxInstancesPage = 1000

// Instances are some of a family's, by name.
type Instances struct {
	Total int64
	Names []string
	Next  string // what to go on after; "" on the last page
}

// Instances lists up to limit (1 to MaxInstancesPage) instances of a family that
// have been written to, those after a name, by the bytes of their names. The family
// is named as it was defined: "fans:{star}". A plain board is its own only instance.
func (s *Store) Instances(ctx context.Context, family, after string, limit int) (Instances, error) {
	if limit < 1 || limit > MaxInstancesPage {
		return Instances{}, Invalid("limit", fmt.Sprintf("is %d; want 1 to %d", limit, MaxInstancesPage))
	}
	r, err := s.compiledDefinition(ctx, family)
	if err != nil {
		return Instances{}, err
	}
	page, err := s.listedInstances(ctx, r.Slot(), after, limit)
	if err != nil {
		return Instances{}, fmt.Errorf("list instances of %q: %w", family, err)
	}
	return page, nil
}

func (s *Store) listedInstances(ctx context.Context, slot, after string, limit int) (Instances, error) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	from := "-"
	if after != "" {
		from = "(" + after
	}
	pipe := s.rdb.Pipeline()
	total := pipe.ZCard(ctx, s.keys.Instances(slot))
	names := pipe.ZRangeArgs(ctx, redis.ZRangeArgs{Key: s.keys.Instances(slot), Start: from, Stop: "+", ByLex: true, Count: int64(limit) + 1})
	if _, err := pipe.Exec(ctx); err != nil {
		return Instances{}, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	page := Instances{Total: total.Val(), Names: names.Val()}
	if len(page.Names) > limit {
		page.Names = page.Names[:limit]
		page.Next = page.Names[limit-1]
	}
	return page, nil
}
