package ranking

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/script"
)

const (
	// sweepLive and sweepBuilt are the number of events in one call of sweep.lua, for a
	// live board and for a built one. Such a call holds Redis for about 2 ms. Each event of
	// a live board may change a score, and the script publishes that change.
	sweepLive  = 64
	sweepBuilt = 160
	// windowInterval is the longest time between two sweeps of a window without reads and
	// writes. Sweeps come more often where more than windowDue events leave in that time.
	// So the first reader of a live board waits for a third of a second at most.
	windowInterval = 10 * time.Minute
	windowDue      = 4000
)

// swept is the progress of a sweep.
type swept struct {
	now    int64 // Redis's clock, µs since 1970
	went   int64 // events that this call removed
	oldest int64 // time of the oldest event left, ms since 1970; 0: no event is left
}

// isOverdue reports whether the oldest event of a window has left it. oldest is in ms, and
// now in µs since 1970.
func isOverdue(r *definition.Compiled, oldest, now int64) bool {
	return oldest > 0 && oldest <= now/1000-r.Window.Milliseconds()
}

// sweepCall removes events that have left the window, in one call. until is the end of the
// lease of the definitions, in µs since 1970.
func (s *Store) sweepCall(ctx context.Context, instance string, r *definition.Compiled, until int64) (swept, error) {
	k := s.keys.Board(instance, "")
	most := sweepBuilt
	if r.IsLive() {
		most = sweepLive
	}
	args := append(scriptHead(r, k, instance, ""), until, r.Shape, r.Window.Milliseconds(), string(r.Mode), boolArg(r.IsLive()),
		most, newEpoch())
	reply := script.Sweep.Run(ctx, s.rdb, append(append(k.Head(), k.Window[:]...), s.keys.Build(instance).Lock), args)
	switch reply.Text() {
	case "ok":
		at := swept{now: reply.Number(), went: reply.Number(), oldest: reply.Number()}
		return at, reply.Err
	case "stale":
		return swept{}, errStaleDefinitions
	case "shape":
		return swept{}, conflict("board", "%q holds data of another order than its definition has: delete the board first", instance)
	}
	reply.Fail("has an unknown state of a window")
	return swept{}, reply.Err
}

// sweepWindow removes events until no overdue event is left that may go.
func (s *Store) sweepWindow(ctx context.Context, instance string) (swept, error) {
	for old := false; ; {
		d, until, err := s.leasedDefinitions(ctx)
		if err != nil {
			return swept{}, err
		}
		r, err := d.compiledNamed(instance)
		if err != nil {
			return swept{}, err
		}
		if !r.IsWindowed() {
			return swept{}, fmt.Errorf("%w: the board was redefined in the meantime", definition.ErrUnavailable)
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

// sweepRun is a sweep of a window under way. All its callers share it.
type sweepRun struct {
	began time.Time
	done  chan struct{} // closed at the end; the fields below are valid after that
	at    swept
	err   error
}

// startSweep starts a sweep of a window, or joins the one under way on this node. A caller
// that stops waiting does not end the sweep.
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
			w.err = fmt.Errorf("sweep the window of %q: %w", instance, w.err)
		}
		bs.mu.Lock()
		defer bs.mu.Unlock()
		delete(bs.swept, instance)
	})
	return w
}

// sweepToNow sweeps a live board, so that no event counts that had left the window at the
// returned time, by Redis's clock in µs since 1970.
func (s *Store) sweepToNow(ctx context.Context, instance string) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	return s.startSweep(instance).wait(ctx)
}

// wait waits for the end of the sweep. It returns when the sweep ended, by Redis's clock in µs since 1970.
func (w *sweepRun) wait(ctx context.Context) (int64, error) {
	select {
	case <-w.done:
		return w.at.now, w.err
	case <-ctx.Done():
		return 0, fmt.Errorf("%w: the sweep of its window has not ended: %w", definition.ErrUnavailable, ctx.Err())
	}
}

// sweepWait returns how long updates wait for a sweep: half a second by default. After that the
// script applies them without it, and their results include events that are overdue.
func (s *Store) sweepWait() time.Duration { return s.cfg.CallTimeout / 4 }

// awaitSweep starts or joins a sweep, and reports whether it succeeded in time.
func (s *Store) awaitSweep(ctx context.Context, instance string) bool {
	w := s.startSweep(instance)
	ctx, cancel := context.WithDeadline(ctx, w.began.Add(s.sweepWait()))
	defer cancel()
	_, err := w.wait(ctx)
	return err == nil
}

