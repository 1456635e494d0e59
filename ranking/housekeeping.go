package ranking

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/script"
)

const (
	// housekeepingInterval is how often a node looks for due work. A node announces a
	// closed period within this time.
	housekeepingInterval = time.Second
	// housekeepingWorkers is the number of items that a node works on at the same time, and
	// the number that it claims at one time. So a claimed item waits for one other item at
	// most. housekeepingLease is how long the claim holds.
	housekeepingWorkers = 16
	housekeepingLease   = 30 * time.Second
	// housekeepingJoin is the number of due items that join those that wait for their turn
	// in one call: 4 ms of Redis. After housekeepingJoins calls the node claims items, also where
	// more are due. housekeepingHold is how long items wait before a node looks whether they still do.
	housekeepingJoin  = 500
	housekeepingJoins = 20
	housekeepingHold  = time.Minute
	// housekeepingLogInterval is the least time between two log lines about failures.
	housekeepingLogInterval = 10 * time.Second
	// familySlice bounds the time, and familyMost the instances, that housekeeping spends
	// on one definition before it turns to other due work. familyPage is the number of
	// instances in one read. familyAtOnce is the number that it deletes at the same time.
	familySlice  = time.Second
	familyMost   = 2000
	familyPage   = 250
	familyAtOnce = 16
	// undeliveredInterval is how often housekeeping puts a closed period among the
	// deliveries again, until it is delivered.
	undeliveredInterval = time.Hour
	// unknownInterval is how often housekeeping looks at an instance without a definition.
	unknownInterval = time.Hour
)

// RunHousekeeping does the work that falls due by the clock, until ctx ends. It announces
// closed periods, deletes data that are no longer kept, and deletes the data of deleted
// boards. It logs failures and tries again. Run it on each node: the nodes share the work,
// and each takes over from a node that fails. It returns the error of ctx.
func (s *Store) RunHousekeeping(ctx context.Context, log *slog.Logger) error {
	var wg sync.WaitGroup
	// Erasures go through many boards. They have an agenda and a goroutine of their own, so no other
	// work waits for them.
	wg.Go(func() { repeatDue(ctx, log, "erasures", s.eraseDue) })
	// Steps of histories are due at exact times.
	wg.Go(func() { repeatDue(ctx, log, "histories", s.recordDue) })
	c := newWorkers()
	repeatDue(ctx, log, "housekeeping", func(ctx context.Context) (more bool, err error) {
		defer logDropped(log, &s.dropped)
		defer logSettled(log, &s.settled, settlementsInterval)
		return s.startDue(ctx, c)
	})
	_ = c.wait() // ctx has ended their work
	logSettled(log, &s.settled, 0)
	wg.Wait()
	return ctx.Err()
}

