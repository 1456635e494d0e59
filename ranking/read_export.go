package ranking

import (
	"context"
	"iter"

	"rankcast/ranking/definition"
)

// exportPage is how many entries one call of an export reads: it holds Redis for about
// a millisecond, and an export that waits for its reader holds so many.
const exportPage = 1000

// Export reads a whole board-period in its order, in pages of up to 1,000 entries, one
// at least. Each goes on after the last entry of the one before, by key and member: so
// what changes meanwhile is there at most once and not left out, but what moves from one
// side of that entry to the other. All pages are of the period that the board's name
// means at first, and of one life of the board. Those who are hidden are left out: where a
// board is moved this way, what Hide keeps of them is lost.
//
// The error is the last that comes: as Read's, and ErrConflict for a board that was
// deleted and made again meanwhile.
func (s *Store) Export(ctx context.Context, board string) iter.Seq2[Page, error] {
	return func(yield func(Page, error) bool) {
		first, err := s.Read(ctx, board, Query{Limit: exportPage})
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
		// Who keeps a score keeps the key from one result of a union to the next.
		same := func(p Page) bool { return p.Order == first.Order && (p.Epoch == first.Epoch || m.compiled.IsBuilt()) }
		for p := first; yield(p, nil); {
			next := p.Next()
			if next == nil {
				return
			}
			if p, err = s.Read(ctx, pinned, Query{After: next, Limit: exportPage}); err == nil && !same(p) {
				err = conflict("board", "%q is another than when the export began", board)
			}
			if err != nil {
				yield(Page{}, err)
				return
			}
		}
	}
}
