package bench

import (
	"context"
	"math/rand/v2"
)

// Reads is rankcast bench reads: reads of the first ten entries of one board.
type Reads struct {
	Board oneBoardFlags `embed:""`
}

func (r *Reads) about() about {
	return about{
		Name: "reads", What: "GET top?limit=10 of one board", Unit: "read", Settings: r.Board.settings(),
		Bare: "one ZREVRANGE 0 9 WITHSCORES, on a set of the same size",
	}
}

func (r *Reads) prepare(ctx context.Context, t *target) (rounds, error) {
	path := "/v1/boards/" + t.board(oneBoard) + "/top?limit=10"
	return r.Board.rounds(ctx, t, func(ctx context.Context, _ int) call { return t.newCall(ctx, "GET", path, 1, nil) },
		func() [][]any { return [][]any{{"ZREVRANGE", bareKey + oneBoard, 0, 9, "WITHSCORES"}} })
}

// Ranks is rankcast bench ranks: reads of the rank of a member, another one at each call.
type Ranks struct {
	Board oneBoardFlags `embed:""`
}

func (r *Ranks) about() about {
	return about{
		Name: "ranks", What: "GET members/{member} of one board, another member each time", Unit: "read", Settings: r.Board.settings(),
		Bare: "one ZREVRANK, one ZSCORE and one ZCARD, on a set of the same size",
	}
}

func (r *Ranks) prepare(ctx context.Context, t *target) (rounds, error) {
	path := "/v1/boards/" + t.board(oneBoard) + "/members/"
	anyMember := func() string { return userName(rand.IntN(r.Board.Members)) }
	return r.Board.rounds(ctx, t, func(ctx context.Context, _ int) call {
		return t.newReads(ctx, func() string { return path + anyMember() })
	}, func() [][]any {
		key, member := bareKey+oneBoard, anyMember()
		return [][]any{{"ZREVRANK", key, member}, {"ZSCORE", key, member}, {"ZCARD", key}}
	})
}
