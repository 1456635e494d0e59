package ranking

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"rankcast/ranking/internal/script"
)

// claim is one item of an agenda that this node has claimed for a time.
type claim struct {
	member string
	until  string // its time on the agenda, as plan.lua expects it
	since  int64  // when the node claimed it, µs since 1970
}

// claimDue claims up to most due items of an agenda for the time of lease.
func (s *Store) claimDue(ctx context.Context, agenda string, most int, lease time.Duration) (due []claim, err error) {
	r := script.Claim.Run(ctx, s.rdb, []string{agenda}, []any{most, lease.Microseconds()})
	now := s.takeClock(r)
	return takeClaims(r, now)
}

// takeClock takes Redis's clock, with which the answer of a script that claims items begins.
func (s *Store) takeClock(r *script.Reply) (now int64) {
	if now = r.Number(); r.Err == nil {
		s.catalog.clock.set(now) // also backwards: the next due time is computed from it
	}
	return now
}

// takeClaim takes the next item from the answer of a script that claims items.
func takeClaim(r *script.Reply, now int64) claim {
	return claim{member: r.Text(), until: r.Text(), since: now}
}

// takeClaims takes all further items.
func takeClaims(r *script.Reply, now int64) (due []claim, err error) {
	for r.More() {
		due = append(due, takeClaim(r, now))
	}
	return due, r.Err
}

// claimTurns claims up to most items of the agenda of housekeeping, one of each definition in turn. So
// the instances of one family do not delay other boards, however many are due. more reports that more
// items are due.
func (s *Store) claimTurns(ctx context.Context, most int) (due []claim, more bool, err error) {
	for joins := 1; ; joins++ {
		began := time.Now()
		r := script.Assign.Run(ctx, s.rdb, []string{s.keys.Agenda(), s.keys.Waiting(), s.keys.WaitingTurns()},
			[]any{most, housekeepingLease.Microseconds(), housekeepingJoin, housekeepingHold.Microseconds(), joins == housekeepingJoins})
		now, state := s.takeClock(r), r.Text()
		if due, err = takeClaims(r, now); err != nil {
			return nil, false, err
		}
		if state != "join" {
			return due, state == "more", nil
		}
		if err := restAfter(ctx, began); err != nil {
			return nil, false, err
		}
	}
}

// workers work on claimed items, at most housekeepingWorkers of them at a time. One goroutine at a
// time may use it.
type workers struct {
	items errgroup.Group // in work
	mu    sync.Mutex     // guards errs
	errs  []error        // since the last call of failed
}

func newWorkers() *workers {
	c := new(workers)
	c.items.SetLimit(housekeepingWorkers)
	return c
}

// start begins the work on an item, as soon as another item leaves a place.
func (c *workers) start(work func() error) {
	c.items.Go(func() error {
		if err := work(); err != nil {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.errs = append(c.errs, err)
		}
		return nil
	})
}

// failed returns the errors of the work that has ended since the last call.
func (c *workers) failed() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	err := errors.Join(c.errs...)
	c.errs = nil
	return err
}

// wait waits for the end of all work that was started, and returns its errors.
func (c *workers) wait() error {
	_ = c.items.Wait()
	return c.failed()
}
