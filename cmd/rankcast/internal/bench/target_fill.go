package bench

import (
	"context"
	"fmt"
	"slices"

	"github.com/redis/go-redis/v9"
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

// fill gives boards their first members. It gives the sets of the bare work, on a Redis of the command, the same members.
func (t *target) fill(ctx context.Context, boards map[string][]row) error {
	t.show("filling the boards of " + t.name)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(fillers)
	for board, rows := range boards {
		for part := range slices.Chunk(rows, fillBatch) {
			g.Go(func() error {
				if t.own != nil {
					if err := t.own.fillBare(ctx, board, part); err != nil {
						return err
					}
				}
				return t.fillPart(ctx, board, part)
			})
		}
	}
	return g.Wait()
}

// fillOne defines the board of works that need one, and gives it its first members.
func (t *target) fillOne(ctx context.Context, rows []row) error {
	if err := t.define(ctx, boardsPath, t.board(oneBoard), struct{}{}, t.client.DefineBoard); err != nil {
		return err
	}
	return t.fill(ctx, map[string][]row{oneBoard: rows})
}

func (t *target) fillPart(ctx context.Context, board string, rows []row) error {
	updates := make([]client.Update, len(rows))
	for i, r := range rows {
		updates[i] = client.Update{Member: r.member, Score: r.score}
	}
	outcomes, err := t.client.Updates(ctx, t.board(board), updates)
	if err != nil {
		return t.remote.Explain(err)
	}
	for _, o := range outcomes {
		if o.Err != nil {
			return fmt.Errorf("%s: fill board %s: %w", t.name, t.board(board), o.Err)
		}
	}
	return nil
}

// fillBare gives members to the sorted set that a benchmark reads without Rankcast, to compare with it.
func (o *ownServer) fillBare(ctx context.Context, board string, rows []row) error {
	members := make([]redis.Z, len(rows))
	for i, r := range rows {
		members[i] = redis.Z{Score: float64(r.score), Member: r.member}
	}
	return o.rdb.ZAdd(ctx, bareKey+board, members...).Err()
}
