package bench

import (
	"context"
)

// Reads is rankcast bench reads: reads of the first ten entries of one board.
type Reads struct {
	Loop    loopFlags    `embed:""`
	Members int          `default:"100000" placeholder:"N" help:"Members of the board (default ${default})."`
	Program programFlags `embed:""`
}

// Validate checks the flags.
func (r *Reads) Validate() error { return checkMembers(r.Members) }

// Run measures.
func (r *Reads) Run(ctx context.Context) error { return r.Program.run(ctx, "reads", r) }

func (r *Reads) about() string { return "GET top?limit=10 of one board" }

func (r *Reads) settings() string { return count(r.Members, "member") + ", " + r.Loop.settings() }

func (r *Reads) unit() string { return "read" }

func (r *Reads) bareAbout() string { return "one ZREVRANGE 0 9 WITHSCORES, on a set of the same size" }

func (r *Reads) prepare(ctx context.Context, t *target, s *status) (rounds, error) {
	board := &Updates{Members: r.Members}
	if _, err := board.prepare(ctx, t, s); err != nil {
		return nil, err
	}
	return &readRounds{r, t}, nil
}

type readRounds struct {
	*Reads
	t *target
}

func (r *readRounds) measure(ctx context.Context, s *status) (*figures, error) {
	path := "/v1/boards/" + r.t.board(oneBoard) + "/top?limit=10"
	return r.Loop.closedRound(ctx, r.t, s, r.Loop.Duration, func(int) (call, error) {
		return r.t.newCall(ctx, "GET", path, 1, nil), nil
	})
}

func (r *readRounds) bare(ctx context.Context, s *status) (*figures, error) {
	return r.Loop.bareRound(ctx, r.t, s, func() [][]any {
		return [][]any{{"ZREVRANGE", bareKey + oneBoard, 0, 9, "WITHSCORES"}}
	})
}
