package ranking

import (
	"cmp"
	"context"
	"strings"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/script"
)

// callScript runs a script within the call timeout.
func (s *Store) callScript(ctx context.Context, sc script.Script, keys []string, args []any) (*script.Reply, error) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	return sc.Run(ctx, s.rdb, keys, args)
}

// takeShape takes the order and the ties with which a board-period was frozen. Where it was
// never written to, they are those of the definition.
func takeShape(r *script.Reply, d definition.Board) (definition.Order, definition.Ties) {
	words := strings.Split(r.Text(), " ")
	switch {
	case words[0] == "":
		return d.Order, d.Ties
	case len(words) > 2:
		return definition.Order(words[0]), definition.Ties(words[2])
	case d.Ties.Tied(): // the data come from an earlier definition of the board
		return definition.Order(words[0]), definition.First
	default:
		return definition.Order(words[0]), d.Ties
	}
}

// takeEntries takes a list of (member, key) pairs and a list of their data. The first entry
// is at the given 0-based position and has the given rank.
func takeEntries(r *script.Reply, position, rank int64, o definition.Order, t definition.Ties) []Entry {
	rows, data := r.List(), r.List()
	entries := make([]Entry, 0, len(rows.Rest)/2)
	for rows.More() {
		member, key := rows.Text(), rows.Key()
		position++
		e := Entry{Rank: position, Member: member, Score: key.Score(o), Key: key}
		if t.Tied() {
			switch n := len(entries); {
			case n == 0:
			case entries[n-1].Score == e.Score:
			case t == definition.Dense:
				rank++
			default:
				rank = position
			}
			e.Rank = rank
		}
		if len(data.Rest) > 0 {
			e.Data = data.Optional()
		}
		entries = append(entries, e)
	}
	r.Err = cmp.Or(r.Err, rows.Err, data.Err)
	return entries
}
