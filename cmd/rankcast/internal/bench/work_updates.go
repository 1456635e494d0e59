package bench

import (
	"context"
	"fmt"
	"math/rand/v2"

	"rankcast/server/client"
)

// Updates is rankcast bench updates: updates with an id of one board.
type Updates struct {
	Loop    loopFlags    `embed:""`
	Members int          `default:"100000" placeholder:"N" help:"Members of the board (default ${default})."`
	Batch   int          `default:"1" placeholder:"N" help:"Updates in a request, 1 to 1000 (default ${default})."`
	Program programFlags `embed:""`
}

// Validate checks the flags.
func (u *Updates) Validate() error {
	if err := checkMembers(u.Members); err != nil {
		return err
	}
	return within("batch", u.Batch, 1, client.MaxUpdates)
}

// maxMembers bounds the members of a board: the digits of a name hold them.
const maxMembers = 5_000_000

func checkMembers(n int) error { return within("members", n, 1, maxMembers) }

// Run measures.
func (u *Updates) Run(ctx context.Context) error { return u.Program.run(ctx, "updates", u) }

func (u *Updates) about() string { return count(u.Batch, "update") + " with an id in a request" }

func (u *Updates) settings() string { return count(u.Members, "member") + ", " + u.Loop.settings() }

func (u *Updates) unit() string { return "update" }

func (u *Updates) bareAbout() string { return "one ZINCRBY, on a set of the same size" }

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

func (u *Updates) prepare(ctx context.Context, t *target, s *status) (rounds, error) {
	if err := t.define(ctx, oneBoard, "{}"); err != nil {
		return nil, err
	}
	rows := spreadScores(u.Members, 1)
	if err := s.fill(ctx, t, map[string][]row{oneBoard: rows}); err != nil {
		return nil, err
	}
	return &updateRounds{u, t}, nil
}

type updateRounds struct {
	*Updates
	t *target
}

func (u *updateRounds) measure(ctx context.Context, s *status) (*figures, error) {
	path := "/v1/boards/" + u.t.board(oneBoard) + "/scores"
	return u.Loop.closedRound(ctx, u.t, s, u.Loop.Duration, func(caller int) (call, error) {
		id := callerID(caller)
		return u.t.newBatches(ctx, path, "updates", u.Batch, func(to []byte, n int) []byte {
			return fmt.Appendf(to, `{"member":"%s","score":%d,"id":"%s-%d"}`, userName(rand.IntN(u.Members)), 1+rand.IntN(maxFlowers), id, n)
		}), nil
	})
}

func (u *updateRounds) bare(ctx context.Context, s *status) (*figures, error) {
	return u.Loop.bareRound(ctx, u.t, s, func() [][]any {
		return [][]any{{"ZINCRBY", bareKey + oneBoard, 1 + rand.Uint64N(maxFlowers), userName(rand.IntN(u.Members))}}
	})
}
