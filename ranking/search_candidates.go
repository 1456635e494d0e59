package ranking

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/redis/go-redis/v9"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/keyspace"
	"rankcast/ranking/search"
	"rankcast/ranking/sortkey"
)

// candidate is a member that may match, and how it does.
type candidate struct {
	member string
	isID   bool // the query is its id
	whole  bool // the query is its whole name
	key    sortkey.Key
}

// membersOf lists the members of candidates.
func membersOf(list []candidate) []string {
	members := make([]string, len(list))
	for i, c := range list {
		members[i] = c.member
	}
	return members
}

// compareCandidates is the order of a search.
func compareCandidates(a, b candidate) int {
	first := func(a, b bool) int {
		switch {
		case a == b:
			return 0
		case a:
			return -1
		}
		return 1
	}
	return cmp.Or(first(a.isID, b.isID), first(a.whole, b.whole), a.key.Compare(a.member, b.key, b.member))
}

// searchAll looks at all members of a small board. It returns those that match, and their profiles.
func (s *Store) searchAll(ctx context.Context, m resolved, q searchQuery) (list []candidate, profiles map[string]Profile, err error) {
	if m.shards == nil {
		// The board may have grown meanwhile. Places in the order of the board stand for sort keys, whose texts take Redis
		// four times as long as the members.
		members, err := s.rdb.ZRange(ctx, m.keys.Members, 0, s.searches.small-1).Result()
		if err != nil {
			return nil, nil, fmt.Errorf("%w: read the members: %w", definition.ErrUnavailable, err)
		}
		for i, member := range members {
			list = append(list, candidate{member: member, isID: q.isID(member), key: sortkey.Key(i)})
		}
		return s.matching(ctx, m.compiled.Kind, q, list)
	}
	shards, err := pipelined(ctx, s.rdb, m.shards, func(pipe redis.Pipeliner, k keyspace.BoardKeys) *redis.ZSliceCmd {
		return pipe.ZRangeWithScores(ctx, k.Members, 0, s.searches.small-1)
	})
	if err != nil {
		return nil, nil, fmt.Errorf("read the members: %w", err)
	}
	for _, rows := range shards {
		for _, z := range rows.Val() {
			member := z.Member.(string)
			list = append(list, candidate{member: member, isID: q.isID(member), key: sortkey.Key(z.Score)})
		}
	}
	return s.matching(ctx, m.compiled.Kind, q, list)
}

// searchIndex looks at the members of a large board that the index has found. complete reports that these are all.
func (s *Store) searchIndex(ctx context.Context, m resolved, q searchQuery) (list []candidate, complete bool, err error) {
	if list, complete, err = s.searchKind(ctx, m.compiled.Kind, q); err == nil {
		list, err = s.onBoard(ctx, m, list)
	}
	return list, complete, err
}

// searchKind lists the members of a kind that the index has found, and the one whose id the query is. complete reports that
// these are all.
func (s *Store) searchKind(ctx context.Context, kind string, q searchQuery) (list []candidate, complete bool, err error) {
	var named, byID []string
	if complete = true; !q.IsEmpty() {
		if named, byID, complete, err = s.nameEntries(ctx, kind, q); err != nil {
			return nil, false, err
		}
	}
	known := make(map[string]int, 2+len(named)+len(byID)) // index in list
	add := func(member string, whole bool) {
		i, there := known[member]
		if !there {
			i = len(list)
			known[member] = i
			list = append(list, candidate{member: member, isID: q.isID(member)})
		}
		list[i].whole = list[i].whole || whole
	}
	for _, element := range named {
		e, member := parseNameElement(element)
		add(member, e.Whole && e.Text == q.Phrase())
	}
	if len(q.Prefixes()) > 1 { // the other words
		if list, _, err = s.matching(ctx, kind, q, list); err != nil {
			return nil, false, err
		}
		clear(known)
		for i, c := range list {
			known[c.member] = i
		}
	}
	for _, element := range byID {
		_, member := parseNameElement(element)
		add(member, false)
	}
	add(q.id, false)
	add(q.text, false)
	return list, complete, nil
}

// nameEntries reads elements of an index: those of names with the rarest word of a query, and those of ids. It reads as many
// as the bounds of a search allow, and reports whether these are all.
func (s *Store) nameEntries(ctx context.Context, kind string, q searchQuery) (named, byID []string, complete bool, err error) {
	words := q.Prefixes()
	ranges := []nameRange{{words[0], s.searches.names}, {q.IDPrefix(), s.searches.ids}}
	if len(words) > 1 {
		counts, err := s.countNames(ctx, kind, words)
		if err != nil {
			return nil, nil, false, err
		}
		rarest := slices.Index(counts, slices.Min(counts))
		ranges[0].prefix = words[rarest]
		if counts[rarest] > keyspace.ProfileParts*s.searches.names { // half of them with the words in this order
			ranges = append(ranges, nameRange{q.Phrase(), s.searches.names / 2})
			ranges[0].most -= s.searches.names / 2
		}
	}
	found, complete, err := s.readNames(ctx, kind, ranges)
	if err != nil {
		return nil, nil, false, err
	}
	for _, more := range found[2:] {
		found[0] = append(found[0], more...)
	}
	return found[0], found[1], complete, nil
}

// countedParts is the number of parts in which a search counts. Members are spread evenly over the parts, and a count is
// dear: four walks through the set.
const countedParts = 4

