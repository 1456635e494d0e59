package ranking

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/keyspace"
)

// MaxErasuresPage is the most erasures that one page of a list has.
const MaxErasuresPage = 1000

// MemberErasure is the progress of the erasure of a member of a kind.
type MemberErasure struct {
	Kind, Member string
	Erasure
}

// ErasuresPage is a page of erasures.
type ErasuresPage struct {
	List []MemberErasure
	Next string // pass it as after for the next page; "" on the last page
}

// erasuresPosition is a place in the list of erasures.
type erasuresPosition struct {
	Kind  string `json:"kind,omitzero"`  // of the erasures under way there
	Ended bool   `json:"ended,omitzero"` // the place is among the erasures that have ended
	timePosition
}

// Erasures lists erasures of the kinds for which may returns true: first those under way, by kind and then by when they
// began, then those that Erasure still knows although they have ended, the latest first. after is the Next of the page
// before; "" for the first page. limit is 1 to MaxErasuresPage. A page may have fewer erasures, and Next, because others are
// of other kinds. An erasure that ends between two pages may be on both. A page waits for its turn, up to
// Config.CallTimeout: see WithCaller.
func (s *Store) Erasures(ctx context.Context, may func(kind string) bool, after string, limit int) (ErasuresPage, error) {
	if limit < 1 || limit > MaxErasuresPage {
		return ErasuresPage{}, definition.Invalid("limit", fmt.Sprintf("is %d; want 1 to %d", limit, MaxErasuresPage))
	}
	var from erasuresPosition
	if err := parseTimePosition(after, &from, &from.timePosition); err != nil {
		return ErasuresPage{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	var page ErasuresPage
	err := s.inTurn(ctx, func() error {
		fields, next, err := s.erasureFields(ctx, may, from, limit)
		if err != nil {
			return err
		}
		if page.List, err = s.readErasures(ctx, fields); err != nil || next == nil {
			return err
		}
		text, err := json.Marshal(next)
		page.Next = string(text)
		return err
	})
	if err != nil {
		return ErasuresPage{}, fmt.Errorf("list erasures: %w", err)
	}
	return page, nil
}

// erasureFields lists the fields of the erasures on a page. next is where the next page begins; nil: there is none.
func (s *Store) erasureFields(ctx context.Context, may func(kind string) bool, at erasuresPosition, limit int) (
	fields []string, next *erasuresPosition, err error) {
	left := limit // items that the page still has room for
	// take reads the items of one set, and reports whether the page is full before their end.
	take := func(key string, order definition.Order, add func(item string)) (isFull bool, err error) {
		list, err := s.readByTime(ctx, key, order, at.timePosition, left+1)
		isFull = len(list) > left
		list = list[:min(left, len(list))]
		for _, t := range list {
			add(t.item)
		}
		left -= len(list)
		at.timePosition = at.behind(list)
		return isFull, err
	}
	if !at.Ended {
		kinds, err := s.rdb.ZRange(ctx, s.keys.ErasureAgenda(), 0, -1).Result()
		if err != nil {
			return nil, nil, fmt.Errorf("%w: %w", definition.ErrUnavailable, err)
		}
		slices.Sort(kinds)
		for _, kind := range kinds {
			if kind == erasureReports || kind < at.Kind || !may(kind) {
				continue
			}
			if kind != at.Kind {
				at = erasuresPosition{Kind: kind}
			}
			isFull, err := take(s.keys.PendingErasures(kind), definition.Asc, func(member string) {
				fields = append(fields, erasureField(kind, member))
			})
			if err != nil || isFull {
				return fields, &at, err
			}
		}
		at = erasuresPosition{Ended: true}
	}
	isFull, err := take(s.keys.ErasureReports(), definition.Desc, func(field string) {
		if kind, _, _ := strings.Cut(field, keyspace.FieldSep); may(kind) {
			fields = append(fields, field)
		}
	})
	if err != nil || isFull {
		return fields, &at, err
	}
	return fields, nil, nil
}

// readErasures reads the erasures of some fields. It leaves out those that have gone.
func (s *Store) readErasures(ctx context.Context, fields []string) ([]MemberErasure, error) {
	if len(fields) == 0 {
		return nil, nil
	}
	kinds := make([]string, len(fields))
	for i, field := range fields {
		kinds[i], _, _ = strings.Cut(field, keyspace.FieldSep)
	}
	walks := slices.Compact(slices.Sorted(slices.Values(kinds)))
	r := s.readFields(ctx, s.keys.Erasures(), append(slices.Clone(fields), walks...)...)
	texts := make([]string, len(fields))
	for i := range texts {
		texts[i] = r.Optional()
	}
	walkOf := make(map[string]string, len(walks))
	for _, kind := range walks {
		walkOf[kind] = r.Optional()
	}
	if r.Err != nil {
		return nil, r.Err
	}
	list := make([]MemberErasure, 0, len(fields))
	for i, text := range texts {
		e, err := erasureOf(text, walkOf[kinds[i]])
		if err != nil {
			return nil, err
		}
		if e != nil {
			_, member, _ := strings.Cut(fields[i], keyspace.FieldSep)
			list = append(list, MemberErasure{kinds[i], member, *e})
		}
	}
	return list, nil
}
