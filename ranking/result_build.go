package ranking

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"rankcast/ranking/definition"
	"rankcast/ranking/fair"
	"rankcast/ranking/internal/keyspace"
	"rankcast/ranking/internal/script"
)

// builder is one build of a result by this node, which holds the board's lock.
type builder struct {
	s        *Store
	instance string
	rule     *definition.Compiled
	keys     keyspace.BoardKeys
	its      keyspace.BuildKeys
	token    string
	kept     time.Time // when this node last extended the lock

	now, clock   int64 // when it took the lock, and the board's clock for the build, µs since 1970
	from, length int64 // span of time of which the tie fraction of a sort key is a fraction
	epoch        string
	total        int64 // members of the present result
	was          int64 // when the present result was built, µs since 1970
	gathered     int   // members put aside so far
}

var errBuildLost = fmt.Errorf("%w: another node has taken over the build, or the board was deleted", definition.ErrUnavailable)

// build builds a result, unless there is a result newer than the one seen, or another node
// builds one.
func (s *Store) build(ctx context.Context, b *build) (err error) {
	instance, seen := b.instance, b.seen
	d, until, err := s.leasedDefinitions(ctx)
	if err != nil {
		return err
	}
	r, err := d.compiledNamed(instance)
	if err != nil {
		return err
	}
	if !r.IsBuilt() {
		return fmt.Errorf("%w: the board was redefined in the meantime", definition.ErrUnavailable)
	}
	began, locked := time.Now(), false
	defer func() { s.metrics.observeBuild(r, time.Since(began), locked, b, err) }()
	from, err := s.sources(ctx, d, instance, r)
	if err != nil {
		return err
	}
	if seen == 0 {
		// A name without any data must leave nothing in Redis.
		if some, err := s.anyOf(ctx, append(from, s.keys.Board(instance, "").Meta)...); err != nil || !some {
			b.came = builtNothing
			return err
		}
	}
	w := &builder{s: s, instance: instance, rule: r, keys: s.keys.Board(instance, ""), its: s.keys.Build(instance), token: newEpoch()}
	if locked, err = w.lock(ctx, until, seen, b); err != nil || !locked {
		if errors.Is(err, errStaleDefinitions) {
			s.catalog.readNewer(ctx, d)
		}
		return err
	}
	err = w.replace(ctx, d, b)
	if err != nil {
		w.release(ctx)
	}
	if errors.Is(err, errBuildLost) {
		s.catalog.readFresh(ctx) // other members may be hidden than this node knew
	}
	return err
}

// lock takes the lock. Where it does not, it sets in b why.
func (w *builder) lock(ctx context.Context, until, seen int64, b *build) (has bool, err error) {
	sp := w.rule.Span(w.s.catalog.clock.now())
	r := script.Hold.Run(ctx, w.s.rdb, []string{w.its.Lock, w.keys.Meta, w.keys.Members, w.its.Aside, w.its.Distinct},
		[]any{w.token, buildLease.Microseconds(), until, seen, w.rule.Shape, boolArg(w.rule.IsWindowed())})
	switch r.Text() {
	case "ok":
		w.now, w.clock = r.Number(), r.Number()
		w.from, w.length = cmp.Or(r.Number(), sp.From), cmp.Or(r.Number(), sp.Length)
		w.epoch, w.total, w.was = r.Text(), r.Number(), r.Number()
		w.kept = time.Now()
		has = true
	case "busy":
		b.came, b.since, b.present = builtElsewhere, r.Number(), r.Number()
	case "fresh":
		w.s.builds.note(w.instance, r.Number())
	case "shape":
		return false, conflict("board", "%q holds data of another order than its definition has: delete the board first", w.instance)
	case "stale":
		return false, errStaleDefinitions
	default:
		r.Fail("has an unknown state of a lock")
	}
	return has, r.Err
}

// replace builds the result and swaps it in. Without any members there is none, and it sets that in b.
func (w *builder) replace(ctx context.Context, d *definitions, b *build) error {
	// List the instance before it has data, so that housekeeping looks at all data.
	listed, err := w.s.registerInstance(ctx, d, w.instance, w.rule, 0, listedPublic)
	if err != nil {
		return err
	}
	if listed == 0 {
		return fmt.Errorf("%w: the board was redefined in the meantime", definition.ErrUnavailable)
	}
	scores, err := w.scores(ctx, d)
	if err != nil {
		return err
	}
	scores = slices.DeleteFunc(scores, func(s scored) bool { return d.hidden.hides(w.instance, w.rule.Kind, s.member) })
	if w.epoch == "" && len(scores) == 0 && !w.rule.IsWindowed() { // a window gets an empty result
		b.came = builtNothing
		return w.release(ctx)
	}
	sign := w.rule.Order.Sign()
	for i := range scores {
		scores[i].score *= sign // the sign that sort keys have
	}
	// In the order of the sorted set: the parts of it that a write touches are then in the
	// cache of the processor.
	slices.SortFunc(scores, func(a, b scored) int { return cmp.Or(cmp.Compare(a.score, b.score), cmp.Compare(a.member, b.member)) })
	next := newEpoch()
	if same, err := w.unchanged(ctx, scores); err != nil {
		return err
	} else if same {
		next = ""
	} else if err := w.gather(ctx, scores); err != nil {
		return err
	}
	if err := w.swap(ctx, next, d.hidden.revision); err != nil {
		return err
	}
	if w.rule.IsWindowed() {
		w.s.startSweep(w.instance) // events that have left the window are no longer needed
	}
	return nil
}