// countNames estimates the number of elements of the index that begin with each prefix.
func (s *Store) countNames(ctx context.Context, kind string, prefixes []string) ([]int, error) {
	pipe := s.rdb.Pipeline()
	var cmds []*redis.IntCmd
	for _, prefix := range prefixes {
		least, end := prefixRange(prefix)
		for part := range countedParts {
			cmds = append(cmds, pipe.ZLexCount(ctx, s.keys.ProfilePart(kind, part).Names, least, end))
		}
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, fmt.Errorf("%w: count elements of an index of names: %w", definition.ErrUnavailable, err)
	}
	counts := make([]int, len(prefixes))
	for i, cmd := range cmds {
		counts[i/countedParts] += int(cmd.Val()) * keyspace.ProfileParts / countedParts
	}
	return counts, nil
}

// nameRange asks for the first elements of each part of the index that begin with a prefix.
type nameRange struct {
	prefix string
	most   int // of each part
}

// readNames reads ranges of the index, and reports whether these are all elements of them.
func (s *Store) readNames(ctx context.Context, kind string, ranges []nameRange) (found [][]string, complete bool, err error) {
	pipe := s.rdb.Pipeline()
	var cmds []*redis.StringSliceCmd
	for _, r := range ranges {
		least, end := prefixRange(r.prefix)
		for part := range keyspace.ProfileParts {
			args := redis.ZRangeArgs{Key: s.keys.ProfilePart(kind, part).Names, Start: least, Stop: end, ByLex: true, Count: int64(r.most) + 1}
			cmds = append(cmds, pipe.ZRangeArgs(ctx, args))
		}
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, false, fmt.Errorf("%w: read an index of names: %w", definition.ErrUnavailable, err)
	}
	found, complete = make([][]string, len(ranges)), true
	for i, cmd := range cmds {
		of := i / keyspace.ProfileParts
		elements := cmd.Val()
		if most := ranges[of].most; len(elements) > most {
			elements, complete = elements[:most], false
		}
		found[of] = append(found[of], elements...)
	}
	return found, complete, nil
}

// prefixRange returns the bounds of the texts that begin with a prefix, as ZRANGE understands them. No text holds the
// byte 255.
func prefixRange(prefix string) (least, end string) { return "[" + prefix, "(" + prefix + "\xff" }

// matching returns the candidates that match by their present profiles, and these profiles. Between its commands Redis
// serves other callers. Of more than findAtOnce candidates it loses the order.
func (s *Store) matching(ctx context.Context, kind string, q searchQuery, list []candidate) (
	matching []candidate, profiles map[string]Profile, err error) {
	profiles = make(map[string]Profile)
	if len(list) > findAtOnce { // fewer commands: each chunk is of few parts
		slices.SortFunc(list, func(a, b candidate) int {
			return cmp.Compare(keyspace.ProfilePart(a.member), keyspace.ProfilePart(b.member))
		})
	}
	for some := range slices.Chunk(list, findAtOnce) {
		_, found, _, err := s.fetchProfiles(ctx, kind, membersOf(some))
		if err != nil {
			return nil, nil, fmt.Errorf("%w: read profiles: %w", definition.ErrUnavailable, err)
		}
		for _, c := range some {
			p := found[c.member]
			name := search.NewName(p.Name)
			if !c.isID && !q.MatchesID(c.member) && !q.MatchesName(name) {
				continue
			}
			c.whole = q.IsWhole(name)
			matching = append(matching, c)
			profiles[c.member] = p
		}
	}
	return matching, profiles, nil
}

// onBoard leaves the candidates that stand on the board, with their sort keys.
func (s *Store) onBoard(ctx context.Context, m resolved, list []candidate) ([]candidate, error) {
	shards := m.eachShard()
	shardOf := func(c candidate) int { return ShardOf(c.member, len(shards)) }
	if len(shards) > 1 {
		slices.SortFunc(list, func(a, b candidate) int { return cmp.Compare(shardOf(a), shardOf(b)) })
	}
	var chunks [][]candidate
	there := list[:0]
	for len(list) > 0 { // each chunk is of one shard
		n, shard := 1, shardOf(list[0])
		for n < len(list) && shardOf(list[n]) == shard {
			n++
		}
		chunks = slices.AppendSeq(chunks, slices.Chunk(list[:n], findAtOnce))
		list = list[n:]
	}
	cmds, err := pipelined(ctx, s.rdb, chunks, func(pipe redis.Pipeliner, some []candidate) *redis.SliceCmd {
		cmd := redis.NewSliceCmd(ctx, appendTexts([]any{"zmscore", shards[shardOf(some[0])].Members}, membersOf(some))...)
		_ = pipe.Process(ctx, cmd) // a pipeline only queues it
		return cmd
	})
	if err != nil {
		return nil, fmt.Errorf("look candidates up: %w", err)
	}
	for i, cmd := range cmds {
		for j, v := range cmd.Val() {
			c := chunks[i][j]
			switch score := v.(type) {
			case float64: // by RESP 3
				c.key = sortkey.Key(score)
			case string:
				key, err := strconv.ParseFloat(score, 64)
				if err != nil {
					return nil, fmt.Errorf("%w: a sort key is no number", definition.ErrUnavailable)
				}
				c.key = sortkey.Key(key)
			default:
				continue
			}
			there = append(there, c)
		}
	}
	return there, nil
}

// firstMatching returns the first candidates that match by their present profiles, at least limit if there are so many, and
// these profiles. So no element that the index has too much shows a wrong member, and none shows a name that has gone.
func (s *Store) firstMatching(ctx context.Context, kind string, q searchQuery, list []candidate, limit int) (
	matching []candidate, profiles map[string]Profile, err error) {
	profiles = make(map[string]Profile)
	// Nearly always the first candidates match.
	for page := limit; len(list) > 0 && len(matching) < limit; page = findAtOnce {
		some := list[:min(len(list), page)]
		list = list[len(some):]
		found, of, err := s.matching(ctx, kind, q, some)
		if err != nil {
			return nil, nil, err
		}
		matching = append(matching, found...)
		maps.Copy(profiles, of)
	}
	return matching, profiles, nil
}
