package bench

import (
	"context"
	"fmt"
	"time"

	"rankcast/cmd/rankcast/internal/term"
)

// Join is rankcast bench join: sockets that connect and subscribe.
type Join struct {
	Sockets int          `default:"5000" placeholder:"N" help:"Sockets that connect, and watch the first ten entries of one board (default ${default})."`
	Rate    int          `default:"1000" placeholder:"N" help:"Sockets that connect in a second (default ${default})."`
	Members int          `default:"1000" placeholder:"N" help:"Members of the board (default ${default})."`
	Program programFlags `embed:""`
}

// Validate checks the flags.
func (j *Join) Validate() error {
	if err := within("sockets", j.Sockets, 1, maxSockets); err != nil {
		return err
	}
	if err := within("rate", j.Rate, 1, 100_000); err != nil {
		return err
	}
	return checkMembers(j.Members)
}

// Run measures.
func (j *Join) Run(ctx context.Context) error { return j.Program.run(ctx, "join", j) }

func (j *Join) about() string { return "sockets that connect and watch the first ten of a board" }

func (j *Join) settings() string {
	return fmt.Sprintf("%s, %s a second, %s", count(j.Sockets, "socket"), term.Thousands(int64(j.Rate)), count(j.Members, "member"))
}

func (j *Join) unit() string { return "join" }

func (j *Join) prepare(ctx context.Context, t *target, s *status) (rounds, error) {
	board := &Updates{Members: j.Members}
	if _, err := board.prepare(ctx, t, s); err != nil {
		return nil, err
	}
	return &joinRounds{j, t}, nil
}

type joinRounds struct {
	*Join
	t *target
}

func (j *joinRounds) measure(ctx context.Context, s *status) (*figures, error) {
	if err := j.t.restart(ctx); err != nil {
		return nil, err
	}
	f := newFigures()
	memory, known := j.t.memory(ctx)
	late := startLateness(ctx)
	from := j.t.read()
	subscribe := []string{fmt.Sprintf(`{"type":"subscribe","board":"%s","top":%d}`, j.t.board(oneBoard), shownTop)}
	c, err := j.t.gather(ctx, s, j.Sockets, j.Rate, func(int) []string { return subscribe }, func(int, []byte, time.Time) {})
	to := j.t.read()
	late.end(f)
	if err != nil {
		return nil, err
	}
	defer c.leave()
	if known {
		after, _ := j.t.memory(ctx)
		f.set(socketMemory, float64(after-memory)/float64(c.joined.done))
	}
	f.addTally(c.joined, c.took.Seconds())
	f.addUsage(from, to, c.joined.done)
	f.addErrors(c.lost.total().errors)
	f.set(figureSockets, float64(j.Sockets))
	return f, nil
}
