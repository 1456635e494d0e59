package ranking

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/redis/go-redis/v9"

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
	if c := cmp.Or(first(a.isID, b.isID), first(a.whole, b.whole)); c != 0 {
		return c
	}
	return first(a.key.Before(a.member, b.key, b.member), b.key.Before(b.member, a.key, a.member))
}

// searchAll looks at all members of a small board.
func (s *Store) searchAll(ctx context.Context, m resolved, q searchQuery) ([]candidate, error) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	// The board may have grown meanwhile. Places in the order of the board stand for sort keys, whose texts take Redis
	// four times as long as the members.
	members, err := s.rdb.ZRange(ctx, m.keys.Members, 0, s.searches.small-1).Result()
	if err != nil {
		return nil, fmt.Errorf("%w: read the members: %w", ErrUnavailable, err)
	}
	records, err := s.nameRecords(ctx, m.compiled.Kind, members)
	if err != nil {
		return nil, err
	}
	var list []candidate
	for i, member := range members {
		entries := parseRecord(records[i])
		if q.isID(member) || q.MatchesID(member) || q.MatchesEntries(entries) {
			list = append(list, candidate{member, q.isID(member), q.IsWholeEntry(entries), sortkey.Key(i)})
		}
	}
	return list, nil
}

// searchIndex looks at the members of a large board that the index has found. complete reports that these are all.
func (s *Store) searchIndex(ctx context.Context, m resolved, q searchQuery) (list []candidate, complete bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	kind := m.compiled.Kind
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
		e, member := parseNameEntry(element)
		add(member, e.Whole && e.Text == q.Phrase())
	}
	if len(q.Prefixes()) > 1 { // the other words
		if list, err = s.filterByRecords(ctx, kind, q, list); err != nil {
			return nil, false, err
		}
		clear(known)
		for i, c := range list {
			known[c.member] = i
		}
	}
	for _, element := range byID {
		_, member := parseNameEntry(element)
		add(member, false)
	}
	add(q.id, false)
	add(q.text, false)
	list, err = s.onBoard(ctx, m, list)
	return list, complete, err
}

// nameEntries reads entries of an index: those of names with the rarest word of a query, and those of ids. It reads as many
// as the bounds of a search allow, and reports whether these are all.
func (s *Store) nameEntries(ctx context.Context, kind string, q searchQuery) (named, byID []string, complete bool, err error) {
	key, prefixes := s.keys.Names(kind).Entries, q.Prefixes()
	rarest, isMany := prefixes[0], false
	if len(prefixes) > 1 {
		if rarest, isMany, err = s.rarestPrefix(ctx, kind, prefixes); err != nil {
			return nil, nil, false, err
		}
	}
	pipe := s.rdb.Pipeline()
	list := func(prefix string, most int) *redis.StringSliceCmd {
		least, end := prefixRange(prefix)
		return pipe.ZRangeArgs(ctx, redis.ZRangeArgs{Key: key, Start: least, Stop: end, ByLex: true, Count: int64(most) + 1})
	}
	names, ids := s.searches.names, s.searches.ids
	var phrase *redis.StringSliceCmd
	if isMany { // first the names with the words in this order
		phrase = list(q.Phrase(), names/2)
		names -= names / 2
	}
	words, idents := list(rarest, names), list(q.IDPrefix(), ids)
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, nil, false, fmt.Errorf("%w: read an index of names: %w", ErrUnavailable, err)
	}
	named, byID = words.Val(), idents.Val()
	complete = len(named) <= names && len(byID) <= ids
	named, byID = named[:min(len(named), names)], byID[:min(len(byID), ids)]
	if phrase != nil {
		complete = false
		named = append(named, phrase.Val()[:min(len(phrase.Val()), s.searches.names/2)]...)
	}
	return named, byID, complete, nil
}

// rarestPrefix returns the prefix with which the fewest entries begin, and reports whether a search reads only a part of these.
func (s *Store) rarestPrefix(ctx context.Context, kind string, prefixes []string) (rarest string, isMany bool, err error) {
	pipe := s.rdb.Pipeline()
	counts := make([]*redis.IntCmd, len(prefixes))
	for i, prefix := range prefixes {
		least, end := prefixRange(prefix)
		counts[i] = pipe.ZLexCount(ctx, s.keys.Names(kind).Entries, least, end)
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return "", false, fmt.Errorf("%w: count entries of an index of names: %w", ErrUnavailable, err)
	}
	fewest := 0
	for i, count := range counts {
		if count.Val() < counts[fewest].Val() {
			fewest = i
		}
	}
	return prefixes[fewest], counts[fewest].Val() > int64(s.searches.names), nil
}

