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

// scanPosition is how far a scan of a hash or a sorted set has come. The zero value is the beginning, and also the end.
type scanPosition struct {
	Server string `json:"server,omitzero"` // run_id of the Redis to which the cursor means something; "" on the embedded store
	Cursor string `json:"cursor,omitzero"` // of HSCAN or ZSCAN
}

// The types of keys that a scan reads, see scan.lua.
const scansHash, scansSet = "hash", "set"

// scan reads about count fields of a hash or members of a sorted set from a position on, and moves the position behind
// them. Where another Redis answers than the one before, the scan begins again, so it may return a field twice, and
// misses none. keys are those of scan.lua. The caller takes the list of pairs from the reply, and then the shape.
func (s *Store) scan(ctx context.Context, kind string, keys []string, count int, at *scanPosition) (*script.Reply, error) {
	r, err := s.callScript(ctx, script.Scan, keys, []any{kind, at.Server, cmp.Or(at.Cursor, "0"), count})
	if err != nil {
		return nil, err
	}
	*at = scanPosition{Server: r.Text(), Cursor: r.Text()}
	if at.Cursor == "0" {
		*at = scanPosition{}
	}
	return r, r.Err
}
