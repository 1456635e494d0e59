package bench

import (
	"context"

	"rankcast/cmd/rankcast/internal/term"
)

// oneBoard is the board of works that need one.
const oneBoard = "board"

// oneBoardFlags are the flags of works that callers do in a closed loop on one board.
type oneBoardFlags struct {
	Loop loopFlags `embed:""`
	// Up to 5,000,000: the digits of a name hold them.
	Members int `default:"100000" range:"1..5000000" placeholder:"N" help:"Members of the board (default ${default})."`
}

func (o *oneBoardFlags) settings() string {
	return term.Counted(o.Members, "member") + ", " + o.Loop.settings()
}

// rounds fills the board of a target, and returns the rounds of loopFlags.rounds.
func (o *oneBoardFlags) rounds(ctx context.Context, t *target, newCall func(ctx context.Context, caller int) call,
	commands func() [][]any) (rounds, error) {
	return o.Loop.rounds(t, newCall, commands), t.fillOne(ctx, spreadScores(o.Members, 1))
}

// spreadScores are the scores of a board before the measurement: member n is at rank n + 1, a step ahead of the next.
func spreadScores(members int, step int64) []row {
	rows := make([]row, members)
	for n := range rows {
		rows[n] = row{userName(n), int64(members-n) * step}
	}
	return rows
}
