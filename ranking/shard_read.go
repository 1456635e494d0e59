package ranking

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/redis/go-redis/v9"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/keyspace"
	"rankcast/ranking/internal/script"
	"rankcast/ranking/sortkey"
)

// MaxShardedRank is the greatest Query.FromRank of a board with shards. No shard knows the ranks of the whole board, so the
// store looks for the member with that rank.
const MaxShardedRank = 10_000

// callShards runs a reading script on each shard of a board-period, all at once.
func (s *Store) callShards(ctx context.Context, sc script.Script, m resolved, args []any) []*script.Reply {
	if m.shards == nil {
		return []*script.Reply{s.callRead(ctx, sc, m.keys, m.compiled.Board, args)}
	}
	calls := make([]script.Call, len(m.shards))
	for i, k := range m.shards {
		calls[i] = script.Call{Script: sc, Keys: readKeys(k, m.compiled.Board), Args: args}
	}
	return script.Pipeline(ctx, s.rdb, calls...)
}

// merge adds the times of another shard; the zero value has none yet. The board is at the time of the shard whose clock is behind: a
// period is over once it is on all shards.
func (t *readTimes) merge(one readTimes) {
	if t.now == 0 {
		*t = one
	}
	t.now = min(t.now, one.now)
}

// setStates sets the state of the board to that of its shards.
func (h *Head) setStates(m resolved, states States) {
	if h.State = states.State(); m.shards != nil {
		h.Shards = states
	}
}

// position is a place in the order of a board: a sort key, and a member.
type position struct {
	key    sortkey.Key
	member string
}

func (p position) compare(other position) int {
	return p.key.Compare(p.member, other.key, other.member)
}

func positionOf(e Entry) position { return position{e.Key, e.Member} }

// afterAll is behind each member of any board.
var afterAll = position{key: definition.MaxScore + 1}

// tierOf is the start of the keys of a score.
func tierOf(k sortkey.Key) sortkey.Key { return sortkey.Key(math.Floor(float64(k))) }

// readShardedPage reads a page of each shard and merges them. Each shard has about its share of the entries, so the store asks for little
// more than that first.
func (s *Store) readShardedPage(ctx context.Context, m resolved, q Query, order definition.Order) (p Page, at readTimes, err error) {
	if q.FromRank > 1 && q.After == nil {
		if q.FromRank > MaxShardedRank {
			return p, at, definition.Invalid("from_rank", fmt.Sprintf(
				"is %d; want at most %d on a board with shards: use the cursor of a page, or a member with around", q.FromRank, MaxShardedRank))
		}
		if q.After, err = s.cursorBefore(ctx, m, q.FromRank); err != nil {
			return p, at, err
		}
	}
	for each := shareOf(q.Limit, len(m.shards)); ; each = q.Limit {
		part := q
		part.Limit = each
		pages := make([]Page, len(m.shards))
		var times readTimes
		for i, r := range s.callShards(ctx, script.Page, m, part.args(order)) {
			one, at, err := takePage(r, m.compiled.Board)
			if err != nil {
				return p, at, err
			}
			times.merge(at)
			pages[i] = one
		}
		p, whole := mergePages(pages, q.Limit)
		p.setStates(m, statesOf(pages))
		if whole || each == q.Limit {
			return p, times, s.rankMerged(ctx, m, p.Ties, p.Start, p.Entries, q.After)
		}
	}
}

// shareOf is how many entries a shard has of a run of so many, with a reserve that is mostly enough.
func shareOf(limit, shards int) int {
	each := float64(limit) / float64(shards)
	return min(limit, int(each+4*math.Sqrt(each))+4)
}

func statesOf(pages []Page) States {
	states := make(States, len(pages))
	for i, p := range pages {
		states[i] = p.State
	}
	return states
}

// mergePages merges pages of the shards of a board into one, without ranks. whole reports that it has as many entries as it should:
// a page may have ended before those that another one has.
func mergePages(pages []Page, limit int) (p Page, whole bool) {
	p.Start, p.Order, p.Ties = 1, pages[0].Order, pages[0].Ties
	end := afterAll
	for _, one := range pages {
		if one.Total > 0 { // its shape is that of data
			p.Order, p.Ties = one.Order, one.Ties
		}
		p.Total += one.Total
		p.Before += one.Before
		p.Count += one.Count
		p.Start += one.Start - 1
		p.Entries = append(p.Entries, one.Entries...)
		if next := one.Next(); next != nil {
			end = slices.MinFunc([]position{end, {next.Key, next.Member}}, position.compare)
		}
	}
	slices.SortFunc(p.Entries, func(a, b Entry) int { return positionOf(a).compare(positionOf(b)) })
	sure := len(p.Entries)
	for sure > 0 && positionOf(p.Entries[sure-1]).compare(end) > 0 {
		sure--
	}
	whole = sure >= limit || end == afterAll
	if p.Entries = p.Entries[:min(sure, limit)]; len(p.Entries) == 0 {
		p.Entries = []Entry{}
	}
	return p, whole
}

