package ranking

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"rankcast/ranking/internal/script"
)

const (
	// rightsPauseFirst and rightsPauseMost bound the pause between two checks of the rights;
	// each check that fails doubles it.
	rightsPauseFirst = 100 * time.Millisecond
	rightsPauseMost  = 2 * time.Second
)

// CheckRights tries all that the Store and the feed need of Redis: each command, on keys and
// channels under each pattern of names. It changes nothing that lasts. It returns a
// MissingRightsError, or ErrUnavailable when Redis does not answer.
//
// After a MissingRightsError the Store sends no write until a later check succeeds: writes fail
// with that error. The same holds after an ErrUnavailable, unless an earlier check has succeeded.
func (s *Store) CheckRights(ctx context.Context) error {
	missing, err := s.tryRights(ctx)
	switch {
	case err != nil:
		err = fmt.Errorf("check the rights of the Redis user: %w", err)
		if !s.rights.checked.Load() {
			s.rights.closed.CompareAndSwap(nil, &closedGate{err})
		}
		return err
	case len(missing) > 0:
		err := &MissingRightsError{Reason: explainRights(missing, redisUser(s.rdb), s.cfg.Prefix)}
		s.rights.closed.Store(&closedGate{err})
		return err
	}
	s.rights.checked.Store(true)
	s.rights.closed.Store(nil)
	return nil
}

// MissingRights returns the MissingRightsError of the last check, or nil.
func (s *Store) MissingRights() error {
	var missing *MissingRightsError
	if errors.As(s.rights.err(), &missing) {
		return missing
	}
	return nil
}

// RecheckRights has RunRightsChecks check again, at once. Call it when Redis may have changed: when
// the feed is down, and when it is up again.
func (s *Store) RecheckRights() { s.rights.signal() }

// RunRightsChecks checks again until ctx ends: after a check that failed, after RecheckRights, and
// when Redis has refused a command to the Store. It logs each new reason once, and its end. It
// returns the error of ctx.
func (s *Store) RunRightsChecks(ctx context.Context, log *slog.Logger) error {
	logged := ""
	note := func(err error) {
		var missing *MissingRightsError
		switch {
		case errors.As(err, &missing) && missing.Reason != logged:
			logged = missing.Reason
			log.Warn("Redis refuses what this node needs; it accepts no writes until Redis allows it", "reason", logged)
		case err == nil && logged != "":
			logged = ""
			log.Info("Redis allows what this node needs")
		}
	}
	note(s.MissingRights())
	pause := rightsPauseFirst
	for {
		// The pause also bounds the checks while Redis refuses what no check tries.
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
		if s.rights.err() == nil && pause == rightsPauseFirst {
			select {
			case <-s.rights.refused:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		err := s.CheckRights(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		note(err)
		if pause = min(2*pause, rightsPauseMost); err == nil {
			pause = rightsPauseFirst
		}
	}
}

// rightsGate stops the writes of a Store while the rights of its Redis user do not suffice. It is a
// hook of the Redis client, so that each write passes it. It may be used concurrently.
type rightsGate struct {
	closed  atomic.Pointer[closedGate] // nil: writes pass
	checked atomic.Bool                // a check has succeeded
	refused chan struct{}              // holds one signal: check again
}

// trialKey marks the context of a check: the check itself looks at what Redis refuses to it.
type trialKey struct{}

// closedGate holds the error of each write that a gate stops.
type closedGate struct{ err error }

// writeCommands are the commands that a closed gate stops, as the client names them.
var writeCommands = func() map[string]bool {
	names := make(map[string]bool)
	for _, name := range script.WriteCommands {
		names[strings.ToLower(name)] = true
	}
	return names
}()

// writes reports whether a command changes a key.
func writes(cmd redis.Cmder) bool {
	if call, ok := cmd.(interface{ Writes() bool }); ok {
		return call.Writes()
	}
	return writeCommands[cmd.Name()]
}

// err returns the error of each write while the gate is closed, or nil.
func (g *rightsGate) err() error {
	if gate := g.closed.Load(); gate != nil {
		return gate.err
	}
	return nil
}

// signal has RunRightsChecks check again.
func (g *rightsGate) signal() {
	select {
	case g.refused <- struct{}{}:
	default:
	}
}

// observe signals when Redis has refused a command that the Store or the feed needs. If the gate is
// closed, its error names the right, so observe returns it in place of err.
func (g *rightsGate) observe(ctx context.Context, cmd redis.Cmder, err error) error {
	if err == nil || script.RefusalIn(err) == 0 || ctx.Value(trialKey{}) != nil || !slices.Contains(sentCommands, strings.ToUpper(cmd.Name())) {
		return err
	}
	g.signal()
	if known := g.err(); known != nil {
		cmd.SetErr(known)
		return known
	}
	return err
}

// DialHook is part of redis.Hook.
func (g *rightsGate) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook is part of redis.Hook.
func (g *rightsGate) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if err := g.err(); err != nil && writes(cmd) {
			cmd.SetErr(err)
			return err
		}
		return g.observe(ctx, cmd, next(ctx, cmd))
	}
}

// ProcessPipelineHook is part of redis.Hook.
func (g *rightsGate) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if err := g.err(); err != nil && slices.ContainsFunc(cmds, writes) {
			for _, cmd := range cmds {
				cmd.SetErr(err)
			}
			return err
		}
		err := next(ctx, cmds)
		if err != nil {
			for _, cmd := range cmds {
				g.observe(ctx, cmd, cmd.Err())
			}
		}
		return err
	}
}

// outcomeOf wraps the error of a write. The outcome is unknown, unless Redis refused the write
// before it changed anything.
func outcomeOf(err error) error {
	var missing *MissingRightsError
	if errors.As(err, &missing) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrOutcomeUnknown, err)
}

// redisUser names the ACL user of a client.
func redisUser(rdb redis.UniversalClient) string {
	name := ""
	switch rdb := rdb.(type) {
	case *redis.Client:
		name = rdb.Options().Username
	case *redis.ClusterClient:
		name = rdb.Options().Username
	}
	return cmp.Or(name, "default")
}
