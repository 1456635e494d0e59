package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"rankcast/cmd/rankcast/internal/term"
)

// work is what a command measures.
type work interface {
	// about describes what is measured, and settings its numbers, in a line each.
	about() string
	settings() string
	// unit is one thing that is done: "gift".
	unit() string
	// prepare gives a target what the work needs, and returns what runs the rounds.
	prepare(ctx context.Context, t *target, s *status) (rounds, error)
}

// rounds runs a work against one target, once for each call.
type rounds interface {
	measure(ctx context.Context, s *status) (*figures, error)
}

// bareRounds are rounds of a work that has bare commands. bare runs them on the Redis of the target.
type bareRounds interface {
	rounds
	// bareAbout describes the commands.
	bareAbout() string
	bare(ctx context.Context, s *status) (*figures, error)
}

// loopFlags are the flags of works that callers do in a closed loop.
type loopFlags struct {
	Callers  int           `default:"32" placeholder:"N" help:"Callers, each with a connection of its own, that send one request at a time (default ${default})."`
	Duration time.Duration `default:"10s" placeholder:"TIME" help:"Time to measure in a round (default ${default}). The bare commands get half of it."`
}

// Validate checks the flags.
func (l *loopFlags) Validate() error {
	if err := within("callers", l.Callers, 1, 10_000); err != nil {
		return err
	}
	return checkDuration(l.Duration)
}

func (l *loopFlags) settings() string {
	return fmt.Sprintf("%s, %v", count(l.Callers, "caller"), l.Duration)
}

// count is a number with its noun.
func count(n int, one string) string {
	if n != 1 {
		one += "s"
	}
	return term.Thousands(int64(n)) + " " + one
}

// within returns an error that names a flag whose value is out of bounds.
func within(flag string, n, least, most int) error {
	if n < least || n > most {
		return fmt.Errorf("--%s must be from %d to %d", flag, least, most)
	}
	return nil
}

// maxDuration bounds a round: request ids stay unique, and no period ends unseen.
const maxDuration = 5 * time.Minute

func checkDuration(d time.Duration) error {
	if d < 10*time.Millisecond || d > maxDuration {
		return fmt.Errorf("--duration must be from 10ms to %v", maxDuration)
	}
	return nil
}

// closedRound measures callers of a target in a closed loop. newCall makes the call of each.
func (l *loopFlags) closedRound(ctx context.Context, t *target, s *status, duration time.Duration,
	newCall func(caller int) (call, error)) (*figures, error) {
	parent := ctx
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()                                                // closes the connections
	defer time.AfterFunc(warmUp+duration+patience, cancel).Stop() // a server may never answer
	calls := make([]call, l.Callers)
	for i := range calls {
		var err error
		if calls[i], err = newCall(i); err != nil {
			return nil, err
		}
	}
	var readings []reading
	var late *lateness
	all := runClosed(ctx, calls, duration, func() {
		readings = append(readings, t.read())
		if len(readings) == 1 {
			s.timed(duration)
			late = startLateness(ctx)
		}
	})
	f := newFigures()
	late.end(f)
	s.endPhase()
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

// bareRound is closedRound for commands of Redis: each call sends those that commands returns, one after the other.
// commands may be called concurrently.
func (l *loopFlags) bareRound(ctx context.Context, t *target, s *status, commands func() [][]any) (*figures, error) {
	if t.own == nil {
		return nil, errors.New("the bare commands need a Redis of the command")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	f, err := l.closedRound(ctx, t, s, l.Duration/2, func(int) (call, error) {
		c := t.own.openRedis(ctx)
		return func(int) (outcome, error) {
			for _, one := range commands() {
				if err := c.Do(ctx, one...).Err(); err != nil {
					return outcome{}, err
				}
			}
			return outcome{done: 1}, nil
		}, nil
	})
	if err == nil {
		delete(f.Values, nodeCPU) // the node has no part in it
	}
	return f, err
}
