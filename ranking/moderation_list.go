package ranking

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/keyspace"
	"rankcast/ranking/internal/script"
	"rankcast/ranking/sortkey"
)

const (
	// MaxHiddenPage is the most members that one page of a list of hidden members has.
	MaxHiddenPage = 1000
	// maxLookedAt is the most hidden members of a kind whose scores one page looks up.
	maxLookedAt = 10 * moderationPage
)

// HiddenMember is a member that is hidden on a board.
type HiddenMember struct {
	Member     string
	Score      *int64 // in the period that was read; nil for a member without a score there
	Everywhere bool   // hidden on all boards of the kind; else on this board only
}

// HiddenPage is a page of the hidden members of a board, by member id.
type HiddenPage struct {
	Members []HiddenMember
	Next    string // the id after which the next page begins; "" on the last page
	Total   int    // members of the whole list; it may be some seconds old

	Columns definition.Columns // of the scores, of a board; nil without columns
}

// Hidden lists the hidden members of a board by member id: those after an id, limit at most (1 to
// MaxHiddenPage). It lists a member hidden everywhere only if the member has a score in the period. Among
// more than 10,000 members hidden everywhere a page may have fewer members, or none, and Next. The page says who is
// hidden at one moment. It reads the scores after that, so a member that a call hides just then may have none. A page
// waits for its turn, up to Config.CallTimeout: see WithCaller.
func (s *Store) Hidden(ctx context.Context, board, after string, limit int) (HiddenPage, error) {
	if err := checkHiddenLimit(limit); err != nil {
		return HiddenPage{}, err
	}
	m, err := s.resolve(ctx, board, 0)
	if err != nil {
		return HiddenPage{}, err
	}
	d, err := s.catalog.readFresh(ctx)
	if err != nil {
		return HiddenPage{}, err
	}
	if m.compiled.IsLive() {
		_, err = s.sweepToNow(ctx, m.Instance)
	}
	var page HiddenPage
	if err == nil {
		ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
		defer cancel()
		l := hiddenList{
			s: s, moderation: d.hidden, board: boardScope(m.Instance), everywhere: kindScope(m.compiled.Kind), shards: m.eachShard(),
			order: m.compiled.Order,
		}
		page, err = l.page(ctx, after, limit)
		page.Columns = m.compiled.Columns
	}
	if err != nil {
		return HiddenPage{}, fmt.Errorf("read the hidden members of %q: %w", board, err)
	}
	return page, nil
}

func checkHiddenLimit(limit int) error {
	if limit < 1 || limit > MaxHiddenPage {
		return definition.Invalid("limit", fmt.Sprintf("is %d; want 1 to %d", limit, MaxHiddenPage))
	}
	return nil
}

// hiddenList reads the list of the hidden members of a board-period.
type hiddenList struct {
	s                 *Store
	moderation        *moderation
	board, everywhere string // scopes
	shards            []keyspace.BoardKeys
	order             definition.Order
}

func (l hiddenList) page(ctx context.Context, after string, limit int) (page HiddenPage, err error) {
	keys := make([]string, len(l.shards))
	for i, k := range l.shards {
		keys[i] = k.Hidden
	}
	sizes, err := l.s.sizes(ctx, keys)
	if err != nil {
		return page, err
	}
	scored := int64(0)
	for _, n := range sizes {
		scored += n
	}
	if scored <= moderationPage {
		page, err = l.pageOfFew(ctx, after, limit)
	} else if page, err = l.pageOfMany(ctx, after, limit); err == nil {
		page.Total, err = l.countUnscored(ctx)
		page.Total += int(scored)
	}
	return page, err
}

