package ranking

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"rankcast/ranking/internal/pipeline"
	"rankcast/ranking/internal/redisconn"
)

// CheckRights tries each command that the Store and the feed send to Redis, on keys and channels
// under each pattern of names, on each master of a cluster. A check leaves nothing behind in Redis. CheckRights returns
// a MissingRightsError when Redis refuses a command or all writes, and ErrUnavailable when Redis does
// not answer. Redis refuses all writes as a read-only replica, while it cannot write to its disk,
// while it has too few replicas, and at its maxmemory.
//
// After a MissingRightsError the Store sends no write until a later check succeeds: writes fail
// with that error. The same holds after an ErrUnavailable, unless an earlier check has succeeded.
// There are two exceptions. When Redis has begun to refuse all writes since a check that succeeded, the
// Store goes on sending writes. Redis refuses each of them as a whole, so the first write after a
// failover, or after the operator has made room on the disk, counts. At its maxmemory Redis refuses the
// writes that may take memory, and the Store sends them all: those that free memory go through.
func (s *Store) CheckRights(ctx context.Context) error { return s.rights.Check(ctx) }

// MissingRights returns the MissingRightsError of the last check, or nil.
func (s *Store) MissingRights() error { return s.rights.Missing() }

// ProbeWrite sends a write that changes nothing. It returns a MissingRightsError when Redis refuses
// the write, and ErrUnavailable when Redis does not answer. After a refusal RunRightsChecks checks
// again.
func (s *Store) ProbeWrite(ctx context.Context) error { return s.rights.Probe(ctx) }

// RecheckRights makes RunRightsChecks check again soon. Call RecheckRights when the node may have
// reached another Redis, or another user: when the feed is down, and when the feed is up again.
func (s *Store) RecheckRights() { s.rights.Recheck() }

// RunRightsChecks checks the rights again until ctx ends: after a check that failed, after
// RecheckRights, and after Redis has refused a command of the Store. Once a Config.ProbeInterval
// RunRightsChecks sends a write that changes nothing, because only a write shows that Redis refuses
// all writes. RunRightsChecks logs each new reason once, and logs when Redis allows all
// commands again. It returns the error of ctx.
func (s *Store) RunRightsChecks(ctx context.Context, log *slog.Logger) error {
	return s.rights.Run(ctx, log)
}

// outcomeOf wraps the error of a write. The outcome is unknown, unless Redis has not received the
// write, or refused the write before the write changed anything.
func outcomeOf(err error) error {
	var missing *MissingRightsError
	if errors.As(err, &missing) || errors.Is(err, pipeline.ErrNotSent) || redisconn.IsBusy(err) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrOutcomeUnknown, err)
}
