package bench

import (
	"context"

	"rankcast/cmd/rankcast/internal/term"
)

// Reads is rankcast bench reads: reads of the first ten entries of one board.
type Reads struct {
	Loop loopFlags `embed:""`
	// Up to 5,000,000: the digits of a name hold them.
	Members int `default:"100000" range:"1..5000000" placeholder:"N" help:"Members of the board (default ${default})."`
}

func (r *Reads) about() about {
	return about{
		Name: "reads", What: "GET top?limit=10 of one board", Unit: "read",
		Settings: term.Counted(r.Members, "member") + ", " + r.Loop.settings(),
		Bare:     "one ZREVRANGE 0 9 WITHSCORES, on a set of the same size",
	}
}

func (r *Reads) prepare(ctx context.Context, t *target) (rounds, error) {
	path := "/v1/boards/" + t.board(oneBoard) + "/top?limit=10"
	newCall := func(ctx context.Context, _ int) call { return t.newCall(ctx, "GET", path, 1, nil) }
	return r.Loop.rounds(t, newCall, func() [][]any {
		return [][]any{{"ZREVRANGE", bareKey + oneBoard, 0, 9, "WITHSCORES"}}
	}), t.fillOne(ctx, spreadScores(r.Members, 1))
}
