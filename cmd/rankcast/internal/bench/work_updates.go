package bench

import (
	"context"
	"fmt"
	"math/rand/v2"

	"rankcast/cmd/rankcast/internal/term"
)

// Updates is rankcast bench updates: updates with an id of one board.
type Updates struct {
	Board oneBoardFlags `embed:""`
	Batch int           `default:"1" range:"1..1000" placeholder:"N" help:"Updates in a request, 1 to 1000 (default ${default})."`
}

func (u *Updates) about() about {
	return about{
		Name: "updates", What: term.Counted(u.Batch, "update") + " with an id in a request", Unit: "update",
		Settings: u.Board.settings(), Bare: "one ZINCRBY, on a set of the same size",
	}
}

func (u *Updates) prepare(ctx context.Context, t *target) (rounds, error) {
	path := "/v1/boards/" + t.board(oneBoard) + "/scores"
	anyMember := func() string { return userName(rand.IntN(u.Board.Members)) }
	return u.Board.rounds(ctx, t, func(ctx context.Context, caller int) call {
		id := callerID(caller)
		return t.newBatches(ctx, path, "updates", u.Batch, func(to []byte, n int) []byte {
			return fmt.Appendf(to, `{"member":"%s","score":%d,"id":"%s-%d"}`, anyMember(), 1+rand.IntN(maxFlowers), id, n)
		})
	}, func() [][]any {
		return [][]any{{"ZINCRBY", bareKey + oneBoard, 1 + rand.Uint64N(maxFlowers), anyMember()}}
	})
}
