package ranking

import (
	"cmp"
	"context"
	"strings"
)

// callKeys runs a script within the call timeout.
func (s *Store) callKeys(ctx context.Context, sc script, keys []string, args []any) (*reply, error) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	return sc.run(ctx, s.rdb, keys, args)
}

// takeShape takes the order and ties that a board-period is frozen with; where there is
// none they are those of a definition.
func takeShape(r *reply, d Definition) (Order, Ties) {
	words := strings.Split(r.text(), " ")
	switch {
	case words[0] == "":
		return d.Order, d.Ties
	case len(words) > 2:
		return Order(words[0]), Ties(words[2])
	case d.Ties.Tied(): // it was another board
		return Order(words[0]), First
	default:
		return Order(words[0]), d.Ties
	}
}

// takeEntries takes a list of (member, key) pairs and one of their data. The first of them
// has that 0-based position, and that rank.
func takeEntries(r *reply, position, rank int64, o Order, t Ties) []Entry {
	rows, data := r.list(), r.list()
	entries := make([]Entry, 0, len(rows.rest)/2)
	for len(rows.rest) > 0 && rows.err == nil {
		member, key := rows.text(), rows.key()
		position++
		e := Entry{Rank: position, Member: member, Score: key.Score(o), Key: key}
		if t.Tied() {
			switch n := len(entries); {
			case n == 0:
			case entries[n-1].Score == e.Score:
			case t == Dense:
				rank++
			default:
				rank = position
			}
			e.Rank = rank
		}
		if len(data.rest) > 0 {
			e.Data = data.optional()
		}
		entries = append(entries, e)
	}
	r.err = cmp.Or(r.err, rows.err, data.err)
	return entries
}