// pageOfFew reads all members with a score.
func (l hiddenList) pageOfFew(ctx context.Context, after string, limit int) (page HiddenPage, err error) {
	keyed := make(map[string]string)
	if err := l.s.inTurn(ctx, func() error {
		for _, k := range l.shards {
			if err := l.s.hiddenIn(ctx, k, keyed); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return page, err
	}
	page.Total = l.moderation.count(l.board)
	list := l.moderation.page(l.board, after, limit+1)
	for member := range keyed {
		// A member that is hidden meanwhile is not in the list of the node yet.
		if !l.moderation.hidesIn(l.board, member) && l.moderation.hidesIn(l.everywhere, member) {
			page.Total++
			if member > after {
				list = append(list, member)
			}
		}
	}
	slices.Sort(list)
	if len(list) > limit {
		list = list[:limit]
		page.Next = list[limit-1]
	}
	for _, member := range list {
		if err := l.add(&page, member, keyed[member]); err != nil {
			return page, err
		}
	}
	return page, nil
}

// pageOfMany looks for the scores of the members that may be on the page.
func (l hiddenList) pageOfMany(ctx context.Context, after string, limit int) (page HiddenPage, err error) {
	n := max(limit+1, PacedEntries)
	for looked := 0; looked < maxLookedAt; {
		n = min(n, moderationPage)
		part := append(l.moderation.page(l.board, after, n), l.moderation.page(l.everywhere, after, n)...)
		slices.Sort(part)
		part = slices.Compact(part)
		part = part[:min(n, len(part))]
		var keyed []string
		if err := l.s.inTurn(ctx, func() (err error) {
			keyed, err = l.readKeys(ctx, part)
			return err
		}); err != nil {
			return page, err
		}
		for i, member := range part {
			if keyed[i] == "" && !l.moderation.hidesIn(l.board, member) {
				continue
			}
			if len(page.Members) == limit {
				page.Next = page.Members[limit-1].Member
				return page, nil
			}
			if err := l.add(&page, member, keyed[i]); err != nil {
				return page, err
			}
		}
		if len(part) < n {
			return page, nil
		}
		after, looked, n = part[n-1], looked+n, 2*n
	}
	page.Next = after
	return page, nil
}

// add adds a member with the sort key that it has in the period; "" for none.
func (l hiddenList) add(page *HiddenPage, member, key string) error {
	h := HiddenMember{Member: member, Everywhere: !l.moderation.hidesIn(l.board, member)}
	if key != "" {
		k, err := sortkey.Parse(key)
		if err != nil {
			return fmt.Errorf("%w: %w", definition.ErrUnavailable, err)
		}
		h.Score = new(k.Score(l.order))
	}
	page.Members = append(page.Members, h)
	return nil
}

// readKeys reads the sort keys that hidden members have in the period; "" for none.
func (l hiddenList) readKeys(ctx context.Context, members []string) ([]string, error) {
	keys := make([]string, len(members))
	if len(members) == 0 {
		return keys, nil
	}
	calls, of := make([]script.Call, len(l.shards)), make([]int, len(members))
	for i, k := range l.shards {
		calls[i] = script.Call{Script: script.Scores, Keys: []string{k.Hidden}}
	}
	for i, member := range members {
		of[i] = ShardOf(member, len(l.shards))
		calls[of[i]].Args = append(calls[of[i]].Args, member)
	}
	asked := slices.DeleteFunc(slices.Clone(calls), func(c script.Call) bool { return len(c.Args) == 0 }) // the script takes 1 member at least
	answers := script.Pipeline(ctx, l.s.rdb, asked...)
	replies := make([]*script.Reply, len(calls))
	for i, c := range calls {
		if len(c.Args) > 0 {
			replies[i], answers = answers[0], answers[1:]
		}
	}
	for i := range keys {
		if keys[i] = replies[of[i]].Optional(); replies[of[i]].Err != nil {
			return nil, replies[of[i]].Err
		}
	}
	return keys, nil
}

const (
	// hiddenCountKept is for how long callers use a count, and how long a count may rest before it is complete.
	hiddenCountKept = time.Second
	// maxHiddenCounts bounds the counts that a node keeps. Few boards have as many hidden members as a count takes: see
	// maxHidden.
	maxHiddenCounts = 100
)

// hiddenCount counts the members without a score on a board with many hidden members. All callers carry on one
// count of a board, each in its turn.
type hiddenCount struct {
	at       time.Time // of the latest part
	after    string    // members with a greater id are not counted yet
	unscored int
	complete bool
}

// latestCount is the latest count of the board; a new one if that is too old.
func (l hiddenList) latestCount() hiddenCount {
	if found, _ := l.s.hiddenCounts.Get(l.shards[0].Hidden); time.Since(found.at) < hiddenCountKept {
		return found
	}
	return hiddenCount{}
}

// countUnscored counts the members hidden on the board that have no score in the period.
func (l hiddenList) countUnscored(ctx context.Context) (int, error) {
	count := l.latestCount()
	for !count.complete {
		if err := l.s.inTurn(ctx, func() error {
			if count = l.latestCount(); count.complete { // another call has carried on
				return nil
			}
			err := l.countPart(ctx, &count)
			if err == nil {
				l.s.hiddenCounts.Put(l.shards[0].Hidden, count, 1)
			}
			return err
		}); err != nil {
			return 0, err
		}
	}
	return count.unscored, nil
}

// countPart carries a count on by a part.
func (l hiddenList) countPart(ctx context.Context, count *hiddenCount) error {
	part := l.moderation.page(l.board, count.after, moderationPage)
	keyed, err := l.readKeys(ctx, part)
	if err != nil {
		return err
	}
	for _, key := range keyed {
		if key == "" {
			count.unscored++
		}
	}
	count.at = time.Now()
	if count.complete = len(part) < moderationPage; !count.complete {
		count.after = part[len(part)-1]
	}
	return nil
}

// HiddenEverywherePage is a page of the members hidden on all boards of a kind, by member id.
type HiddenEverywherePage struct {
	Members []string
	Next    string // the id after which the next page begins; "" on the last page
	Total   int    // members of the whole list
}

// HiddenEverywhere lists the members hidden on all boards of a kind, by member id: those after an id, limit
// at most (1 to MaxHiddenPage).
func (s *Store) HiddenEverywhere(ctx context.Context, kind, after string, limit int) (HiddenEverywherePage, error) {
	if err := cmp.Or(definition.CheckKind(kind), checkHiddenLimit(limit)); err != nil {
		return HiddenEverywherePage{}, err
	}
	d, err := s.catalog.readFresh(ctx)
	if err != nil {
		return HiddenEverywherePage{}, err
	}
	scope := kindScope(kind)
	page := HiddenEverywherePage{Members: d.hidden.page(scope, after, limit+1), Total: d.hidden.count(scope)}
	if len(page.Members) > limit {
		page.Members = page.Members[:limit]
		page.Next = page.Members[limit-1]
	}
	return page, nil
}
