package bench

import (
	"context"
	"math/rand/v2"

	"rankcast/cmd/rankcast/internal/term"
)

// Ranks is rankcast bench ranks: reads of the rank of a member, another one at each call.
type Ranks struct {
	Loop loopFlags `embed:""`
	// Up to 5,000,000: the digits of a name hold them.
	Members int `default:"100000" range:"1..5000000" placeholder:"N" help:"Members of the board (default ${default})."`
}

func (r *Ranks) about() about {
	return about{
		Name: "ranks", What: "GET members/{member} of one board, another member each time", Unit: "read",
		Settings: term.Counted(r.Members, "member") + ", " + r.Loop.settings(),
		Bare:     "one ZREVRANK, one ZSCORE and one ZCARD, on a set of the same size",
	}
}

func (r *Ranks) prepare(ctx context.Context, t *target) (rounds, error) {
	path := "/v1/boards/" + t.board(oneBoard) + "/members/"
	newCall := func(ctx context.Context, _ int) call {
		return t.newReads(ctx, func() string { return path + userName(rand.IntN(r.Members)) })
	}
	return r.Loop.rounds(t, newCall, func() [][]any {
		key, member := bareKey+oneBoard, userName(rand.IntN(r.Members))
		return [][]any{{"ZREVRANK", key, member}, {"ZSCORE", key, member}, {"ZCARD", key}}
	}), t.fillOne(ctx, spreadScores(r.Members, 1))
}
