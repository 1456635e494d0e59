package bench

import (
	"context"
	"fmt"
	"time"

	"rankcast/cmd/rankcast/internal/term"
)

// Join is rankcast bench join: sockets that connect and subscribe.
type Join struct {
	// Up to 250,000: each takes an open file.
	Sockets int `default:"5000" range:"1..250000" placeholder:"N" help:"Sockets that connect, and watch the first ten entries of one board (default ${default})."`
	Rate    int `default:"1000" range:"1..100000" placeholder:"N" help:"Sockets that connect in a second (default ${default})."`
	// Up to 5,000,000: the digits of a name hold them.
	Members int `default:"1000" range:"1..5000000" placeholder:"N" help:"Members of the board (default ${default})."`
}

func (j *Join) about() about {
	return about{
		Name: "join", What: "sockets that connect and watch the first ten of a board", Unit: "join",
		Settings: fmt.Sprintf("%s, %s a second, %s", term.Counted(j.Sockets, "socket"), term.Thousands(int64(j.Rate)),
			term.Counted(j.Members, "member")),
	}
}

func (j *Join) prepare(ctx context.Context, t *target) (rounds, error) {
	measure := func(ctx context.Context) (*figures, error) { return j.measure(ctx, t) }
	return rounds{measure: measure}, t.fillOne(ctx, spreadScores(j.Members, 1))
}

func (j *Join) measure(ctx context.Context, t *target) (*figures, error) {
	if err := t.restart(ctx); err != nil {
		return nil, err
	}
	f := newFigures()
	measureMemory := t.measureMemory(ctx, f)
	endLateness := measureLateness(ctx)
	from := t.read()
	subscribe := []string{fmt.Sprintf(`{"type":"subscribe","board":"%s","top":%d}`, t.board(oneBoard), shownTop)}
	c, err := t.gather(ctx, j.Sockets, j.Rate, func(int) []string { return subscribe }, func(int, []byte, time.Time) {})
	to := t.read()
	endLateness(f)
	if err != nil {
		return nil, err
	}
	defer c.leave()
	if err := measureMemory(c.joined.done); err != nil {
		return nil, err
	}
	c.leave()
	f.addTally(c.joined, c.took.Seconds())
	f.addUsage(from, to, c.joined.done)
	f.addErrors(c.lost.errors)
	f.set(figureSockets, float64(j.Sockets))
	return f, nil
}
