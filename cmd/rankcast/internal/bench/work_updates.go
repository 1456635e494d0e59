package bench

import (
	"context"
	"fmt"
	"math/rand/v2"

	"rankcast/cmd/rankcast/internal/term"
)

// Updates is rankcast bench updates: updates with an id of one board.
type Updates struct {
	Loop loopFlags `embed:""`
	// Up to 5,000,000: the digits of a name hold them.
	Members int `default:"100000" range:"1..5000000" placeholder:"N" help:"Members of the board (default ${default})."`
	Batch   int `default:"1" range:"1..1000" placeholder:"N" help:"Updates in a request, 1 to 1000 (default ${default})."`
}

func (u *Updates) about() about {
	return about{
		Name: "updates", What: term.Counted(u.Batch, "update") + " with an id in a request", Unit: "update",
		Settings: term.Counted(u.Members, "member") + ", " + u.Loop.settings(), Bare: "one ZINCRBY, on a set of the same size",
	}
}

// oneBoard is the board of works that need one.
const oneBoard = "board"

// spreadScores are the scores of a board before the measurement: member n is at rank n + 1, a step ahead of the next.
func spreadScores(members int, step int64) []row {
	rows := make([]row, members)
	for n := range rows {
		rows[n] = row{userName(n), int64(members-n) * step}
	}
	return rows
}

func (u *Updates) prepare(ctx context.Context, t *target) (rounds, error) {
	path := "/v1/boards/" + t.board(oneBoard) + "/scores"
	return u.Loop.rounds(t, func(ctx context.Context, caller int) call {
		id := callerID(caller)
		return t.newBatches(ctx, path, "updates", u.Batch, func(to []byte, n int) []byte {
			return fmt.Appendf(to, `{"member":"%s","score":%d,"id":"%s-%d"}`, userName(rand.IntN(u.Members)), 1+rand.IntN(maxFlowers), id, n)
		})
	}, func() [][]any {
		return [][]any{{"ZINCRBY", bareKey + oneBoard, 1 + rand.Uint64N(maxFlowers), userName(rand.IntN(u.Members))}}
	}), t.fillOne(ctx, spreadScores(u.Members, 1))
}