// scores returns the scores of all members, in no order.
func (w *builder) scores(ctx context.Context, d *definitions) ([]scored, error) {
	if w.rule.IsWindowed() {
		return w.windowScores(ctx)
	}
	all, err := w.s.unionSources(w.rule, d, w.instance, w.now)
	if err != nil {
		return nil, err
	}
	return w.s.sumUnion(ctx, w.rule.Union, all, w.keepLock)
}

// unchanged reports whether the present result has the same members with the same scores.
// Then the node writes and publishes nothing.
func (w *builder) unchanged(ctx context.Context, scores []scored) (bool, error) {
	if w.epoch == "" || w.total != int64(len(scores)) {
		return false, nil
	}
	for some := range slices.Chunk(scores, compareItems) {
		args := appendScores([]any{w.token, buildLease.Microseconds()}, some)
		answer, err := w.step(ctx, script.Differs, []string{w.its.Lock, w.keys.Members}, args)
		if err != nil || answer == "other" {
			return false, err
		}
	}
	return true, nil
}

// gather puts the result aside.
func (w *builder) gather(ctx context.Context, scores []scored) error {
	w.gathered = 0
	for some := range slices.Chunk(scores, gatherItems) {
		args := appendScores([]any{w.token, buildLease.Microseconds(), string(w.rule.Ties), w.clock, w.from, w.length, w.gathered}, some)
		if _, err := w.step(ctx, script.Gather, []string{w.its.Lock, w.keys.Members, w.its.Aside, w.its.Distinct}, args); err != nil {
			return err
		}
		w.gathered += len(some)
	}
	return nil
}

func appendScores(args []any, scores []scored) []any {
	for _, s := range scores {
		args = append(args, s.member, s.score)
	}
	return args
}

// swap replaces the present result by the one put aside, under an epoch; "" keeps the
// present one, which is the same. The new result leaves out the members that were hidden at
// the revision of the moderation.
func (w *builder) swap(ctx context.Context, epoch string, revision int64) error {
	keys := []string{w.its.Lock, w.keys.Members, w.keys.Distinct, w.keys.Meta, w.keys.Periods, w.its.Aside, w.its.Distinct, w.keys.Hidden}
	args := []any{w.token, w.epoch, epoch, w.now, w.clock, w.from, w.length, w.rule.Shape, w.keys.Channel, w.instance, revision, w.was}
	args = append(args, w.gathered, w.now-rebuildAfter(w.rule).Microseconds())
	if w.rule.IsWindowed() {
		keys = append(keys, w.keys.Window[2], w.keys.Window[1])
	}
	var after []any
	for {
		r := script.Swap.Run(ctx, w.s.rdb, keys, append(args, after...))
		switch r.Text() {
		case "lost":
			return errBuildLost
		case "more": // more members were taken off since than one call handles
			if after = []any{r.Number(), r.Text()}; r.Err != nil {
				return r.Err
			}
			continue
		}
		if built := r.Number(); r.Err == nil {
			w.s.builds.note(w.instance, built)
		}
		return r.Err
	}
}

// step calls a script that extends the lock.
func (w *builder) step(ctx context.Context, sc script.Script, keys []string, args []any) (string, error) {
	began := time.Now()
	r := sc.Run(ctx, w.s.rdb, keys, args)
	answer := r.Text()
	switch {
	case answer == "lost":
		return "", errBuildLost
	case r.Err != nil:
		return "", r.Err
	}
	w.kept = time.Now()
	return answer, pauseAfter(ctx, time.Since(began))
}

// keepLock extends the lock while the builder reads the data of other boards.
func (w *builder) keepLock(ctx context.Context, took time.Duration) error {
	if time.Since(w.kept) < buildKeep {
		return pauseAfter(ctx, took)
	}
	_, err := w.step(ctx, script.Keep, []string{w.its.Lock}, []any{w.token, buildLease.Microseconds()})
	return err
}

// pauseAfter leaves Redis to other callers for half as long as a call took, gentleMost at
// most.
func pauseAfter(ctx context.Context, took time.Duration) error {
	if err := fair.Pause(ctx, min(took/2, gentleMost)); err != nil {
		return fmt.Errorf("%w: %w", definition.ErrUnavailable, err)
	}
	return nil
}

// release gives up the lock, also while the node stops.
func (w *builder) release(ctx context.Context) error {
	_, err := w.s.dropBuild(context.WithoutCancel(ctx), w.instance, w.token)
	return err
}

// dropBuild deletes the data that a builder has put aside, by its token; "" stands for a
// builder that died. busy reports that another builder holds the lock.
func (s *Store) dropBuild(ctx context.Context, instance, token string) (busy bool, err error) {
	k := s.keys.Build(instance)
	r := script.Release.Run(ctx, s.rdb, k.All(), []any{token})
	return r.Text() == "busy", r.Err
}
