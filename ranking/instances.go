package ranking

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/script"
)

const (
	// listedFor is how long after the listing of an instance a script may create a
	// board-period of it. listMargin is the difference that the clocks of masters may have.
	// relistAfter is the time until the first housekeeping, which unlists an instance that
	// got no data.
	listedFor   = 10 * time.Second
	listMargin  = time.Second
	relistAfter = time.Minute
)

// registerInstance lists an instance and puts it on the agenda, due no later than closes: when
// the new period closes, µs since 1970; 0: never. It returns until when the board-period
// may be created, by Redis's clock in µs since 1970. It returns 0 when the definition is no
// longer as in d, and ErrConflict when the family has its maximum of instances.
func (s *Store) registerInstance(ctx context.Context, d *definitions, instance string, r *definition.Compiled,
	closes int64, as listing) (until int64, err error) {
	slot := r.Slot()
	keys := []string{s.keys.Instances(slot), s.keys.Agenda(), s.keys.Listing(), s.keys.Definitions(), s.keys.PendingInstances(slot)}
	reply := script.List.Run(ctx, s.rdb, keys,
		[]any{instance, r.InstanceLimit(), d.values[boardField+slot], boardField + slot, leavingField + slot,
			listedFor.Microseconds(), listMargin.Microseconds(), firstHousekeeping(r).Microseconds(), closes, string(as)})
	switch reply.Text() {
	case "stale":
		_, err := s.catalog.readNewer(ctx, d)
		return 0, err
	case "full":
		return 0, conflict("board", "%q would be one instance too many: %s can have at most %d (max_instances)", instance,
			r.Board.Name, r.InstanceLimit())
	}
	return reply.Number(), reply.Err
}

// listing says among which instances one is listed, for list.lua.
type listing string

const (
	listedPublic  listing = "0"
	listedPending listing = "1" // a frozen board keeps back all that the instance holds
)

// firstHousekeeping is the longest time from the listing of an instance to its first
// housekeeping.
func firstHousekeeping(r *definition.Compiled) time.Duration {
	return min(relistAfter, cmp.Or(r.MemberTTL, relistAfter), cmp.Or(r.History, relistAfter))
}

// MaxInstancesPage is the most instances that one call of Instances returns.
const MaxInstancesPage = 1000

// Instances is one page of a family's instances, by name.
type Instances struct {
	Total int64 // of all pages
	Names []string
	Next  string // pass it as after for the next page; "" on the last page
}

// InstancesQuery selects a page of instances.
type InstancesQuery struct {
	// Prefix begins the names of all instances of the list, such as "fans:s1"; "" for all instances of the family. It has up to
	// maxPrefixBytes.
	Prefix string
	After  string // the name after which the page begins, by the bytes of the names; "" for the first page
	Limit  int    // 1 to MaxInstancesPage
	// Pending adds the instances of which the public sees nothing, because a frozen board keeps back all that they hold.
	Pending bool
}

// maxPrefixBytes is above the length of most names of instances. No longer prefix is of use.
const maxPrefixBytes = 256

// Instances is FindInstances of all instances of a family.
func (s *Store) Instances(ctx context.Context, family, after string, limit int) (Instances, error) {
	return s.FindInstances(ctx, family, InstancesQuery{After: after, Limit: limit})
}

// FindInstances lists instances of a family that have been written to. family is the name of the definition, such as
// "fans:{star}". A plain board is its own only instance. A page costs the same whatever the number of instances.
func (s *Store) FindInstances(ctx context.Context, family string, q InstancesQuery) (Instances, error) {
	if q.Limit < 1 || q.Limit > MaxInstancesPage {
		return Instances{}, definition.Invalid("limit", fmt.Sprintf("is %d; want 1 to %d", q.Limit, MaxInstancesPage))
	}
	if reason := definition.UTF8Fault(q.Prefix, maxPrefixBytes); q.Prefix != "" && reason != "" {
		return Instances{}, definition.Invalid("prefix", reason)
	}
	r, err := s.compiledDefinition(ctx, family)
	if err != nil {
		return Instances{}, err
	}
	page, err := s.listedInstances(ctx, r.Slot(), q)
	if err != nil {
		return Instances{}, fmt.Errorf("list instances of %q: %w", family, err)
	}
	return page, nil
}

func (s *Store) listedInstances(ctx context.Context, slot string, q InstancesQuery) (Instances, error) {
	least, end := "-", "+"
	if q.Prefix != "" {
		least, end = prefixRange(q.Prefix)
	}
	from := least
	if q.After != "" && q.After >= q.Prefix {
		from = "(" + q.After
	}
	keys := []string{s.keys.Instances(slot)}
	if q.Pending {
		keys = append(keys, s.keys.PendingInstances(slot))
	}
	r := script.Listed.Run(ctx, s.rdb, keys, []any{from, q.Limit + 1, least, end})
	page := Instances{Total: r.Number(), Names: r.Texts()}
	if r.Err != nil {
		return Instances{}, r.Err
	}
	slices.Sort(page.Names)
	if len(page.Names) > q.Limit {
		page.Names = page.Names[:q.Limit]
		page.Next = page.Names[q.Limit-1]
	}
	return page, nil
}
