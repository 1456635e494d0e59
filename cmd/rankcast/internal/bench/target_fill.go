package bench

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"rankcast/server/client"
)

const (
	// fillers is the number of requests that fill boards at once.
	fillers = 4
	// fillBatch is the number of updates in a request that fills a board.
	fillBatch = 1000
)

// row is a member of a board before the measurement, with its score.
type row struct {
	member string
	score  int64
}

// fill gives boards their first members. It calls filled with the number of rows of each part that the target holds.
func (t *target) fill(ctx context.Context, boards map[string][]row, filled func(rows int)) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(fillers)
	for board, rows := range boards {
		for len(rows) > 0 {
			part := rows[:min(len(rows), fillBatch)]
			rows = rows[len(part):]
			g.Go(func() error {
				if err := t.fillPart(ctx, board, part); err != nil {
					return err
				}
				filled(len(part))
				return nil
			})
		}
	}
	return g.Wait()
}

func (t *target) fillPart(ctx context.Context, board string, rows []row) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	updates := make([]client.Update, len(rows))
	for i, r := range rows {
		updates[i] = client.Update{Member: r.member, Score: r.score}
	}
	outcomes, err := t.client.Updates(ctx, t.board(board), updates)
	if err != nil {
		return t.explain(err)
	}
	for _, o := range outcomes {
		if o.Err != nil {
			return fmt.Errorf("%s: fill board %s: %w", t.name, t.board(board), o.Err)
		}
	}
	return nil
}

// fillBare gives the sets of the bare work the same members.
func (t *target) fillBare(ctx context.Context, boards map[string][]row) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c := t.own.openRedis(ctx)
	for board, rows := range boards {
		for len(rows) > 0 {
			part := rows[:min(len(rows), fillBatch)]
			rows = rows[len(part):]
			args := []any{"ZADD", bareKey + board}
			for _, r := range part {
				args = append(args, r.score, r.member)
			}
			if err := c.Do(ctx, args...).Err(); err != nil {
				return err
			}
		}
	}
	return nil
}
