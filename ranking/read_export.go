package ranking

import (
	"context"
	"iter"

	"rankcast/ranking/definition"
)

// exportPage is the number of entries that one call of an export reads. The call holds
// Redis for about a millisecond. An export that waits for its reader holds so many entries.
const exportPage = 1000

// Export reads a whole board-period in its order, in pages of up to 1,000 entries. It gives
// at least one page. Each page begins after the last entry of the page before, by key and
// member. So a change during the export appears at most once and is not left out, except
// that a member may move across that entry. All pages are of the period that the name means
// at first, and of one life of the board. Hidden members are left out: a copy of a board
// made this way loses the scores that Hide keeps.
//
// All exports of a node read one page at a time, with pauses, so that updates do not wait for
// them. The callers of WithCaller take turns.
//
// An error ends the sequence: one of Read's errors, or ErrConflict when the board was
// deleted and created again during the export.
func (s *Store) Export(ctx context.Context, board string) iter.Seq2[Page, error] {
	return func(yield func(Page, error) bool) {
		read := func(name string, after *Cursor) (p Page, err error) {
			return s.read(ctx, name, Query{After: after, Limit: exportPage})
		}
		first, err := read(board, nil)
		if err != nil {
			yield(Page{}, err)
			return
		}
		m, err := s.resolve(ctx, board, 0)
		if err != nil {
			yield(Page{}, err)
			return
		}
		pinned := definition.Qualify(m.Instance, first.Period)
		// A member that keeps its score keeps its key from one result of a union to the
		// next.
		same := func(p Page) bool {
			return p.Order == first.Order && (m.compiled.IsBuilt() || first.States().sameLives(p.States()))
		}
		for p := first; yield(p, nil); {
			next := p.Next()
			if next == nil {
				return
			}
			if p, err = read(pinned, next); err == nil && !same(p) {
				err = conflict("board", "%q was deleted and created again during the export", board)
			}
			if err != nil {
				yield(Page{}, err)
				return
			}
		}
	}
}