// housekeepWindow sweeps a window that may have no reads or writes, and returns when to
// look again, in µs since 1970, or definition.Never.
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

// nextSweepIn is the time until the next sweep of a window.
func (s *Store) nextSweepIn(ctx context.Context, instance string, r *definition.Compiled, now int64) (time.Duration, error) {
	until := strconv.FormatInt(now/1000-r.Window.Milliseconds()+windowInterval.Milliseconds(), 10)
	due, err := s.rdb.ZCount(ctx, s.keys.Board(instance, "").Window[0], "-inf", until).Result()
	if err != nil {
		return 0, fmt.Errorf("%w: %w", definition.ErrUnavailable, err)
	}
	return max(windowInterval*windowDue/time.Duration(max(due, windowDue)), housekeepingInterval), nil
}

// erasedKept is how long, beyond the window, Redis remembers that a member's events no
// longer count: as long as a build may take, see window.lua.
const erasedKept = 10 * time.Minute

// erasedKeptUntil is when Redis can drop the first of these records, in µs since 1970, or
// definition.Never.
func (s *Store) erasedKeptUntil(ctx context.Context, instance string, r *definition.Compiled) (int64, error) {
	first, err := s.rdb.ZRangeWithScores(ctx, s.keys.Board(instance, "").Window[2], 0, 0).Result()
	if err != nil {
		return 0, fmt.Errorf("%w: %w", definition.ErrUnavailable, err)
	}
	if len(first) == 0 {
		return definition.Never, nil
	}
	return int64(first[0].Score) + (r.Window + erasedKept + time.Millisecond).Microseconds(), nil
}

// windowPage is the number of events that one call of events.lua reads. Such a call holds
// Redis for about half a millisecond.
const windowPage = 256

// windowScore is a member's score by its events so far.
type windowScore struct {
	score int64
	ms, n int64 // time, and number, of the latest event
}

// windowScores returns the scores of a window at the time of the build: of all events that
// counted then. It ignores later events.
func (w *builder) windowScores(ctx context.Context) ([]scored, error) {
	over := w.now/1000 - w.rule.Window.Milliseconds()
	members := make(map[string]windowScore)
	args := []any{windowPage, over, w.clock}
	for {
		began := time.Now()
		r := script.Events.Run(ctx, w.s.rdb, []string{w.keys.Window[0], w.keys.Window[2]}, args)
		rows := r.List()
		for rows.More() {
			text := rows.Text()
			ms := rows.Number()
			member, n, score, ok := parseWindowEvent(text)
			if !ok {
				rows.Fail("has an invalid event")
				break
			}
			was, there := members[member]
			members[member] = joinEvents(w.rule, was, there, windowScore{score, ms, n})
		}
		ms, event := r.Text(), r.Text()
		if err := cmp.Or(r.Err, rows.Err); err != nil {
			return nil, err
		}
		if err := w.keepLock(ctx, time.Since(began)); err != nil {
			return nil, err
		}
		if event == "" {
			break
		}
		args = append(args[:3], ms, event)
	}
	scores := make([]scored, 0, len(members))
	for member, m := range members {
		scores = append(scores, scored{member, m.score})
	}
	return scores, nil
}

// joinEvents adds one event to a member's score. there reports whether the member has a
// score already.
func joinEvents(r *definition.Compiled, was windowScore, there bool, next windowScore) windowScore {
	switch {
	case !there:
		return next
	case r.Mode == definition.Sum:
		next.score += was.score
		return next
	case r.Mode == definition.Best && r.Order.Sign()*next.score >= r.Order.Sign()*was.score:
		return was
	case r.Mode == definition.Last && (next.ms < was.ms || next.ms == was.ms && next.n < was.n):
		return was
	}
	return next
}

// parseWindowEvent splits an event: see window.lua.
func parseWindowEvent(text string) (member string, n, score int64, ok bool) {
	last := strings.LastIndexByte(text, '|')
	middle := strings.LastIndexByte(text[:max(last, 0)], '|')
	if middle < 1 {
		return "", 0, 0, false
	}
	n, err := strconv.ParseInt(text[middle+1:last], 16, 64)
	score, wrong := strconv.ParseInt(text[last+1:], 10, 64)
	return text[:middle], n, score, err == nil && wrong == nil
}
