package ranking

import (
	"cmp"
	"context"

	"rankcast/ranking/internal/script"
)

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
