package ranking

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"rankcast/ranking/internal/pipeline"
	"rankcast/ranking/internal/script"
)

// walkPage is the number of keys, or of fields, that one command of a nameWalk goes through. Such a command holds Redis
// for about 0.2 ms.
const walkPage = 512

// nameWalk compares the indexes of names with the profiles, and changes what differs. First it goes through all keys of
// each master for the profiles, then through the names of each index. It pauses after each page for as long as
// restAfter says. One goroutine uses it.
type nameWalk struct {
	s       *Store
	masters []nameMaster // those that it has not gone through
	kinds   []string     // likewise
	cursor  uint64       // in the first master, or without masters in the first kind
	before  []slotRange  // the slots of the cluster when the walk began
	changed bool         // the walk has changed an index
}

// nameMaster is a Redis whose keys a walk goes through.
type nameMaster struct {
	address string // "" without a cluster
	rdb     redis.Cmdable
}

// slotRange is a range of slots of a cluster, and the id of its master.
type slotRange struct {
	start, end int
	master     string
}

// newNameWalk begins a walk.
func (s *Store) newNameWalk(ctx context.Context) (*nameWalk, error) {
	d, err := s.catalog.readFresh(ctx)
	if err != nil {
		return nil, err
	}
	w := &nameWalk{s: s, kinds: d.indexedKinds()}
	if w.before, err = s.slotRanges(ctx); err != nil {
		return nil, err
	}
	if w.masters, err = s.nameMasters(ctx); err != nil {
		return nil, err
	}
	return w, nil
}

// nameMasters finds the masters, by address.
func (s *Store) nameMasters(ctx context.Context) (masters []nameMaster, err error) {
	cluster := pipeline.ClusterOf(s.rdb)
	if cluster == nil {
		return []nameMaster{{rdb: s.rdb}}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	var mu sync.Mutex
	err = cluster.ForEachMaster(ctx, func(_ context.Context, node *redis.Client) error {
		mu.Lock()
		defer mu.Unlock()
		masters = append(masters, nameMaster{node.Options().Addr, node})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("%w: find the masters: %w", ErrUnavailable, err)
	}
	slices.SortFunc(masters, func(a, b nameMaster) int { return cmp.Compare(a.address, b.address) })
	return masters, nil
}

// slotRanges finds the slots of the masters, in order; none without a cluster.
func (s *Store) slotRanges(ctx context.Context) (ranges []slotRange, err error) {
	cluster := pipeline.ClusterOf(s.rdb)
	if cluster == nil {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	//lint:ignore SA1019 the client itself sends CLUSTER SLOTS, so the user has that right; it may lack CLUSTER SHARDS
	slots, err := cluster.ClusterSlots(ctx).Result()
	if err != nil {
		return nil, fmt.Errorf("%w: find the slots: %w", ErrUnavailable, err)
	}
	for _, r := range slots {
		found := slotRange{start: r.Start, end: r.End}
		if len(r.Nodes) > 0 {
			found.master = r.Nodes[0].ID
		}
		ranges = append(ranges, found)
	}
	slices.SortFunc(ranges, func(a, b slotRange) int { return cmp.Compare(a.start, b.start) })
	return ranges, nil
}

// step goes on until a time, and reports whether the walk has ended.
func (w *nameWalk) step(ctx context.Context, stop time.Time) (ended bool, err error) {
	for len(w.masters) > 0 || len(w.kinds) > 0 {
		if time.Now().After(stop) {
			return false, nil
		}
		began := time.Now()
		if len(w.masters) > 0 {
			err = w.scanProfiles(ctx)
		} else {
			err = w.scanNames(ctx)
		}
		if err != nil {
			return false, err
		}
		if err := restAfter(ctx, began); err != nil {
			return false, err
		}
	}
	return true, nil
}

// scanProfiles goes through one page of the keys of a master.
func (w *nameWalk) scanProfiles(ctx context.Context) error {
	s := w.s
	call, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	master := w.masters[0]
	keys, cursor, err := master.rdb.Scan(call, w.cursor, s.keys.ProfilePattern(), walkPage).Result()
	if err != nil {
		return fmt.Errorf("%w: list profiles: %w", ErrUnavailable, err)
	}
	members := make(map[string][]string) // by kind
	for _, key := range keys {
		if kind, member, ok := s.keys.ProfileOf(key); ok {
			members[kind] = append(members[kind], member)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(members)) {
		if err := w.compare(ctx, kind, members[kind]); err != nil {
			return err
		}
	}
	if w.cursor = cursor; cursor != 0 {
		return nil
	}
	if w.masters = w.masters[1:]; len(w.masters) > 0 || master.address == "" {
		return nil
	}
	// A slot that moves to a master that the walk has gone through takes its profiles along.
	after, err := s.slotRanges(ctx)
	if err == nil && !slices.Equal(w.before, after) {
		err = fmt.Errorf("%w: slots of the cluster have moved to other masters", ErrUnavailable)
	}
	return err
}

// scanNames goes through one page of the names of an index, for members whose profiles have gone.
func (w *nameWalk) scanNames(ctx context.Context) error {
	s, kind := w.s, w.kinds[0]
	call, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	fields, cursor, err := s.rdb.HScan(call, s.keys.Names(kind).Names, w.cursor, "", walkPage).Result()
	if err != nil {
		return fmt.Errorf("%w: list the names of an index: %w", ErrUnavailable, err)
	}
	members := make([]string, 0, len(fields)/2)
	for i := 0; i < len(fields); i += 2 {
		members = append(members, fields[i])
	}
	if err := w.compare(ctx, kind, members); err != nil {
		return err
	}
	if w.cursor = cursor; cursor == 0 {
		w.kinds = w.kinds[1:]
	}
	return nil
}

// compare compares the records of members with their profiles, and indexes those that differ.
func (w *nameWalk) compare(ctx context.Context, kind string, members []string) error {
	for some := range slices.Chunk(members, findAtOnce) {
		began := time.Now()
		differ, err := w.differing(ctx, kind, some)
		if err != nil {
			return err
		}
		for few := range slices.Chunk(differ, indexAtOnce) {
			if err := w.index(ctx, kind, few); err != nil {
				return err
			}
			if err := restAfter(ctx, began); err != nil {
				return err
			}
			began = time.Now()
		}
		if err := restAfter(ctx, began); err != nil {
			return err
		}
	}
	return nil
}

// differing returns the members whose records are not those of their profiles.
func (w *nameWalk) differing(ctx context.Context, kind string, members []string) (differ []string, err error) {
	s := w.s
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	wanted, err := s.profileRecords(ctx, kind, members)
	if err != nil {
		return nil, err
	}
	held, err := s.nameRecords(ctx, kind, members)
	if err != nil {
		return nil, err
	}
	for i, member := range members {
		if held[i] != wanted[i] {
			differ = append(differ, member)
		}
	}
	return differ, nil
}

// index indexes members. Those whose profiles change at this time are left to the change.
func (w *nameWalk) index(ctx context.Context, kind string, members []string) error {
	s := w.s
	args := make([]any, 0, 3*len(members))
	for _, member := range members {
		args = append(args, member, s.newNameToken(), "idle")
	}
	r, err := s.callScript(ctx, script.BeginIndexing, []string{s.keys.Names(kind).Pending}, args)
	if err != nil {
		return err
	}
	var list []indexing
	for _, member := range members {
		if token := r.Text(); token != "" {
			list = append(list, indexing{member: member, token: token})
		}
	}
	if r.Err != nil || len(list) == 0 {
		return r.Err
	}
	changed, err := s.indexNames(ctx, kind, list)
	w.changed = w.changed || changed
	return err
}
