package ranking

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"rankcast/ranking/calendar"
	"rankcast/ranking/definition"
)

// periodRecord is a board-period as the board's own hash of periods holds it.
type periodRecord struct {
	calendar.Period
	id      string   // of its delivery; "" until the period is settled
	settled int64    // when the period was settled, µs since 1970
	done    bool     // it is delivered, or never will be
	shards  []string // that hold it, as shardNames names them; the record is that of the first
	frozen  bool     // something of it is pending, or a moderator has frozen it
	hidden  bool     // the public has not got it: all of it is pending
	reveals int64    // set by housekeeping: when it reveals what is left of a frozen period, µs since 1970; 0: not frozen
	open    bool     // set by housekeeping: the period has not closed
	fresh   bool     // this node settled it a moment ago
}

// lastSettledField is a further field of that hash. It holds when the latest settled period
// ended, and outlives the record of that period.
const lastSettledField = "/"

// parsePeriodRecord reads 'opens closes [frozen | waiting | id settled [done]]'.
func parsePeriodRecord(name, text string) (n periodRecord, ok bool) {
	f := strings.Fields(text)
	if len(f) == 3 && (f[2] == "frozen" || f[2] == "waiting") {
		n.frozen, n.hidden = true, f[2] == "waiting"
		f = f[:2]
	}
	if len(f) != 2 && len(f) != 4 && (len(f) != 5 || f[4] != "done") {
		return n, false
	}
	opens, err := strconv.ParseInt(f[0], 10, 64)
	closes, err2 := strconv.ParseInt(f[1], 10, 64)
	if err = cmp.Or(err, err2); err != nil {
		return n, false
	}
	n.Period = calendar.Period{Name: name}
	if closes > 0 {
		n.Opens, n.Closes = time.UnixMicro(opens).UTC(), time.UnixMicro(closes).UTC()
	}
	if len(f) > 2 {
		n.id, n.done = f[2], len(f) == 5
		n.settled, err = strconv.ParseInt(f[3], 10, 64)
	}
	return n, err == nil
}

// periodRecords lists the existing periods of an instance, the oldest first. A period is settled once each shard that holds it has closed
// it. r may be nil, see shardNames.
func (s *Store) periodRecords(ctx context.Context, r *definition.Compiled, instance string) ([]periodRecord, error) {
	shards := shardNames(r, instance)
	hashes, err := pipelined(ctx, s.rdb, shards, func(pipe redis.Pipeliner, shard string) *redis.MapStringStringCmd {
		return pipe.HGetAll(ctx, s.keys.Board(shard, "").Periods)
	})
	if err != nil {
		return nil, fmt.Errorf("list periods of board %q: %w", instance, err)
	}
	known := make(map[string]int, len(hashes[0].Val())) // index in list
	list := make([]periodRecord, 0, len(hashes[0].Val()))
	for i, hash := range hashes {
		for name, text := range hash.Val() {
			if name == lastSettledField {
				continue
			}
			n, ok := parsePeriodRecord(name, text)
			if !ok {
				return nil, fmt.Errorf("%w: board %q has stored %q for period %q, which is not a valid record", definition.ErrUnavailable,
					instance, text, name)
			}
			at, there := known[name]
			if !there {
				n.shards = shards[i : i+1 : i+1]
				known[name], list = len(list), append(list, n)
				continue
			}
			if list[at].shards = append(list[at].shards, shards[i]); n.id == "" {
				list[at].id, list[at].done = "", false
			}
		}
	}
	slices.SortFunc(list, func(a, b periodRecord) int { return cmp.Or(a.Opens.Compare(b.Opens), cmp.Compare(a.Name, b.Name)) })
	return list, nil
}

// PeriodInfo describes one period of a board.
type PeriodInfo struct {
	Period string
	Opens  time.Time // zero on a board without periods
	Ends   time.Time // when it closes or closed; zero: never
	Final  bool      // it has closed, and is not frozen
	Total  int64     // number of members
	Frozen *Frozen   // nil: it is not frozen
}

// Periods lists the periods of a board that have data and can be read, the newest first.
// The current period is always in the list. More than 100 periods wait for their turn, as a large page does:
// see Read and WithCaller.
func (s *Store) Periods(ctx context.Context, board string) ([]PeriodInfo, error) {
	m, err := s.resolve(ctx, board, 0)
	if err != nil {
		return nil, err
	}
	list, err := s.periodRecords(ctx, m.compiled, m.Instance)
	if err != nil {
		return nil, err
	}
	now := s.catalog.clock.now()
	current := m.compiled.CurrentPeriod(now)
	list = slices.DeleteFunc(list, func(n periodRecord) bool { return n.hidden && n.Name != current.Name })
	if !slices.ContainsFunc(list, func(n periodRecord) bool { return n.Name == current.Name }) {
		list = append(list, periodRecord{Period: current})
	}
	oldest := m.compiled.OldestReadable(now)
	list = slices.DeleteFunc(list, func(n periodRecord) bool { return n.Opens.Before(oldest.Opens) })
	slices.Reverse(list)
	keys := make([]string, 0, len(list))
	for _, n := range list {
		for _, shard := range n.shards {
			keys = append(keys, s.keys.Board(shard, n.Name).Members)
		}
	}
	var sizes []int64
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	err = s.inTurnIf(ctx, max(len(keys), len(list)) > PacedEntries, func() (err error) {
		sizes, err = s.sizes(ctx, keys)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list periods of board %q: %w", board, err)
	}
	infos := make([]PeriodInfo, len(list))
	for i, n := range list {
		infos[i] = PeriodInfo{Period: n.Name, Opens: n.Opens, Ends: m.compiled.PeriodEnd(n.Period)}
		if n.id == "" && m.compiled.MayBeFrozen() {
			of := m
			of.period = n.Period
			f, err := s.freezeOf(ctx, s.keys.Board(m.Instance, n.Name).Meta)
			if err != nil {
				return nil, fmt.Errorf("list periods of board %q: %w", board, err)
			}
			infos[i].Frozen = f.of(of, now)
		}
		infos[i].Final = m.compiled.PeriodEnded(n.Period, now) && infos[i].Frozen == nil
		for range n.shards {
			infos[i].Total += sizes[0]
			sizes = sizes[1:]
		}
	}
	return infos, nil
}

// sizes reads the number of members of sorted sets, in their order.
func (s *Store) sizes(ctx context.Context, keys []string) ([]int64, error) {
	cmds, err := pipelined(ctx, s.rdb, keys, func(pipe redis.Pipeliner, key string) *redis.IntCmd { return pipe.ZCard(ctx, key) })
	if err != nil {
		return nil, err
	}
	sizes := make([]int64, len(keys))
	for i, c := range cmds {
		sizes[i] = c.Val()
	}
	return sizes, nil
}
