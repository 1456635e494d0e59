package ranking

import (
	"cmp"
	"context"
	"slices"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/script"
	"rankcast/ranking/sortkey"
)

// shardedPlace is the place of one member on a board with shards, as its own shard knows it, and then the others.
type shardedPlace struct {
	Lookup
	shard         int         // of the member
	key           sortkey.Key // of a member that is on the board
	there         bool
	before        int64 // members before it, in all shards so far
	better, worse int64
	above         []aboveInShard // of each shard so far
	below         []Entry        // neighbours of all shards so far; the first is the member itself
}

// aboveInShard is what a shard knows of the neighbours above a place.
type aboveInShard struct {
	entries []Entry
	before  int64 // members before the place
	ahead   int64 // members with a better score than the first of the entries, if equal scores share a rank
}

// readShardedPlaces looks up members on a board with shards: first each in its own shard, then their sort keys in all other shards. So a
// rank is the place in the member's own shard, and a count in each other one.
func (s *Store) readShardedPlaces(ctx context.Context, m resolved, lookups []Lookup) (Places, readTimes, error) {
	places := make([]*shardedPlace, len(lookups))
	for i, l := range lookups {
		places[i] = &shardedPlace{Lookup: l, shard: ShardOf(l.Member, len(m.shards))}
	}
	b := besides{s: s, m: m, answers: make([]besideAnswer, 2*len(m.shards))}
	own, others := b.answers[:len(m.shards)], b.answers[len(m.shards):]
	if err := b.read(ctx, own, func(shard int) (list []*shardedPlace, asks bool) {
		for _, p := range places {
			if p.shard == shard {
				list = append(list, p)
			}
		}
		return list, len(list) > 0
	}); err != nil {
		return Places{}, readTimes{}, err
	}
	if err := b.read(ctx, others, func(shard int) (list []*shardedPlace, asks bool) {
		for _, p := range places {
			if asks = asks || p.shard != shard; p.there && p.shard != shard {
				list = append(list, p)
			}
		}
		return list, asks
	}); err != nil {
		return Places{}, readTimes{}, err
	}
	answer := Places{Ties: b.ties, List: make([]Place, len(places)), ByShard: make([]Head, len(m.shards))}
	for shard := range m.shards { // as of its own answer, and those of the others to the second question
		h, states := &answer.ByShard[shard], make(States, len(m.shards))
		for other := range m.shards {
			from := others[other]
			if own[other].asked && (other == shard || !from.asked) {
				from = own[other]
			}
			states[other] = from.state
			h.Total += from.total
		}
		h.setStates(m, states)
	}
	for i, p := range places {
		answer.List[i] = b.place(p)
	}
	answer.Head = answer.ByShard[places[0].shard]
	return answer, b.times, nil
}

// besideAnswer is what a shard tells beside its answers about places.
type besideAnswer struct {
	asked bool
	state State
	total int64
}

// besides calls beside.lua on the shards of a board-period.
type besides struct {
	s       *Store
	m       resolved
	order   definition.Order
	ties    definition.Ties
	times   readTimes
	answers []besideAnswer
}

// read asks shards about places, and adds the answers to these. of returns the places to ask a shard about, and whether to ask it at all.
func (b *besides) read(ctx context.Context, answers []besideAnswer, of func(shard int) (places []*shardedPlace, asks bool)) error {
	var calls []script.Call
	var asked []int
	lists := make([][]*shardedPlace, len(b.m.shards))
	for shard, k := range b.m.shards {
		list, asks := of(shard)
		if !asks {
			continue
		}
		args := make([]any, 0, 4*len(list))
		for _, p := range list {
			key := ""
			if p.there {
				key = sortkey.Format(p.key)
			}
			above, below := p.neighbours()
			args = append(args, key, p.Member, above, below)
		}
		calls = append(calls, script.Call{Script: script.Beside, Keys: readKeys(k, b.m.compiled.Board), Args: args})
		asked, lists[shard] = append(asked, shard), list
	}
	for i, r := range script.Pipeline(ctx, b.s.rdb, calls...) {
		shard := asked[i]
		b.times.merge(takeReadTimes(r))
		answers[shard].asked, answers[shard].state = true, takeState(r)
		order, ties := takeShape(r, b.m.compiled.Board)
		if answers[shard].total = r.Number(); answers[shard].total > 0 || b.order == "" { // the shape is that of data
			b.order, b.ties = order, ties
		}
		width := r.Number()
		for _, p := range lists[shard] {
			if err := b.take(r, p, width); err != nil {
				return err
			}
		}
		if r.Err != nil {
			return r.Err
		}
	}
	return nil
}