// rankMerged sets the ranks of entries of the merged order. start is the 1-based position of the first. after is the cursor that they
// follow, or nil.
func (s *Store) rankMerged(ctx context.Context, m resolved, t definition.Ties, start int64, entries []Entry, after *Cursor) error {
	if len(entries) == 0 {
		return nil
	}
	rank := start
	if t.Tied() && after != nil && tierOf(after.Key) == tierOf(entries[0].Key) { // members before may have the score too
		before, err := s.countBefore(ctx, m, tierOf(entries[0].Key))
		if err != nil {
			return err
		}
		rank = min(before+1, start)
	}
	rankFrom(t, start, rank, entries)
	return nil
}

// rankFrom sets the ranks of entries. start and rank are the 1-based position and the rank of the first one.
func rankFrom(t definition.Ties, start, rank int64, entries []Entry) {
	for i := range entries {
		if i > 0 {
			rank = t.RankAfter(rank, start+int64(i), entries[i-1].Score == entries[i].Score)
		}
		entries[i].Rank = rank
	}
}

// countBefore counts the members of all shards with lower keys.
func (s *Store) countBefore(ctx context.Context, m resolved, key sortkey.Key) (count int64, err error) {
	cmds, err := pipelined(ctx, s.rdb, m.shards, func(pipe redis.Pipeliner, k keyspace.BoardKeys) *redis.IntCmd {
		return pipe.ZCount(ctx, k.Members, "-inf", "("+sortkey.Format(key))
	})
	for _, c := range cmds {
		count += c.Val()
	}
	return count, err
}

// cursorBefore returns the cursor after which a page from a rank begins. Where no member has that rank, the page begins at the next one.
func (s *Store) cursorBefore(ctx context.Context, m resolved, rank int64) (*Cursor, error) {
	if !m.compiled.Ties.Tied() {
		last, err := s.entryAt(ctx, m, rank-2)
		return &Cursor{last.key, last.member}, err
	}
	first, err := s.entryAt(ctx, m, rank-1)
	if err != nil || first == afterAll {
		return &Cursor{Key: first.key}, err
	}
	tier := tierOf(first.key)
	before, err := s.countBefore(ctx, m, tier)
	if before < rank-1 { // the position is in the middle of members that share a better rank
		tier++
	}
	return &Cursor{Key: tier}, err
}

// entryAt finds the member at a 0-based position of the merged order, or afterAll. In each shard it reads about the place where that member
// would be if all shards had their share of the members before it, and widens this span until it decides.
func (s *Store) entryAt(ctx context.Context, m resolved, at int64) (position, error) {
	share := at / int64(len(m.shards))
	for spread := 8 + 4*int64(math.Sqrt(float64(share))); ; spread *= 4 {
		from, to := max(0, share-spread), min(share+spread, at) // in its shard too, no more than at members are before it
		lists, err := pipelined(ctx, s.rdb, m.shards, func(pipe redis.Pipeliner, k keyspace.BoardKeys) *redis.ZSliceCmd {
			return pipe.ZRangeWithScores(ctx, k.Members, from, to)
		})
		if err != nil {
			return position{}, err
		}
		var merged []position
		first, end := position{key: sortkey.Key(math.Inf(-1))}, afterAll // what lies between is known
		missing := false
		for _, list := range lists {
			rows := list.Val()
			for _, z := range rows {
				merged = append(merged, position{sortkey.Key(z.Score), z.Member.(string)})
			}
			switch n := int64(len(rows)); {
			case n == 0:
				missing = missing || from > 0 // how many members are before is not known
				continue
			case n == to-from+1:
				end = slices.MinFunc([]position{end, merged[len(merged)-1]}, position.compare)
			}
			if from > 0 {
				first = slices.MaxFunc([]position{first, merged[len(merged)-len(rows)]}, position.compare)
			}
		}
		slices.SortFunc(merged, position.compare)
		i := at - from*int64(len(m.shards))
		found := afterAll
		if i >= 0 && i < int64(len(merged)) {
			found = merged[i]
		}
		if !missing && i >= 0 && found.compare(first) >= 0 && found.compare(end) <= 0 {
			return found, nil
		}
	}
}
