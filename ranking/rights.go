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

	"rankcast/ranking/internal/pipeline"
	"rankcast/ranking/internal/script"
)

const (
	// rightsPauseFirst and rightsPauseMost bound the pause between two checks of the rights.
	// Each check that fails doubles the pause.
	rightsPauseFirst = 100 * time.Millisecond
	rightsPauseMost  = 2 * time.Second
)

// CheckRights tries each command that the Store and the feed send to Redis, on keys and channels
// under each pattern of names. A check leaves nothing behind in Redis. CheckRights returns a
// MissingRightsError when Redis refuses a command or all writes, and ErrUnavailable when Redis does
// not answer. Redis refuses all writes as a read-only replica, while it cannot write to its disk,
// while it has too few replicas, and at its maxmemory.
//
// After a MissingRightsError the Store sends no write until a later check succeeds: writes fail
// with that error. The same holds after an ErrUnavailable, unless an earlier check has succeeded.
// There are two exceptions. When Redis has begun to refuse all writes since a check that succeeded, the
// Store goes on sending writes. Redis refuses each of them as a whole, so the first write after a
// failover, or after the operator has made room on the disk, counts. At its maxmemory Redis refuses the
// writes that may take memory, and the Store sends them all: those that free memory go through.
func (s *Store) CheckRights(ctx context.Context) error {
	missing, err := s.tryRights(ctx)
	switch {
	case err != nil:
		err = fmt.Errorf("check what Redis allows: %w", err)
		if !s.rights.checked.Load() {
			s.rights.closed.CompareAndSwap(nil, &closedGate{err: err})
		}
		return err
	case len(missing) > 0:
		err := missingRightsError(missing, redisUser(s.rdb), s.cfg.Prefix)
		other := func(m missingRight) bool { return m.refusal != script.NoMemory }
		full := !slices.ContainsFunc(missing, other)
		// A check cannot try all on a Redis that accepts no writes, so an earlier check must have. At maxmemory it can.
		allWrites := full || s.rights.checked.Load() && !slices.ContainsFunc(missing, func(m missingRight) bool {
			_, all := m.refusal.AllWrites()
			return !all
		})
		s.rights.closed.Store(&closedGate{err, allWrites, full})
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

// ProbeWrite sends a write that changes nothing. It returns a MissingRightsError when Redis refuses
// the write, and ErrUnavailable when Redis does not answer. After a refusal RunRightsChecks checks
// again.
func (s *Store) ProbeWrite(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	key := s.keys.WriteProbe()
	err := s.rdb.SetArgs(ctx, key, "", redis.SetArgs{Mode: "XX"}).Err() // a write that may take memory
	if err == nil || errors.Is(err, redis.Nil) {                        // there is no such key
		return nil
	}
	var known *MissingRightsError
	if errors.As(err, &known) {
		return err
	}
	if refusal := script.RefusalIn(err); refusal != 0 {
		return missingRightsError([]missingRight{{refusal: refusal, command: "SET", pattern: key}}, redisUser(s.rdb), s.cfg.Prefix)
	}
	return fmt.Errorf("%w: probe: %w", ErrUnavailable, err)
}

// RecheckRights makes RunRightsChecks check again soon. Call RecheckRights when the node may have
// reached another Redis, or another user: when the feed is down, and when the feed is up again.
func (s *Store) RecheckRights() { s.rights.signal() }

// RunRightsChecks checks the rights again until ctx ends: after a check that failed, after
// RecheckRights, and after Redis has refused a command of the Store. Once a Config.ProbeInterval
// RunRightsChecks sends a write that changes nothing, because only a write shows that Redis refuses
// all writes. RunRightsChecks logs each new reason once, and logs when Redis allows all
// commands again. It returns the error of ctx.
func (s *Store) RunRightsChecks(ctx context.Context, log *slog.Logger) error {
	logged := ""
	note := func(err error) {
		var missing *MissingRightsError
		switch {
		case errors.As(err, &missing) && missing.Reason != logged:
			logged = missing.Reason
			attributes := []any{"reason", logged}
			if len(missing.Masters) > 0 {
				attributes = append(attributes, "masters", missing.Masters)
			}
			log.Warn("Redis refuses what this node needs; the node accepts no writes until Redis allows it", attributes...)
		case err == nil && logged != "":
			logged = ""
			log.Info("Redis allows what this node needs")
		}
	}
	note(s.MissingRights())
	pause := rightsPauseFirst
	probe := time.NewTicker(s.cfg.ProbeInterval)
	defer probe.Stop()
	for {
		// The pause also limits the rate of the checks when Redis refuses a command that no check tries.
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
		if s.rights.err() == nil && pause == rightsPauseFirst {
			select {
			case <-s.rights.refused:
			case <-probe.C:
				s.ProbeWrite(ctx) // a refusal signals s.rights.refused
				continue
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

// rightsGate stops the writes of a Store while its Redis user lacks a right. The gate is a hook of
// the Redis client, so each write passes through it. All methods may be called concurrently.
type rightsGate struct {
	closed  atomic.Pointer[closedGate] // nil: the last check has succeeded
	checked atomic.Bool                // a check has succeeded
	refused chan struct{}              // holds one signal: check again
}

// trialKey marks the context of a check. The gate does not observe such a command, because the check
// itself handles each refusal.
type trialKey struct{}

// closedGate is the result of a check that failed.
type closedGate struct {
	err       error // of each write that the gate stops
	allWrites bool  // Redis itself refuses all writes, so the gate stops none
	full      bool  // Redis refuses the writes that may take memory, and nothing else
}

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

// err returns the error of the last check, or nil.
func (g *rightsGate) err() error {
	if gate := g.closed.Load(); gate != nil {
		return gate.err
	}
	return nil
}

// refusesAll returns the error of the last check if each write would fail by it, or nil.
func (g *rightsGate) refusesAll() error {
	if gate := g.closed.Load(); gate != nil && !gate.full {
		return gate.err
	}
	return nil
}

// stops returns the error of each write while the gate is closed to writes, or nil.
func (g *rightsGate) stops() error {
	if gate := g.closed.Load(); gate != nil && !gate.allWrites {
		return gate.err
	}
	return nil
}

// signal makes RunRightsChecks check again.
func (g *rightsGate) signal() {
	select {
	case g.refused <- struct{}{}:
	default:
	}
}

// observe signals when Redis has refused a command that the Store or the feed needs. After a check
// that failed, the error of the check names the right, so observe returns that error in place of err.
func (g *rightsGate) observe(ctx context.Context, cmd redis.Cmder, err error) error {
	if err == nil || script.RefusalIn(err) == 0 || ctx.Value(trialKey{}) != nil || !slices.Contains(sentCommands, strings.ToUpper(cmd.Name())) {
		return err
	}
	err = g.noteRefusal(err)
	cmd.SetErr(err)
	return err
}

// observeReply is observe for the reply of a script that another script called.
func (g *rightsGate) observeReply(r *script.Reply) {
	if script.RefusalIn(r.Err) != 0 {
		r.Err = g.noteRefusal(r.Err)
	}
}

// noteRefusal signals, and returns the error of the last check, or err after a check that succeeded.
func (g *rightsGate) noteRefusal(err error) error {
	g.signal()
	return cmp.Or(g.err(), err)
}

// DialHook is part of redis.Hook.
func (g *rightsGate) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook is part of redis.Hook.
func (g *rightsGate) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if err := g.stops(); err != nil && writes(cmd) {
			cmd.SetErr(err)
			return err
		}
		return g.observe(ctx, cmd, next(ctx, cmd))
	}
}

// ProcessPipelineHook is part of redis.Hook.
func (g *rightsGate) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if err := g.stops(); err != nil && slices.ContainsFunc(cmds, writes) {
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

// outcomeOf wraps the error of a write. The outcome is unknown, unless Redis has not received the
// write, or refused the write before the write changed anything.
func outcomeOf(err error) error {
	var missing *MissingRightsError
	if errors.As(err, &missing) || errors.Is(err, pipeline.ErrNotSent) || isBusy(err) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrOutcomeUnknown, err)
}

// isBusy reports whether Redis has refused a command because it loads its data, or runs a script for too long.
func isBusy(err error) bool {
	return redis.HasErrorPrefix(err, "LOADING") || redis.HasErrorPrefix(err, "BUSY ")
}

// redisUser names the ACL user of a client.
func redisUser(client *pipeline.Client) string {
	name := ""
	switch rdb := client.Unwrap().(type) {
	case *redis.Client:
		name = rdb.Options().Username
	case *redis.ClusterClient:
		name = rdb.Options().Username
	}
	return cmp.Or(name, "default")
}
