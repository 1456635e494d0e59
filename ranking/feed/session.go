package feed

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// probesMissed is the number of probes in a row that may be missed. When Redis falls
// silent, as on a half-open connection, missing probes are the only sign of it.
const probesMissed = 3

var errSilent = errors.New("received nothing for three probe intervals")

// session is one connection to Redis, and the subscriptions on it.
type session struct {
	ps       *redis.PubSub
	channels *channels
	interval time.Duration // between probes
	lastSeen atomic.Int64  // when anything was received, ns since started by the monotonic clock
	started  time.Time
	ready    atomic.Bool // the session subscribes to channels

	// subscribe and unsubscribe send the commands for channels that channels.take has returned.
	subscribe, unsubscribe func(ctx context.Context, names ...string) error
	// probe makes Redis send something on the connection. The session calls it once an interval, and ends with its
	// error.
	probe func(ctx context.Context) error
	// handle handles a message. The session ends with its error.
	handle func(msg any) error
	// refused handles an error that Redis sent. The session ends with the error that it returns.
	refused func(err redis.Error) error
}

// newSession returns a session on a connection that has no subscriptions yet.
func newSession(ps *redis.PubSub, channels *channels, interval time.Duration) *session {
	return &session{ps: ps, channels: channels, interval: interval, started: time.Now()}
}

// start begins to subscribe to the channels that are wanted.
func (s *session) start() {
	s.ready.Store(true)
	s.channels.signal()
}

// silence is the time since the session last received anything. A step of the machine's clock does not
// change it.
func (s *session) silence() time.Duration {
	return time.Since(s.started) - time.Duration(s.lastSeen.Load())
}

// asOf is the time of this machine's clock at which the session last received anything.
func (s *session) asOf() time.Time { return time.Now().Add(-s.silence()) }

// run calls begin, and then receives until the connection fails or ctx ends. When begin returns, all that the
// session has started has ended.
func (s *session) run(ctx context.Context, begin func(ctx context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		cancel(s.maintain(ctx))
		s.ps.Close() // ends Receive
	})
	wg.Go(func() {
		if err := s.sendProbes(ctx); err != nil {
			cancel(fmt.Errorf("probe: %w", err))
		}
	})
	err := begin(ctx)
	for err == nil {
		var msg any
		// No deadline: after one, go-redis would lose its place within a message.
		msg, err = s.ps.Receive(ctx)
		var refused redis.Error
		switch {
		case err == nil:
			s.markReceived()
			err = s.handle(msg)
		case errors.As(err, &refused):
			s.markReceived()
			err = s.refused(refused)
		}
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	cancel(err)
	wg.Wait()
	return fmt.Errorf("%w, after %s", err, time.Since(s.started).Round(time.Millisecond))
}

func (s *session) markReceived() { s.lastSeen.Store(int64(time.Since(s.started))) }

// maintain subscribes to the channels that are wanted and leaves the others, as they change. It
// returns an error, which ends the session, when the session has received nothing for probesMissed
// intervals.
func (s *session) maintain(ctx context.Context) error {
	watchdog := time.NewTicker(s.interval)
	defer watchdog.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-watchdog.C:
			if s.silence() > probesMissed*s.interval {
				return errSilent
			}
		case <-s.channels.wake:
			if !s.ready.Load() {
				continue // start signals again
			}
			add, drop := s.channels.take()
			if len(add) > 0 {
				if err := s.subscribe(ctx, add...); err != nil {
					return fmt.Errorf("subscribe: %w", err)
				}
			}
			if len(drop) > 0 {
				if err := s.unsubscribe(ctx, drop...); err != nil {
					return fmt.Errorf("unsubscribe: %w", err)
				}
			}
		}
	}
}

// sendProbes calls probe at each interval until ctx ends.
func (s *session) sendProbes(ctx context.Context) error {
	tick := time.NewTicker(s.interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			call, cancel := context.WithTimeout(ctx, s.interval)
			err := s.probe(call)
			cancel()
			if err != nil {
				return err
			}
		}
	}
}
