package ranking

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/script"
)

const (
	// sweepLive and sweepBuilt are how many events go in one call of sweep.lua, which
	// holds Redis for about 2 ms then: each of a live board may change a score, which is
	// told of.
	sweepLive  = 64
	sweepBuilt = 160
	// windowInterval is how often a window is looked after, at least, that nobody reads or
	// writes to; more often where more than windowDue events go in that time, so that who
	// comes to read a live board waits for a third of a second.
	windowInterval = 10 * time.Minute
	windowDue      = 4000
)

// swept is how far a window has come.
type swept struct {
	now    int64 // Redis's clock, µs since 1970
	went   int64 // events that went with this call
	oldest int64 // when the oldest happened that there is, ms since 1970; 0: there is none
}

// isOverdue reports whether the oldest event of a window has left it.
func isOverdue(r *definition.Compiled, oldest, now int64) bool {
	return oldest > 0 && oldest <= now/1000-r.Window.Milliseconds()
}

// sweepCall has events go whose time is over, in one call. until is when what is known of
// the board is too old, in µs since 1970.
func (s *Store) sweepCall(ctx context.Context, instance string, r *definition.Compiled, until int64) (swept, error) {
	k := s.keys.Board(instance, "")
	most := sweepBuilt
	if r.IsLive() {
		most = sweepLive
	}
	args := append(scriptHead(r, k, instance, ""), until, r.Shape, r.Window.Milliseconds(), string(r.Mode), liveFlag(r.Board), most, newEpoch())
	reply, err := s.callScript(ctx, script.Sweep, append(append(k.Head(), k.Window[:]...), s.keys.Build(instance).Lock), args)
	if err != nil {
		return swept{}, err
	}
	switch reply.Text() {
	case "ok":
		at := swept{now: reply.Number(), went: reply.Number(), oldest: reply.Number()}
		return at, reply.Err
	case "stale":
		return swept{}, errStaleDefinitions
	case "shape":
		return swept{}, conflict("board", "%q holds data of another order than it is defined with: delete it first", instance)
	}
	reply.Fail("is none of a window")
	return swept{}, reply.Err
}

// sweepWindow has events go until none is left that is over and may go.
func (s *Store) sweepWindow(ctx context.Context, instance string) (swept, error) {
	n, err := definition.ParseName(instance)
	if err != nil {
		return swept{}, err
	}
	for old := false; ; {
		d, until, err := s.leasedDefinitions(ctx)
		if err != nil {
			return swept{}, err
		}
		r, err := d.compiled(n)
		if err != nil {
			return swept{}, err
		}
		if !r.IsWindowed() {
			return swept{}, fmt.Errorf("%w: it was defined otherwise meanwhile", ErrUnavailable)
		}
		began := time.Now()
		at, err := s.sweepCall(ctx, instance, r, until)
		if errors.Is(err, errStaleDefinitions) && !old {
			old = true
			if _, err := s.catalog.readNewer(ctx, d); err != nil {
				return swept{}, err
			}
			continue
		}
		if err != nil || at.went == 0 || !isOverdue(r, at.oldest, at.now) {
			return at, err
		}
		if err := pauseAfter(ctx, time.Since(began)); err != nil {
			return swept{}, err
		}
	}
}

// sweepRun is a sweep of a live board under way, which all share who want one.
type sweepRun struct {
	began time.Time
	done  chan struct{} // closed when it has ended; what follows is read after that
	at    swept
	err   error
}

// startSweep has a live board be swept, by this node once at a time. Nobody who waits for
// it ends it.
func (s *Store) startSweep(instance string) *sweepRun {
	bs := &s.builds
	bs.mu.Lock()
	defer bs.mu.Unlock()
	if w := bs.swept[instance]; w != nil {
		return w
	}
	if bs.swept == nil {
		bs.swept = make(map[string]*sweepRun)
	}
	w := &sweepRun{began: time.Now(), done: make(chan struct{})}
	bs.swept[instance] = w
	bs.running.Go(func() {
		defer close(w.done)
		if w.at, w.err = s.sweepWindow(bs.end, instance); w.err != nil {
			w.err = fmt.Errorf("bring the window of %q up to now: %w", instance, w.err)
		}
		bs.mu.Lock()
		defer bs.mu.Unlock()
		delete(bs.swept, instance)
	})
	return w
}

// sweepToNow sees to it that a live board is as of now: that nothing counts any more that
// was over at the time that it returns, by Redis's clock in µs since 1970.
func (s *Store) sweepToNow(ctx context.Context, instance string) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	w := s.startSweep(instance)
	select {
	case <-w.done:
		return w.at.now, w.err
	case <-ctx.Done():
		return 0, fmt.Errorf("%w: its window is being brought up to now: %w", ErrUnavailable, ctx.Err())
	}
}

// sweepWait is for how long updates wait until what is over has gone. After that they are
// carried out all the same, and answered by what is there.
const sweepWait = 500 * time.Millisecond

// awaitSweep has a window be swept, and reports whether that was done in time.
func (s *Store) awaitSweep(ctx context.Context, instance string) bool {
	w := s.startSweep(instance)
	late := time.NewTimer(time.Until(w.began.Add(sweepWait)))
	defer late.Stop()
	select {
	case <-w.done:
		return w.err == nil
	case <-late.C:
	case <-ctx.Done():
	}
	return false
}

// housekeepWindow has events go of a window that nobody may read or write to, and says when to
// look again, in µs since 1970, or never.
func (s *Store) housekeepWindow(ctx context.Context, instance string, r *definition.Compiled, now, until int64) (next int64, err error) {
	for stop := time.Now().Add(familySlice); ; {
		began := time.Now()
		at, err := s.sweepCall(ctx, instance, r, until)
		switch {
		case err != nil:
			return 0, err
		case at.oldest == 0:
			next, err := s.erasedKeptUntil(ctx, instance, r)
			if err != nil || next > at.now || time.Now().After(stop) {
				return next, err
			}
		case at.went == 0 || !isOverdue(r, at.oldest, at.now):
			look, err := s.nextSweepIn(ctx, instance, r, at.now)
			return max((at.oldest+r.Window.Milliseconds())*1000, now+look.Microseconds()), err
		case time.Now().After(stop):
			return now, nil
		}
		if err := pauseAfter(ctx, time.Since(began)); err != nil {
			return 0, err
		}
	}
}

// nextSweepIn is after what time a window is looked after again.
func (s *Store) nextSweepIn(ctx context.Context, instance string, r *definition.Compiled, now int64) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	until := strconv.FormatInt(now/1000-r.Window.Milliseconds()+windowInterval.Milliseconds(), 10)
	due, err := s.rdb.ZCount(ctx, s.keys.Board(instance, "").Window[0], "-inf", until).Result()
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return max(windowInterval*windowDue/time.Duration(max(due, windowDue)), housekeepingInterval), nil
}

// erasedKept is for how long who is forgotten is so, on top of the window: as long as a
// build may take, see window.lua.
const erasedKept = 10 * time.Minute

// erasedKeptUntil is when the first who is forgotten in a window is not any more, in µs since
// 1970, or never.
func (s *Store) erasedKeptUntil(ctx context.Context, instance string, r *definition.Compiled) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	first, err := s.rdb.ZRangeWithScores(ctx, s.keys.Board(instance, "").Window[2], 0, 0).Result()
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	if len(first) == 0 {
		return definition.Never, nil
	}
	return int64(first[0].Score) + (r.Window + erasedKept + time.Millisecond).Microseconds(), nil
}
