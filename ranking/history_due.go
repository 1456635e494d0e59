package ranking

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"rankcast/ranking/calendar"
	"rankcast/ranking/definition"
	"rankcast/ranking/internal/script"
)

const (
	// historyAtOnce is the number of boards that a node claims and looks at together: about 3 ms of
	// Redis. historyLease is how long the claim holds. It is shorter than any step. So a board whose node
	// dies loses none.
	historyAtOnce = 128
	historyLease  = 5 * time.Second
	// historyVisit is how often housekeeping visits a board with a history. The visit puts the board on
	// the agenda of histories again, if a failover has lost that.
	historyVisit = 15 * time.Minute
	// historyResults is the number of steps for which retain spares a result or a window with a history. A
	// step builds it, so it is in use until the next step.
	historyResults = 3
	// freshAtOnce is the number of results and live windows that a node brings up to date at the same
	// time. freshWithin is the longest time for which the other boards of the claim wait for that.
	freshAtOnce = 8
	freshWithin = time.Second
)

// historyClaim is a claimed board whose step is due.
type historyClaim struct {
	claim
	look   *historyLook // nil: there is nothing to record
	next   string       // when it is due again, as replan.lua expects it; "": never
	failed bool         // nothing is known of the board; it is due again when the claim ends
}

// planHistory puts a board-period that is open on the agenda of histories: for now, if it is not there,
// and no later than the next step.
func (s *Store) planHistory(ctx context.Context, instance string, r *definition.Compiled, p calendar.Period, now int64) error {
	agenda := s.keys.HistoryAgenda()
	if err := s.schedule(ctx, agenda, ifAbsent, now, instance); err != nil {
		return err
	}
	return s.schedule(ctx, agenda, notLater, nextStep(now, r.HistoryStep(p)), instance)
}

// nextStep is the next multiple of a step after a moment, both by Redis's clock in µs since 1970.
func nextStep(now int64, step time.Duration) int64 {
	us := step.Microseconds()
	return (now/us + 1) * us
}

// recordDue records the histories of boards whose next step is due. more reports that more may be due.
func (s *Store) recordDue(ctx context.Context) (more bool, err error) {
	if s.MissingRights() != nil {
		return false, nil // each record would fail for the reason that RunRightsChecks logs
	}
	due, err := s.claimDue(ctx, s.keys.HistoryAgenda(), historyAtOnce, historyLease)
	if err != nil || len(due) == 0 {
		return false, err
	}
	began := time.Now()
	d, _, err := s.leasedDefinitions(ctx)
	if err != nil {
		return false, err
	}
	claims := make([]historyClaim, len(due))
	for i, c := range due {
		claims[i] = s.historyClaim(d, c)
	}
	err = errors.Join(s.freshen(ctx, d, claims), s.recordClaims(ctx, claims), s.replan(ctx, claims), s.forgetMany(ctx, claims))
	if err != nil {
		return false, err
	}
	return len(due) == historyAtOnce, restAfter(ctx, began)
}

// historyClaim finds out what to record of a claimed board.
func (s *Store) historyClaim(d *definitions, c claim) historyClaim {
	n, err := definition.ParseName(c.member)
	if err != nil {
		return historyClaim{claim: c}
	}
	r, leaving := d.boards[n.Slot()], false
	if r != nil {
		_, leaving = d.leaving[n.Slot()]
	}
	if r == nil || leaving || r.History == 0 {
		return historyClaim{claim: c} // housekeeping puts it back when that changes
	}
	p := r.CurrentPeriod(c.since)
	if r.PeriodEnded(p, c.since) {
		return historyClaim{claim: c} // recordResult does the rest
	}
	look := s.newHistoryLook(n.Instance(), r, p)
	return historyClaim{claim: c, look: look, next: fmt.Sprint(nextStep(c.since, look.step))}
}

// freshen brings the results and the live windows among claimed boards up to date, as a reader does. A board
// whose result is still being built is due again a moment later. freshen builds nothing where there are no
// members: each build counts as a use of the board, and retain would never delete it.
func (s *Store) freshen(ctx context.Context, d *definitions, claims []historyClaim) error {
	ctx, cancel := context.WithTimeout(WithoutBuilds(ctx), freshWithin)
	defer cancel()
	var boards errgroup.Group
	boards.SetLimit(freshAtOnce)
	errs := make([]error, len(claims)) // the group would keep only the first
	for i := range claims {
		c := &claims[i]
		if c.look == nil || !c.look.rule.IsBuilt() && !c.look.rule.IsWindowed() {
			continue
		}
		boards.Go(func() error {
			some, err := s.hasMembers(ctx, d, c.look)
			if some && err == nil {
				_, err = s.read(ctx, c.member, Query{})
			}
			if err == nil {
				return nil
			}
			c.look, c.next = nil, fmt.Sprint(c.since+housekeepingInterval.Microseconds())
			if c.failed = !errors.Is(err, definition.ErrNotBuilt) && ctx.Err() == nil; c.failed {
				errs[i] = err
			}
			return nil
		})
	}
	_ = boards.Wait()
	return errors.Join(errs...)
}

// hasMembers reports whether a result or a window has members, or data from which a build or an update could
// give it members.
func (s *Store) hasMembers(ctx context.Context, d *definitions, l *historyLook) (bool, error) {
	some, err := s.anyOf(ctx, l.keys.Members, l.keys.Window[0])
	if some || err != nil || l.rule.IsWindowed() {
		return some, err
	}
	sources, err := s.unionSources(l.rule, d, l.instance, s.catalog.clock.now())
	if err != nil {
		return false, err
	}
	return s.anyOf(ctx, dataKeys(sources)...)
}

// recordClaims records the claimed boards.
func (s *Store) recordClaims(ctx context.Context, claims []historyClaim) error {
	var looks []*historyLook
	for _, c := range claims {
		if c.look != nil {
			looks = append(looks, c.look)
		}
	}
	s.record(ctx, looks)
	var errs []error
	for i := range claims {
		c := &claims[i]
		switch {
		case c.look == nil:
		case c.look.err != nil:
			errs = append(errs, fmt.Errorf("board %q: %w", c.member, c.look.err))
			c.failed = true
		case c.look.outcome == lookedAtNothing:
			c.next = ""
		case c.look.outcome == lookedTooLate:
			c.next = fmt.Sprint(c.since + housekeepingInterval.Microseconds())
		}
	}
	return errors.Join(errs...)
}

// forgetMany forgets members of the histories that name too many.
func (s *Store) forgetMany(ctx context.Context, claims []historyClaim) error {
	for _, c := range claims {
		if c.look != nil && c.look.names > s.maxNames {
			if err := s.forgetNames(ctx, c.look); err != nil {
				return fmt.Errorf("forget members of the history of %q: %w", c.member, err)
			}
		}
	}
	return nil
}

// replan puts claimed boards back on the agenda.
func (s *Store) replan(ctx context.Context, claims []historyClaim) error {
	args := []any{claims[0].since}
	for _, c := range claims {
		if !c.failed {
			args = append(args, c.member, c.until, c.next)
		}
	}
	return script.Replan.Run(ctx, s.rdb, []string{s.keys.HistoryAgenda(), s.keys.Listing()}, args).Err
}
