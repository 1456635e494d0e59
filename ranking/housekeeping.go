package ranking

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/script"
)

const (
	// housekeepingInterval is how often a node looks what is due. A period that has closed is
	// announced within it.
	housekeepingInterval = time.Second
	// housekeepingClaim is how much is claimed at one time, housekeepingLease for how long, and
	// housekeepingWorkers how many work on it.
	housekeepingClaim   = 64
	housekeepingLease   = 30 * time.Second
	housekeepingWorkers = 16
	// housekeepingLogInterval is how often it is logged that boards cannot be looked after.
	housekeepingLogInterval = 10 * time.Second
	// familySlice and familyMost bound how much of a definition's instances is gone
	// through before what has fallen due meanwhile; familyAtOnce are taken down together.
	familySlice  = time.Second
	familyMost   = 2000
	familyPage   = 250
	familyAtOnce = 16
	// undeliveredInterval is how often it is made sure that a closed period is among the
	// deliveries, until it was delivered.
	undeliveredInterval = time.Hour
	// unknownInterval is how often an instance is looked at whose definition is not known.
	unknownInterval = time.Hour
)

// RunHousekeeping does what falls due by the clock, until ctx ends: it announces periods that
// have closed, lets go what is not kept any more, and takes down boards that were
// deleted. Run it on each node: they share the work, and stand in for one another.
func (s *Store) RunHousekeeping(ctx context.Context, log *slog.Logger) error {
	tick := time.NewTicker(housekeepingInterval)
	defer tick.Stop()
	var logged time.Time
	for {
		more, err := s.housekeepDue(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil && time.Since(logged) > housekeepingLogInterval {
			log.Warn("cannot look after boards, trying again", "error", err)
			logged = time.Now()
		}
		if more {
			continue
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// claim is something that this node looks after, for as long as it has claimed it.
type claim struct {
	member string
	until  string // its time on the agenda, as plan.lua wants it back
	since  int64  // when it was claimed, µs since 1970
}

// claimDue takes what is due off an agenda.
func (s *Store) claimDue(ctx context.Context, agenda string, most int, lease time.Duration) (due []claim, err error) {
	r, err := script.Claim.Run(ctx, s.rdb, []string{agenda}, []any{most, lease.Microseconds()})
	if err != nil {
		return nil, err
	}
	now := r.Number()
	if r.Err == nil {
		s.catalog.clock.set(now) // for good: what is due next is reckoned from it
	}
	for len(r.Rest) > 0 && r.Err == nil {
		due = append(due, claim{member: r.Text(), until: r.Text(), since: now})
	}
	return due, r.Err
}

// housekeepDue looks after what is due now; more says that there is more of it.
func (s *Store) housekeepDue(ctx context.Context) (more bool, err error) {
	due, err := s.claimDue(ctx, s.keys.Agenda(), housekeepingClaim, housekeepingLease)
	if err != nil {
		return false, err
	}
	if err := s.noteReceiver(ctx); err != nil {
		return false, err
	}
	// Also where nothing is due: what a node knows is what it defines again when Redis
	// has lost it.
	if _, _, err := s.leasedDefinitions(ctx); err != nil {
		return false, err
	}
	work := make(chan claim, len(due))
	for _, c := range due {
		work <- c
	}
	close(work)
	var errs []error
	var mu sync.Mutex // guards errs
	var wg sync.WaitGroup
	for range min(housekeepingWorkers, len(due)) {
		wg.Go(func() {
			for c := range work {
				if err := s.housekeep(ctx, c); err != nil {
					mu.Lock()
					errs = append(errs, fmt.Errorf("look after %q: %w", c.member, err))
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	return len(due) == housekeepingClaim, errors.Join(errs...)
}

// leasedDefinitions gives definitions that something may be taken away by, and until when, by
// Redis's clock in µs since 1970, which the scripts hold the caller to.
func (s *Store) leasedDefinitions(ctx context.Context) (d *definitions, until int64, err error) {
	if d, err = s.catalog.get(ctx); err != nil {
		return nil, 0, err
	}
	if s.catalog.clock.now()-d.readAt > (lease / 2).Microseconds() {
		if d, err = s.catalog.readNewer(ctx, d); err != nil {
			return nil, 0, err
		}
	}
	return d, d.readAt + lease.Microseconds(), nil
}

// errStaleDefinitions is that Redis has not done what was asked by definitions of before that.
var errStaleDefinitions = fmt.Errorf("%w: the definitions that this node has have grown old", ErrUnavailable)

// housekeep looks after an instance, after a definition of which something is to be done
// for all its instances, after an event that was taken away, or a member that is erased.
func (s *Store) housekeep(ctx context.Context, c claim) error {
	d, until, err := s.leasedDefinitions(ctx)
	if err != nil {
		return err
	}
	if strings.HasPrefix(c.member, erasePrefix) {
		next, err := s.housekeepErasure(ctx, d, c)
		if err != nil {
			return err
		}
		return s.rescheduleOn(ctx, []string{s.keys.Agenda()}, c, next)
	}
	if strings.HasPrefix(c.member, "/") {
		next, err := s.forgetIDs(ctx, c.member)
		if err != nil {
			return err
		}
		return s.rescheduleOn(ctx, []string{s.keys.Agenda()}, c, next)
	}
	if strings.Contains(c.member, "/") {
		return s.housekeepFamily(ctx, d, c, until)
	}
	n, err := definition.ParseName(c.member)
	if err != nil {
		return err
	}
	if _, leaving := d.leaving[n.Slot()]; leaving {
		return nil // it goes with its definition
	}
	var next int64
	if rule := d.boards[n.Slot()]; rule != nil {
		next, err = s.housekeepInstance(ctx, n.Instance(), rule, d.hidden, c.since, until)
	} else {
		next, err = s.housekeepUnknown(ctx, n.Instance())
	}
	if err != nil {
		return err
	}
	return s.reschedule(ctx, c, n.Slot(), next)
}

// reschedule says when a claimed instance is to be looked after again, in µs since 1970; 0:
// there is nothing of it any more. Whoever has listed it meanwhile has the last word.
func (s *Store) reschedule(ctx context.Context, c claim, slot string, next int64) error {
	if next >= definition.Never {
		return s.rescheduleOn(ctx, []string{s.keys.Agenda(), s.keys.Listing()}, c, 0) // it stays an instance
	}
	return s.rescheduleOn(ctx, []string{s.keys.Agenda(), s.keys.Listing(), s.keys.Instances(slot)}, c, next)
}

func (s *Store) rescheduleOn(ctx context.Context, keys []string, c claim, next int64) error {
	at := ""
	if next > 0 {
		at = strconv.FormatInt(next, 10)
	}
	_, err := script.Plan.Run(ctx, s.rdb, keys, []any{c.member, c.until, c.since, at})
	return err
}

// scheduleNow puts instances on the agenda for now.
func (s *Store) scheduleNow(ctx context.Context, instances ...string) error {
	return s.scheduleIn(ctx, 0, instances...)
}

// scheduleIn puts instances on the agenda for after a time.
func (s *Store) scheduleIn(ctx context.Context, after time.Duration, instances ...string) error {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	at := float64(s.catalog.clock.now() + after.Microseconds())
	members := make([]redis.Z, len(instances))
	for i, instance := range instances {
		members[i] = redis.Z{Score: at, Member: instance}
	}
	if err := s.rdb.ZAddArgs(ctx, s.keys.Agenda(), redis.ZAddArgs{LT: true, Members: members}).Err(); err != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return nil
}

// housekeepInstance does what is due of an instance at a time, and says when something will be next,
// in µs since 1970, or never, and 0 that there is nothing of it any more: found so by
// a look that found nothing, not by the one that took the last away, since a failover
// may bring that back.
func (s *Store) housekeepInstance(ctx context.Context, instance string, r *definition.Compiled, m *moderation, now, until int64) (next int64, err error) {
	if r.IsBuilt() {
		if busy, err := s.dropBuild(ctx, instance, ""); err != nil || busy {
			return now + relistAfter.Microseconds(), err
		}
	}
	periods, err := s.periodRecords(ctx, instance)
	if err != nil {
		return 0, err
	}
	if len(periods) == 0 {
		return s.forgetIDs(ctx, instance)
	}
	if err := s.moderate(ctx, instance, r, m, periods); err != nil {
		return 0, err
	}
	next = definition.Never
	due := func(at int64) { next = min(next, at) }
	var drop []string
	finished, kept, oldest := true, false, r.OldestReadable(now)
	for _, p := range periods {
		if p, err = s.housekeepPeriod(ctx, instance, r, p, now, until); err != nil {
			return 0, err
		}
		switch {
		case p.open:
			if end := r.PeriodEnd(p.Period); !end.IsZero() {
				due(end.UnixMicro())
				finished = false // what it comes to is announced before retain lets it go
			}
			at, err := s.expireMembers(ctx, instance, r, p.Period, now, until)
			if err != nil {
				return 0, err
			}
			due(at)
		case p.id == "": // not closed yet by the clock of its own master
			due(now + housekeepingInterval.Microseconds())
			finished = false
		case !p.done:
			due(now + undeliveredInterval.Microseconds())
			finished = false
		case r.Calendar == nil: // goes by retain
		case p.Opens.Before(oldest.Opens):
			drop = append(drop, p.Name)
		case !kept: // those after it go later
			due(r.PeriodDropAt(p.Period))
			kept = true
		}
	}
	if r.IsWindowed() {
		at, err := s.housekeepWindow(ctx, instance, r, now, until)
		if err != nil {
			return 0, err
		}
		due(at)
	}
	if finished {
		gone, at, err := s.housekeepRetain(ctx, instance, r, periods, now, until)
		if err != nil {
			return 0, err
		}
		if due(at); gone {
			return next, nil
		}
	}
	if len(drop) == len(periods) {
		due(now + relistAfter.Microseconds())
	}
	return next, s.dropPeriods(ctx, instance, until, drop)
}

// housekeepPeriod settles a period that has closed, and has it delivered.
func (s *Store) housekeepPeriod(ctx context.Context, instance string, r *definition.Compiled, p periodRecord, now, until int64) (periodRecord, error) {
	if p.id == "" && r.Calendar != nil {
		// By the zone as it is known now: what was noted may be by older rules.
		if named, ok := r.Calendar.Named(p.Name); ok {
			p.Period = named
		}
	}
	if p.open = !r.PeriodEnded(p.Period, now); p.open {
		return p, nil
	}
	if p.id == "" {
		if r.MemberTTL > 0 {
			if _, err := s.expireMembers(ctx, instance, r, p.Period, now, until); err != nil {
				return p, err
			}
		}
		var err error
		if p, err = s.settle(ctx, instance, r, p, until); err != nil || p.id == "" {
			return p, err
		}
	}
	return s.scheduleDelivery(ctx, instance, r, p)
}

// housekeepRetain lets an instance go that was not written to for as long as it is to be
// retained, or a result that nobody has asked for, or an activity that ended so long ago; what has closed is settled and
// delivered. It says when there will be something to do next.
func (s *Store) housekeepRetain(ctx context.Context, instance string, r *definition.Compiled, periods []periodRecord, now, until int64) (gone bool, next int64, err error) {
	if retention(r) == 0 {
		return false, definition.Never, nil
	}
	retain, cutoff := retention(r).Microseconds(), now-retention(r).Microseconds()
	if !r.Ends.IsZero() {
		if goes := r.Ends.UnixMicro() + retain; goes > now {
			return false, goes, nil
		}
		cutoff = now
	}
	wrote, err := s.lastWrite(ctx, s.keys.Board(instance, periods[len(periods)-1].Name))
	if err != nil {
		return false, 0, err
	}
	if wrote > cutoff {
		return false, wrote + retain, nil
	}
	if gone, err = s.dropUnwritten(ctx, instance, until, periods, cutoff); gone && err == nil && r.Retain > 0 {
		// Else it is there for good, and only has nothing for a while.
		err = s.forgetHidden(ctx, instance)
	}
	if next = now + housekeepingInterval.Microseconds(); gone {
		next = now + relistAfter.Microseconds()
	}
	return gone, next, err
}

// housekeepUnknown looks after an instance whose definition is not known, which does not
// come of a deletion. So its data stay, for the day that it is defined again.
func (s *Store) housekeepUnknown(ctx context.Context, instance string) (next int64, err error) {
	periods, err := s.periodRecords(ctx, instance)
	if err != nil {
		return 0, err
	}
	if len(periods) == 0 {
		return s.forgetIDs(ctx, instance)
	}
	return s.catalog.clock.now() + unknownInterval.Microseconds(), nil
}
