package ranking

import (
	"context"
	"fmt"
	"strconv"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/script"
	"rankcast/ranking/sortkey"
)

// PendingOrder is an order of what is pending.
type PendingOrder string

// The orders.
const (
	// RevealOrder has members without a public rank first, the last of them first, and then goes from the last public rank upwards.
	RevealOrder PendingOrder = "reveal"
	// RankOrder goes by the places that the members will have; those that will have left come last.
	RankOrder PendingOrder = "rank"
)

// PendingQuery selects a page of what is pending.
type PendingQuery struct {
	Order PendingOrder // default RevealOrder
	After *Cursor      // position after which the page begins. Default none
	Limit int          // 1 to MaxPending
}

// MaxPending is the most entries of a page of what is pending.
const MaxPending = 1000

// PendingEntry is a member of a frozen board whose score the public does not see yet.
type PendingEntry struct {
	Member  string
	Public  *Standing // nil: the public board has not got it
	Pending *Standing // the standing if all were public; nil: it will have left. With ties Dense its Rank is 0: not known

	key sortkey.Key // by which it stands in the order of the page
}

// PendingPage is a page of what is pending.
type PendingPage struct {
	Head          // of the public board
	Pending int64 // members in all
	Entries []PendingEntry
	Next    *Cursor // nil: on the last page
}

// Pending reads what a frozen board keeps back. On another board the page is empty. It returns a FieldError for an invalid query.
// Hidden members are left out.
func (s *Store) Pending(ctx context.Context, board string, q PendingQuery) (PendingPage, error) {
	if q.Limit < 1 || q.Limit > MaxPending {
		return PendingPage{}, definition.Invalid("limit", fmt.Sprintf("is %d; want 1 to %d", q.Limit, MaxPending))
	}
	if q.Order == "" {
		q.Order = RevealOrder
	}
	if q.Order != RevealOrder && q.Order != RankOrder {
		return PendingPage{}, definition.Invalid("order", fmt.Sprintf("is %q; want reveal or rank", definition.Clip(string(q.Order))))
	}
	m, err := s.freezable(ctx, board)
	if err != nil {
		return PendingPage{}, err
	}
	head, err := s.headOf(ctx, board)
	if err != nil {
		return PendingPage{}, err
	}
	page, err := s.readPending(ctx, m.compiled, m.Instance, head.Period, q)
	page.Head = head
	return page, err
}

// readPending reads a page of what is pending on a board-period, without its head.
func (s *Store) readPending(ctx context.Context, rule *definition.Compiled, instance, period string, q PendingQuery) (PendingPage, error) {
	k := s.keys.Board(instance, period)
	args := []any{string(rule.Ties), string(q.Order), q.Limit + 1, "", ""}
	if q.After != nil {
		args[3], args[4] = sortkey.Format(q.After.Key), q.After.Member
		switch {
		case q.After.Key == noKey && q.Order == RevealOrder:
			args[3] = "new"
		case q.After.Key == noKey:
			args[3] = sortkey.Format(goneKey)
		}
	}
	p := k.Pending()
	r := script.Pending.Run(ctx, s.rdb, []string{k.Members, k.Distinct, p.Members, p.Public, p.New}, args)
	page := PendingPage{Pending: r.Number()}
	for r.More() && r.Err == nil {
		e := PendingEntry{Member: r.Text()}
		public, publicRank, waits, rank := r.Text(), r.Text(), r.Text(), r.Text()
		var err error
		if e.Public, err = pendingStanding(rule, public, publicRank); err == nil {
			e.Pending, err = pendingStanding(rule, waits, rank)
		}
		if err != nil {
			r.Fail(err.Error())
			break
		}
		by := public
		if q.Order == RankOrder {
			by = waits
		}
		e.key = noKey
		if by != "" {
			e.key, _ = sortkey.Parse(by)
		}
		page.Entries = append(page.Entries, e)
	}
	if r.Err != nil {
		return PendingPage{}, fmt.Errorf("read what is pending on board %q: %w", instance, r.Err)
	}
	if n := q.Limit; len(page.Entries) > n {
		page.Entries = page.Entries[:n]
		page.Next = &Cursor{Key: page.Entries[n-1].key, Member: page.Entries[n-1].Member}
	}
	return page, nil
}

// noKey stands in a cursor for a new member in RevealOrder, and for one that will have left in RankOrder: that is goneKey, see GONE in
// pending.lua.
const (
	noKey   = sortkey.Key(definition.MaxScore + 1)
	goneKey = sortkey.Key(1 << 60)
)

// pendingStanding reads a sort key and a rank of pending.lua; it returns nil for no key.
func pendingStanding(rule *definition.Compiled, key, rank string) (*Standing, error) {
	if key == "" {
		return nil, nil
	}
	k, err := sortkey.Parse(key)
	if err != nil {
		return nil, err
	}
	at := Standing{Score: k.Score(rule.Order)}
	if rank != "" {
		at.Rank, err = strconv.ParseInt(rank, 10, 64)
	}
	return &at, err
}