// prefixRange returns the bounds of the texts that begin with a prefix, as ZRANGE understands them. No text holds the
// byte 255.
func prefixRange(prefix string) (least, end string) { return "[" + prefix, "(" + prefix + "\xff" }

// filterByRecords leaves the candidates whose records match all words.
func (s *Store) filterByRecords(ctx context.Context, kind string, q searchQuery, list []candidate) ([]candidate, error) {
	members := make([]string, len(list))
	for i, c := range list {
		members[i] = c.member
	}
	records, err := s.nameRecords(ctx, kind, members)
	if err != nil {
		return nil, err
	}
	matching := list[:0]
	for i, c := range list {
		if entries := parseRecord(records[i]); q.MatchesEntries(entries) {
			c.whole = q.IsWholeEntry(entries)
			matching = append(matching, c)
		}
	}
	return matching, nil
}

// nameRecords reads the records of members; "" for none. Between its commands Redis serves other callers.
func (s *Store) nameRecords(ctx context.Context, kind string, members []string) ([]string, error) {
	records := make([]string, 0, len(members))
	for some := range slices.Chunk(members, findAtOnce) {
		values, err := s.rdb.HMGet(ctx, s.keys.Names(kind).Names, some...).Result()
		if err != nil {
			return nil, fmt.Errorf("%w: read the names of an index: %w", ErrUnavailable, err)
		}
		for _, v := range values {
			text, _ := v.(string)
			records = append(records, text)
		}
	}
	return records, nil
}

// onBoard leaves the candidates that stand on the board, with their sort keys.
func (s *Store) onBoard(ctx context.Context, m resolved, list []candidate) ([]candidate, error) {
	pipe := s.rdb.Pipeline()
	var cmds []*redis.SliceCmd
	for some := range slices.Chunk(list, findAtOnce) {
		args := []any{"zmscore", m.keys.Members}
		for _, c := range some {
			args = append(args, c.member)
		}
		cmd := redis.NewSliceCmd(ctx, args...)
		if err := pipe.Process(ctx, cmd); err != nil {
			return nil, fmt.Errorf("%w: look candidates up: %w", ErrUnavailable, err)
		}
		cmds = append(cmds, cmd)
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, fmt.Errorf("%w: look candidates up: %w", ErrUnavailable, err)
	}
	there, i := list[:0], 0
	for _, cmd := range cmds {
		for _, v := range cmd.Val() {
			c := list[i]
			i++
			switch score := v.(type) {
			case float64: // by RESP 3
				c.key = sortkey.Key(score)
			case string:
				key, err := strconv.ParseFloat(score, 64)
				if err != nil {
					return nil, fmt.Errorf("%w: a sort key is no number", ErrUnavailable)
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

// verifyCandidates returns the first limit candidates that match by their present profiles, and these profiles. So no
// entry that the index has too much shows a wrong member, and none shows a name that has gone.
func (s *Store) verifyCandidates(ctx context.Context, kind string, q searchQuery, list []candidate, limit int) (matching []candidate, profiles map[string]Profile, err error) {
	profiles = make(map[string]Profile)
	// Nearly always the first candidates match.
	for page := limit; len(list) > 0 && len(matching) < limit; page = findAtOnce {
		some := list[:min(len(list), page)]
		list = list[len(some):]
		members := make([]string, len(some))
		for i, c := range some {
			members[i] = c.member
		}
		found, err := s.readProfiles(ctx, kind, members)
		if err != nil {
			return nil, nil, err
		}
		for _, c := range some {
			p, name := found[c.member], search.NewName(found[c.member].Name)
			if len(matching) == limit || !c.isID && !q.MatchesID(c.member) && !q.MatchesName(name) {
				continue
			}
			c.whole = q.IsWhole(name)
			matching = append(matching, c)
			if p != (Profile{}) {
				profiles[c.member] = p
			}
		}
	}
	return matching, profiles, nil
}
