package main

import (
	"context"
	"log/slog"
	"time"

	"rankcast/ranking/fair"
)

// The limits of a stop. All count from the same moment, when the node is told to stop, so that the
// roles that stop one after the other do not add up their timeouts.
const (
	// clientsTimeout is how long clients may take to receive their answers and close their
	// connections. Then the node closes the connections.
	clientsTimeout = 4 * time.Second
	// redisTimeout is how long calls to Redis may wait for an answer. Then the node closes its
	// connections to Redis, which ends the calls: the end of a context does not.
	redisTimeout = 4500 * time.Millisecond
	// stopTimeout is how long the whole stop may take. Then the process ends as it is.
	stopTimeout = 5 * time.Second
)

// stopWithin returns the error of run. It returns nil if run is still at work when limit has passed
// since the end of ctx; the process must end then.
func stopWithin(ctx context.Context, limit time.Duration, log *slog.Logger, run func() error) error {
	ended := make(chan error, 1)
	go func() { ended <- run() }()
	late := make(chan struct{})
	defer afterEnd(ctx, limit, func() { close(late) })()
	select {
	case err := <-ended:
		return err
	case <-late:
		log.Warn("the time limit of a stop is over; the process ends although parts of it are still at work", "limit", limit)
		return nil
	}
}

// afterEnd calls f once d has passed since the end of ctx. cancel prevents a call that has not begun,
// and waits for one that has. Call cancel in any case.
func afterEnd(ctx context.Context, d time.Duration, f func()) (cancel func()) {
	return start(func(wanted context.Context) {
		select {
		case <-ctx.Done():
		case <-wanted.Done():
		}
		if fair.Pause(wanted, d) == nil {
			f()
		}
	})
}
