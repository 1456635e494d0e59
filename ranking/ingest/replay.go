package ingest

import (
	"context"
	"fmt"
)

// Which says which dead letters Replay moves.
type Which int

const (
	// Refused are the dead letters that have counted nowhere.
	Refused Which = iota
	// All are also those that may have counted: their updates may count a second time.
	All
)

// replayCount bounds the dead letters of one call of replay.lua.
const replayCount = 100

// Replay moves the dead letters of all streams that there are now back to the ends of their streams, in order. A
// consumer applies them as new entries, with the request ids and the times of the entries that the
// producers wrote. Replay returns how many dead letters it has moved, and how many it has left.
func (in *Ingest) Replay(ctx context.Context, which Which) (moved, left int, err error) {
	for _, stream := range in.cfg.Streams {
		m, l, err := in.replay(ctx, stream, which)
		moved, left = moved+m, left+l
		if err != nil {
			return moved, left, fmt.Errorf("replay the dead letters of %q: %w", stream, err)
		}
	}
	return moved, left, nil
}

func (in *Ingest) replay(ctx context.Context, stream string, which Which) (moved, left int, err error) {
	from, to := "-", ""
	for {
		args := []any{from, to, replayCount, originField}
		if which != All {
			args = append(args, codeUnknown, codePartly, codeDeleted, codeMismatch)
		}
		r := replayScript.Run(ctx, in.rdb, []string{stream, in.keys.DeadLetters(stream)}, args)
		var last string
		last, to = r.Text(), r.Text()
		moved, left = moved+int(r.Number()), left+int(r.Number())
		if r.Err != nil || last == "" || last == to {
			return moved, left, r.Err
		}
		from = "(" + last
	}
}
