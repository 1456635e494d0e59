package ranking

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// repairKinds is the number of kinds that one pipeline of a repair looks at. repairPage is the number of pending changes
	// of each kind that a repair reads.
	repairKinds = 64
	repairPage  = 256
)

// repair indexes the members of all kinds whose changes have not ended for a minute, see search_index.go.
func (w *nameWork) repair(ctx context.Context, c claim) error {
	s := w.s
	d, _, err := s.leasedDefinitions(ctx)
	if err != nil {
		return err
	}
	more := false
	for kinds := range slices.Chunk(d.indexedKinds(), repairKinds) {
		began := time.Now()
		pages, err := s.pendingNames(ctx, kinds)
		if err != nil {
			return err
		}
		for _, kind := range kinds {
			repaired, err := s.repairNames(ctx, kind, pages[kind])
			if err != nil {
				return fmt.Errorf("repair the index of names of kind %q: %w", kind, err)
			}
			more = more || repaired > 0 && len(pages[kind]) >= repairPage
		}
		if err := restAfter(ctx, began); err != nil {
			return err
		}
	}
	next := s.catalog.clock.now()
	if !more {
		next += nameRepairInterval.Microseconds()
	}
	_, err = s.extendNameClaim(ctx, &c, next)
	return err
}

// pendingNames reads about repairPage pending changes of each kind: member to token.
func (s *Store) pendingNames(ctx context.Context, kinds []string) (map[string]map[string]string, error) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	pipe := s.rdb.Pipeline()
	cmds := make(map[string]*redis.ScanCmd)
	for _, kind := range kinds {
		cmds[kind] = pipe.HScan(ctx, s.keys.Names(kind).Pending, 0, "", repairPage)
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, fmt.Errorf("%w: read the pending changes of profiles: %w", ErrUnavailable, err)
	}
	pages := make(map[string]map[string]string)
	for kind, cmd := range cmds {
		list, _ := cmd.Val()
		pages[kind] = make(map[string]string, len(list)/2)
		for i := 0; i+1 < len(list); i += 2 {
			pages[kind][list[i]] = list[i+1]
		}
	}
	return pages, nil
}

// repairNames indexes the members of a kind whose tokens are old enough, and returns their number.
func (s *Store) repairNames(ctx context.Context, kind string, pending map[string]string) (repaired int, err error) {
	var old []indexing
	now := s.catalog.clock.now()
	for member, token := range pending {
		if nameTokenAge(token, now) >= nameRepairAge {
			old = append(old, indexing{member: member, token: token})
		}
	}
	slices.SortFunc(old, func(a, b indexing) int { return cmp.Compare(a.member, b.member) })
	for list := range slices.Chunk(old, indexAtOnce) {
		began := time.Now()
		if _, err := s.indexNames(ctx, kind, list); err != nil {
			return repaired, err
		}
		repaired += len(list)
		if err := restAfter(ctx, began); err != nil {
			return repaired, err
		}
	}
	return repaired, nil
}

// indexNames reads the profiles of up to indexAtOnce members and indexes them. It reports whether that changed the index.
// A member that another change has given another token is left to that change.
func (s *Store) indexNames(ctx context.Context, kind string, list []indexing) (changed bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	members := make([]string, len(list))
	for i, n := range list {
		members[i] = n.member
	}
	records, err := s.profileRecords(ctx, kind, members)
	if err != nil {
		return false, err
	}
	for i := range list {
		list[i].record = records[i]
	}
	outcomes, err := s.endIndexing(ctx, kind, list)
	return slices.Contains(outcomes, indexChanged), err
}