// repeatDue does the work that is due, until ctx ends.
func repeatDue(ctx context.Context, log *slog.Logger, what string, due func(context.Context) (more bool, err error)) {
	tick := time.NewTicker(housekeepingInterval)
	defer tick.Stop()
	var logged time.Time
	for {
		more, err := due(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil && time.Since(logged) > housekeepingLogInterval {
			log.Warn(what+" failed; the node tries again", "error", err)
			logged = time.Now()
		}
		if more {
			continue
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// startDue begins work that is due now. It does not wait for the end of the work: a slow item delays others
// only where all workers are busy. more reports that more work is due. err includes the errors of work begun
// earlier.
func (s *Store) startDue(ctx context.Context, c *workers) (more bool, err error) {
	if s.rights.RefusesAll() != nil {
		return false, nil // each write would fail for the reason that RunRightsChecks logs
	}
	// This read takes place also when no work is due: when Redis has lost the definitions,
	// the node restores them from its copy. It comes first: the node claims nothing in data of another layout.
	if _, _, err := s.leasedDefinitions(ctx); err != nil {
		return false, errors.Join(err, c.failed())
	}
	due, more, err := s.claimTurns(ctx, housekeepingWorkers)
	if err != nil {
		return false, errors.Join(err, c.failed())
	}
	if err := s.noteReceiver(ctx); err != nil {
		return false, errors.Join(err, c.failed())
	}
	if len(due) > 0 {
		// What made an item due, as a member that another node hides everywhere, may be newer than this node's copy. Without an
		// answer the items go by that copy, within its lease.
		_, _ = s.catalog.readFresh(ctx)
	}
	for _, item := range due {
		c.start(func() error {
			if err := s.housekeep(ctx, item); err != nil {
				return fmt.Errorf("housekeeping of %q: %w", item.member, err)
			}
			return nil
		})
	}
	return more, c.failed()
}

// leasedDefinitions returns definitions that are fresh enough to delete data by, and the
// end of their lease, by Redis's clock in µs since 1970. The scripts enforce that end.
func (s *Store) leasedDefinitions(ctx context.Context) (d *definitions, until int64, err error) {
	if d, err = s.catalog.get(ctx); err != nil {
		return nil, 0, err
	}
	isOld := func() bool { return s.catalog.clock.now()-d.readAt > (lease / 2).Microseconds() }
	if isOld() {
		if d, err = s.catalog.readNewer(ctx, d); err != nil {
			return nil, 0, err
		}
	}
	if isOld() { // the read had begun long ago
		if d, err = s.catalog.readFresh(ctx); err != nil {
			return nil, 0, err
		}
	}
	return d, d.readAt + lease.Microseconds(), nil
}

// errStaleDefinitions reports that Redis refused a script because the lease of the
// definitions had ended.
var errStaleDefinitions = fmt.Errorf("%w: this node's copy of the definitions is too old", definition.ErrUnavailable)

// housekeep does the work for one item of the agenda. The item is an instance, a definition
// with work for all its instances, or a deleted event.
func (s *Store) housekeep(ctx context.Context, c claim) error {
	d, until, err := s.leasedDefinitions(ctx)
	if err != nil {
		return err
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
		return nil // it is deleted with its definition
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

// reschedule puts a claimed instance back on the agenda for a time in µs since 1970; 0: the
// instance has no data any more. A listing since the claim takes precedence.
func (s *Store) reschedule(ctx context.Context, c claim, slot string, next int64) error {
	if next >= definition.Never {
		return s.rescheduleOn(ctx, []string{s.keys.Agenda(), s.keys.Listing()}, c, 0) // it stays listed
	}
	keys := []string{s.keys.Agenda(), s.keys.Listing(), s.keys.Instances(slot), s.keys.PendingInstances(slot)}
	return s.rescheduleOn(ctx, keys, c, next)
}

func (s *Store) rescheduleOn(ctx context.Context, keys []string, c claim, next int64) error {
	return script.Plan.Run(ctx, s.rdb, keys, []any{c.member, c.until, c.since, timeArg(next)}).Err
}

// timeArg is a time for a script, in µs since 1970; "" for none.
func timeArg(at int64) string {
	if at <= 0 {
		return ""
	}
	return strconv.FormatInt(at, 10)
}

// scheduleNow puts instances on the agenda for now.
func (s *Store) scheduleNow(ctx context.Context, instances ...string) error {
	return s.scheduleIn(ctx, 0, instances...)
}

// scheduleIn puts instances on the agenda for a later time. An earlier time on the agenda
// stays.
func (s *Store) scheduleIn(ctx context.Context, after time.Duration, instances ...string) error {
	return s.schedule(ctx, s.keys.Agenda(), notLater, s.catalog.clock.now()+after.Microseconds(), instances...)
}

// scheduling says what schedule.lua changes.
type scheduling string

const (
	ifAbsent   scheduling = "NX" // only members that are not there
	notLater   scheduling = "LT" // no member becomes due later
	notEarlier scheduling = "GT" // no member becomes due earlier
)

// schedule sets when members of an agenda are due, in µs since 1970.
func (s *Store) schedule(ctx context.Context, agenda string, when scheduling, at int64, members ...string) error {
	for some := range slices.Chunk(members, 1000) {
		args := []any{string(when)}
		for _, member := range some {
			args = append(args, at, member)
		}
		if err := script.Schedule.Run(ctx, s.rdb, []string{agenda}, args).Err; err != nil {
			return err
		}
	}
	return nil
}

// housekeepInstance does the work that is due for an instance, and returns when the next
// falls due: in µs since 1970, or definition.Never. It returns 0 only if it found no data
// of the instance at its start. After a deletion it looks once more, because a failover may
// bring the data back.
func (s *Store) housekeepInstance(ctx context.Context, instance string, r *definition.Compiled, m *moderation,
	now, until int64) (next int64, err error) {
	if r.IsBuilt() {
		if busy, err := s.dropBuild(ctx, instance, ""); err != nil || busy {
			return now + relistAfter.Microseconds(), err
		}
	}
	periods, err := s.periodRecords(ctx, r, instance)
	if err != nil {
		return 0, err
	}
	if len(periods) == 0 {
		return s.forgetIDs(ctx, shardNames(r, instance)...)
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
				finished = false // its result is announced before retain deletes it
			}
			at, err := s.expireMembers(ctx, instance, r, p.Period, now, until)
			if err != nil {
				return 0, err
			}
			due(at)
			if p.reveals > 0 {
				due(p.reveals)
				finished = false
			}
			if r.History > 0 {
				if err := s.planHistory(ctx, instance, r, p.Period, now); err != nil {
					return 0, err
				}
				due(now + max(historyVisit, r.History).Microseconds())
			}
		case p.id == "": // not closed yet by the clock of its own master
			due(max(p.reveals, now+housekeepingInterval.Microseconds()))
			finished = false
		case !p.done:
			due(now + undeliveredInterval.Microseconds())
			finished = false
		case r.Calendar == nil: // deleted by retain
		case p.Opens.Before(oldest.Opens):
			drop = append(drop, p.Name)
		case !kept: // the later periods are deleted later
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
	return next, s.dropPeriods(ctx, r, instance, until, drop)
}

// housekeepPeriod settles a period that has closed, and schedules its delivery.
func (s *Store) housekeepPeriod(ctx context.Context, instance string, r *definition.Compiled, p periodRecord,
	now, until int64) (periodRecord, error) {
	if p.id == "" && r.Calendar != nil {
		// Use the time zone rules of today: the record may be from older rules.
		if named, ok := r.Calendar.Named(p.Name); ok {
			p.Period = named
		}
	}
	p.open = !r.PeriodEnded(p.Period, now)
	if p.frozen || p.id == "" && !p.open && r.Freeze > 0 {
		held, next, err := s.revealDue(ctx, instance, r, p.Period, now)
		if p.reveals = next; held || err != nil {
			return p, err
		}
	}
	if p.open {
		return p, nil
	}
	if p.id == "" {
		if r.MemberTTL > 0 {
			if _, err := s.expireMembers(ctx, instance, r, p.Period, now, until); err != nil {
				return p, err
			}
		}
		if r.History > 0 {
			if err := s.recordResult(ctx, instance, r, p.Period); err != nil {
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

// housekeepRetain deletes an instance whose time to retain is over, and reports whether it
// did. That time begins at the last write, at the last build of a result, or at the end of
// an activity. The caller has settled and delivered the closed periods. housekeepRetain
// returns when its next work falls due, in µs since 1970, or definition.Never.
func (s *Store) housekeepRetain(ctx context.Context, instance string, r *definition.Compiled, periods []periodRecord,
	now, until int64) (gone bool, next int64, err error) {
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
	newest := periods[len(periods)-1]
	wrote, err := s.lastWrite(ctx, newest)
	if err != nil {
		return false, 0, err
	}
	if wrote > cutoff {
		return false, wrote + retain, nil
	}
	if r.Retain == 0 {
		// Without retain only an unused result goes. One with a history stays for ever, as the history does.
		if recorded, err := s.anyOf(ctx, s.keys.Board(instance, newest.Name).History().State); recorded || err != nil {
			return false, definition.Never, err
		}
	}
	if gone, err = s.dropUnwritten(ctx, r, instance, until, periods, cutoff); gone && err == nil && r.Retain > 0 {
		// Without retain the board stays, and only has no data for a while.
		err = s.forgetHidden(ctx, instance)
	}
	if next = now + housekeepingInterval.Microseconds(); gone {
		next = now + relistAfter.Microseconds()
	}
	return gone, next, err
}

// housekeepUnknown handles an instance without a definition that was not deleted. It keeps
// the data until the board is defined again.
func (s *Store) housekeepUnknown(ctx context.Context, instance string) (next int64, err error) {
	periods, err := s.periodRecords(ctx, nil, instance)
	if err != nil {
		return 0, err
	}
	if len(periods) == 0 {
		return s.forgetIDs(ctx, shardNames(nil, instance)...)
	}
	return s.catalog.clock.now() + unknownInterval.Microseconds(), nil
}
