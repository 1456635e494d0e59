package bench

import (
	"context"
	"fmt"
	"time"

	"rankcast/cmd/rankcast/internal/term"
)

// work is what a command measures.
type work interface {
	about() about
	// prepare gives a target what the work needs, and returns what runs the rounds.
	prepare(ctx context.Context, t *target) (rounds, error)
}

// about describes a work, in a line each.
type about struct {
	Name     string `json:"work"`
	What     string `json:"about"`
	Settings string `json:"settings"`       // the numbers of its flags
	Unit     string `json:"unit"`           // one thing that is done: "gift"
	Bare     string `json:"bare,omitempty"` // the bare commands; "" for none
}

// rounds run a work against one target.
type rounds struct {
	measure func(ctx context.Context) (*figures, error)
	bare    func(ctx context.Context) (*figures, error) // the bare commands, on the Redis of the target; nil for none
}

// loopFlags are the flags of works that callers do in a closed loop.
type loopFlags struct {
	Callers int `default:"32" range:"1..10000" placeholder:"N" help:"Callers, each with a connection of its own, that send one request at a time (default ${default})."`
	// Up to five minutes: request ids stay unique, and no period ends unseen.
	Duration time.Duration `default:"10s" range:"10ms..5m" placeholder:"TIME" help:"Time to measure in a round (default ${default}). The bare commands get half of it."`
}

func (l *loopFlags) settings() string {
	return fmt.Sprintf("%s, %v", term.Counted(l.Callers, "caller"), l.Duration)
}

// rounds run callers in a closed loop. newCall makes the call of each, which the end of ctx ends. A bare call sends the commands
// of Redis that commands returns, one after the other. commands may be called concurrently.
func (l *loopFlags) rounds(t *target, newCall func(ctx context.Context, caller int) call, commands func() [][]any) rounds {
	return rounds{measure: func(ctx context.Context) (*figures, error) {
		return l.closedRound(ctx, t, l.Duration, newCall)
	}, bare: func(ctx context.Context) (*figures, error) {
		return l.bareRound(ctx, t, commands)
	}}
}

// closedRound measures callers of a target in a closed loop.
func (l *loopFlags) closedRound(ctx context.Context, t *target, duration time.Duration,
	newCall func(ctx context.Context, caller int) call) (*figures, error) {
	parent := ctx
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer time.AfterFunc(warmUp+duration+patience, cancel).Stop() // a server may never answer
	calls := make([]call, l.Callers)
	for i := range calls {
		calls[i] = newCall(ctx, i)
	}
	t.show("measuring")
	var readings []reading
	var endLateness func(*figures)
	all := runClosed(ctx, calls, duration, func() {
		readings = append(readings, t.read())
		if len(readings) == 1 {
			endLateness = measureLateness(ctx)
		}
	})
	f := newFigures()
	endLateness(f)
	if parent.Err() != nil {
		return nil, parent.Err()
	}
	f.addTally(all, readings[1].at.Sub(readings[0].at).Seconds())
	f.addUsage(readings[0], readings[1], all.done)
	if all.done == 0 {
		return nil, fmt.Errorf("%s: nothing was done: %s", t.name, errorList(f.Errors))
	}
	return f, nil
}

// bareRound is closedRound for commands of Redis.
func (l *loopFlags) bareRound(ctx context.Context, t *target, commands func() [][]any) (*figures, error) {
	f, err := l.closedRound(ctx, t, l.Duration/2, func(ctx context.Context, _ int) call {
		c := t.own.openRedis(ctx)
		return func(int) (outcome, error) {
			for _, one := range commands() {
				if err := c.Do(ctx, one...).Err(); err != nil {
					return outcome{}, err
				}
			}
			return outcome{done: 1}, nil
		}
	})
	if err == nil {
		delete(f.Values, nodeCPU.name) // the node has no part in it
	}
	return f, err
}
