package ranking

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/redis/go-redis/v9"

	"rankcast/ranking/definition"
)

// has reports whether the answer may name a board.
func (w *boardWalk) has(board string) bool { return w.query.Only == nil || w.query.Only.Has(board) }

// mayName reports whether Next may hold a name, or the end of a span. The end of a span of a caller's own tells the caller
// nothing. The end of a family tells that there is such a family.
func (w *boardWalk) mayName(position string) bool {
	return w.has(position) ||
		slices.ContainsFunc(w.query.Only.Spans, func(s definition.NameSpan) bool { return s.Before == position })
}

// passNames moves the cursor behind the names of a family before a position, if the cursor may name it.
func (w *boardWalk) passNames(slot, position string) {
	if w.mayName(position) {
		w.passed = max(w.passed, familyCursor(slot, position))
	}
}

// spans are the names of a family's instances that the page may have.
func (w *boardWalk) spans(slot string) (spans []definition.NameSpan) {
	all := definition.SpanOfSlot(slot)
	if w.query.Only == nil {
		return []definition.NameSpan{all}
	}
	for _, s := range w.query.Only.Spans {
		if part, some := s.Within(all); some {
			spans = append(spans, part)
		}
	}
	return spans
}

// addInstances adds the instances of a family after one.
func (w *boardWalk) addInstances(ctx context.Context, r *definition.Compiled, slot, after string) error {
	spans := w.spans(slot)
	for _, span := range spans {
		from := "[" + span.From
		if after >= span.From {
			from = "(" + after
		}
		for more := after < span.Before; more; {
			if w.listed >= w.sizes.names*w.sizes.nameReads || w.passed != w.query.After && w.isSlow() {
				return w.endEarly(ctx)
			}
			names, isRead, err := w.readNames(ctx, slot, from, span.Before)
			switch {
			case err != nil:
				return err
			case !isRead:
				w.passNames(slot, spans[len(spans)-1].Before)
				if w.isSlow() {
					return w.endEarly(ctx)
				}
				return nil // the rest of the family is unavailable
			}
			for _, name := range names {
				if !w.has(name) {
					continue
				}
				if err := w.add(ctx, r, slot, name); err != nil || w.ended {
					return err
				}
			}
			if more = len(names) == w.sizes.names; more {
				from = "(" + names[len(names)-1]
			}
		}
		w.passNames(slot, span.Before)
	}
	return nil
}

// readNames lists instances of a slot from a bound of ZRANGE on and before a name. isRead is false when the node could not
// read them, which the walk has noted. It counts that only where the caller may know of the family.
func (w *boardWalk) readNames(ctx context.Context, slot, from, before string) (names []string, isRead bool, err error) {
	err = w.takeTurn(ctx, func(ctx context.Context) {
		found, err := w.s.rdb.ZRangeArgs(ctx, redis.ZRangeArgs{Key: w.s.keys.Instances(slot),
			Start: from, Stop: "(" + before, ByLex: true, Count: int64(w.sizes.names)}).Result()
		if err != nil {
			err = fmt.Errorf("list instances: %w: %w", definition.ErrUnavailable, err)
			if w.failure = cmp.Or(w.failure, err); w.mayName(before) {
				w.page.Unavailable++
			}
			return
		}
		names, isRead, w.answered = found, true, true
	})
	w.listed += max(len(names), w.sizes.names/20, 1)
	return names, isRead, err
}

// endEarly ends a page that has read as many names as it may, or lasts long.
func (w *boardWalk) endEarly(ctx context.Context) error {
	if err := w.lookUp(ctx); err != nil || w.ended {
		return err
	}
	if w.passed == w.query.After && w.failure != nil {
		return w.failure
	}
	if w.passed == w.query.After {
		return &definition.FieldError{Field: "kind", Kind: definition.ErrTooLarge,
			Reason: "has too many boards that the caller may not read; use a key that may read all of them"}
	}
	w.end(w.passed)
	return nil
}