// take adds the answer of a shard about a place.
func (b *besides) take(r *script.Reply, p *shardedPlace, width int64) error {
	if r.TookNone() { // its own shard has not got it
		return r.Err
	}
	isOwn := !p.there
	p.key, p.there = r.Key(), true
	from := aboveInShard{before: r.Number()}
	p.before += from.before
	p.better += r.Number()
	p.worse += r.Number()
	from.ahead = r.Number()
	above, count := r.Number(), r.Number()
	entries, err := takeEntries(r.Take(2*count), r.Take((width-2)*count), 0, 0, b.order, definition.First)
	if err != nil || r.Err != nil {
		return cmp.Or(err, r.Err)
	}
	if above > int64(len(entries)) || isOwn && above == int64(len(entries)) {
		r.Fail("leaves out the member asked for")
		return r.Err
	}
	from.entries = entries[:above]
	p.above, p.below = append(p.above, from), append(p.below, entries[above:]...)
	return nil
}

// betterThan is the number of members with a better score than a tier, which is that of the first neighbour above in all shards. Each shard
// has told all its neighbours above, or so many that the first of them does not stand behind that one.
func (p *shardedPlace) betterThan(tier sortkey.Key) (n int64) {
	for _, from := range p.above {
		i := 0
		for i < len(from.entries) && tierOf(from.entries[i].Key) < tier {
			i++
		}
		if i == 0 && len(from.entries) > 0 {
			n += from.ahead
		} else {
			n += from.before - int64(len(from.entries)-i)
		}
	}
	return n
}

// place is a place with what all shards know of it.
func (b *besides) place(p *shardedPlace) Place {
	if !p.there {
		return Place{Entry: Entry{Member: p.Member}}
	}
	byPosition := func(a, b Entry) int { return positionOf(a).compare(positionOf(b)) }
	var before []Entry
	for _, from := range p.above {
		before = append(before, from.entries...)
	}
	slices.SortFunc(before, byPosition)
	slices.SortFunc(p.below, byPosition)
	above, below := p.neighbours()
	before = before[max(0, len(before)-above):]
	own := len(before)
	place := Place{Position: p.before + 1, Below: p.worse, Around: slices.Concat(before, p.below[:min(len(p.below), below+1)])}
	place.Entry = place.Around[own]
	place.Entry.Rank = place.Position
	start := place.Position - int64(own)
	rank := start // of the first
	if b.ties.Tied() {
		place.Entry.Rank = p.better + 1
		rank = place.Entry.Rank
		if tier := tierOf(place.Around[0].Key); tier != tierOf(place.Entry.Key) {
			rank = p.betterThan(tier) + 1
		}
	}
	rankFrom(b.ties, start, rank, place.Around)
	place.Around[own].Rank = place.Entry.Rank
	return place
}

// CountRanks completes results of updates of a board with shards, whose ranks are not known: with the rank that each member has now.
// A rank stays 0 for a member that is not on the board any more, or hidden, in another period than the present one, and where the members
// cannot be read. members are those of the results. On a board without shards CountRanks does nothing. It returns false after a failure,
// for which it may have waited Config.CallTimeout.
func (s *Store) CountRanks(ctx context.Context, board string, members []string, results []*Result) (counted bool) {
	rule, err := s.compiledNamed(ctx, board)
	if err != nil || rule.Shards == 0 {
		return err == nil
	}
	var lookups []Lookup
	var whose []*Result // of lookups
	for i, r := range results {
		if r.Current != nil { // a refused update may have named no valid member
			lookups, whose = append(lookups, Lookup{Member: members[i]}), append(whose, r)
		}
	}
	for part := range slices.Chunk(lookups, MaxLookups) {
		places, err := s.Places(ctx, board, part)
		if err != nil {
			return false
		}
		for i, r := range whose[:len(part)] {
			if r.Period == places.Period {
				r.Current.Rank = places.List[i].Entry.Rank
			}
		}
		whose = whose[len(part):]
	}
	return true
}
