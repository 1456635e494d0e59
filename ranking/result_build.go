package ranking

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/keyspace"
	"rankcast/ranking/internal/script"
)

// builder is a node that has the lock of a board.
type builder struct {
	*Store
	instance string
	rule     *definition.Compiled
	keys     keyspace.BoardKeys
	its      keyspace.BuildKeys
	token    string
	kept     time.Time // when it was last heard of

	now, clock   int64 // when it took the lock, and the build's time, µs since 1970
	from, length int64 // what keys' fractions are a fraction of
	epoch        string
	total        int64 // of the result there is
	was          int64 // and when that was built
	gathered     int   // members aside
}

var errBuildLost = fmt.Errorf("%w: another builds it meanwhile, or it was deleted", ErrUnavailable)

// build builds a result, unless there is a newer one than was seen, in µs since 1970, or
// another builds it.
func (s *Store) build(ctx context.Context, instance string, seen int64, b *build) error {
	d, until, err := s.leasedDefinitions(ctx)
	if err != nil {
		return err
	}
	n, err := definition.ParseName(instance)
	if err != nil {
		return err
	}
	r, err := d.compiled(n)
	if err != nil {
		return err
	}
	if !r.IsBuilt() {
		return fmt.Errorf("%w: it was defined otherwise meanwhile", ErrUnavailable)
	}
	from, err := s.sources(ctx, d, n, r)
	if err != nil {
		return err
	}
	if seen == 0 {
		// Names that there is nothing of must leave nothing.
		if some, err := s.anyOf(ctx, s.keys.Board(instance, "").Meta, from); err != nil || !some {
			b.came = builtNothing
			return err
		}
	}
	w := &builder{Store: s, instance: instance, rule: r, keys: s.keys.Board(instance, ""), its: s.keys.Build(instance), token: newEpoch()}
	if has, err := w.lock(ctx, until, seen, b); err != nil || !has {
		if errors.Is(err, errStaleDefinitions) {
			s.catalog.readNewer(ctx, d)
		}
		return err
	}
	err = w.replace(ctx, d, n)
	if err != nil {
		w.release(ctx)
	}
	if errors.Is(err, errBuildLost) {
		s.catalog.readNewer(ctx, d) // others may be hidden than this node knew
	}
	return err
}

// lock takes the lock, or says in b why not.
func (w *builder) lock(ctx context.Context, until, seen int64, b *build) (has bool, err error) {
	sp := w.rule.Span(w.catalog.clock.now())
	window := "0"
	if w.rule.IsWindowed() {
		window = "1"
	}
	r, err := w.callScript(ctx, script.Hold, []string{w.its.Lock, w.keys.Meta, w.keys.Members, w.its.Aside, w.its.Distinct},
		[]any{w.token, buildLease.Microseconds(), until, seen, w.rule.Shape, window})
	if err != nil {
		return false, err
	}
	switch r.Text() {
	case "ok":
		w.now, w.clock = r.Number(), r.Number()
		w.from, w.length = cmp.Or(r.Number(), sp.From), cmp.Or(r.Number(), sp.Length)
		w.epoch, w.total, w.was = r.Text(), r.Number(), r.Number()
		w.kept = time.Now()
		has = true
	case "busy":
		b.came, b.since, b.seen = builtElsewhere, r.Number(), r.Number()
	case "fresh":
		w.builds.note(w.instance, r.Number())
	case "shape":
		return false, conflict("board", "%q holds data of another order than it is defined with: delete it first", w.instance)
	case "stale":
		return false, errStaleDefinitions
	default:
		r.Fail("is none of a lock")
	}
	return has, r.Err
}

// replace builds the result and puts it in its place.
func (w *builder) replace(ctx context.Context, d *definitions, n definition.Name) error {
	// Before anything is there that nobody would look after.
	listed, err := w.listInstance(ctx, d, n, w.rule, 0)
	if err != nil {
		return err
	}
	if listed == 0 {
		return fmt.Errorf("%w: it was defined otherwise meanwhile", ErrUnavailable)
	}
	scores, err := w.scores(ctx, d, n)
	if err != nil {
		return err
	}
	scores = slices.DeleteFunc(scores, func(s scored) bool { return d.hidden.hides(w.instance, w.rule.Kind, s.member) })
	if w.epoch == "" && len(scores) == 0 && !w.rule.IsWindowed() { // of a window something is there, to be read as nothing
		return w.release(ctx)
	}
	sign := w.rule.Order.Sign()
	for i := range scores {
		scores[i].score *= sign // as keys have it
	}
	// In their order: the places of a sorted set that are written to are warm then.
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
		w.startSweep(w.instance) // what is over is of no use any more
	}
	return nil
}

// scores are those of all members, in no order.
func (w *builder) scores(ctx context.Context, d *definitions, n definition.Name) ([]scored, error) {
	if w.rule.IsWindowed() {
		return w.windowScores(ctx)
	}
	all, err := unionSources(w.rule, d, w.Store.keys, n, w.now)
	if err != nil {
		return nil, err
	}
	return w.sumUnion(ctx, w.rule.Union, all, w.keepLock)
}

// unchanged reports whether the result there is has the same members with the same scores, so
// that nothing need be written and nobody told.
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

// swap puts what was built in its place, under an epoch; "" where it is the same. It is
// without those who were hidden at a revision of the moderation.
func (w *builder) swap(ctx context.Context, epoch string, revision int64) error {
	keys := []string{w.its.Lock, w.keys.Members, w.keys.Distinct, w.keys.Meta, w.keys.Periods, w.its.Aside, w.its.Distinct, w.keys.Hidden}
	args := []any{w.token, w.epoch, epoch, w.now, w.clock, w.from, w.length, w.rule.Shape, w.keys.Channel, w.instance, revision, w.was}
	args = append(args, w.gathered, w.now-rebuildAfter(w.rule).Microseconds())
	if w.rule.IsWindowed() {
		keys = append(keys, w.keys.Window[2], w.keys.Window[1])
	}
	var after []any
	for {
		r, err := w.callScript(ctx, script.Swap, keys, append(args, after...))
		if err != nil {
			return err
		}
		switch r.Text() {
		case "lost":
			return errBuildLost
		case "more": // were taken off meanwhile than one call sees to
			if after = []any{r.Number(), r.Text()}; r.Err != nil {
				return r.Err
			}
			continue
		}
		w.builds.note(w.instance, r.Number())
		return r.Err
	}
}

// step is one call of a script that keeps the lock.
func (w *builder) step(ctx context.Context, sc script.Script, keys []string, args []any) (string, error) {
	began := time.Now()
	r, err := w.callScript(ctx, sc, keys, args)
	if err != nil {
		return "", err
	}
	answer := r.Text()
	if answer == "lost" {
		return "", errBuildLost
	}
	w.kept = time.Now()
	return answer, cmp.Or(r.Err, pauseAfter(ctx, time.Since(began)))
}

// keepLock keeps the lock while others' data are read.
func (w *builder) keepLock(ctx context.Context, took time.Duration) error {
	if time.Since(w.kept) < buildKeep {
		return pauseAfter(ctx, took)
	}
	_, err := w.step(ctx, script.Keep, []string{w.its.Lock}, []any{w.token, buildLease.Microseconds()})
	return err
}

// pauseAfter leaves Redis to others for half as long as a call took.
func pauseAfter(ctx context.Context, took time.Duration) error {
	pause := time.NewTimer(min(took/2, gentleMost))
	defer pause.Stop()
	select {
	case <-pause.C:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", ErrUnavailable, ctx.Err())
	}
}

// release gives the lock up, also where the node is going.
func (w *builder) release(ctx context.Context) error {
	_, err := w.dropBuild(context.WithoutCancel(ctx), w.instance, w.token)
	return err
}

// dropBuild takes away what a builder has left, "" for one who died; busy says that
// there is another.
func (s *Store) dropBuild(ctx context.Context, instance, token string) (busy bool, err error) {
	k := s.keys.Build(instance)
	r, err := s.callScript(ctx, script.Release, k.All(), []any{token})
	if err != nil {
		return false, err
	}
	return r.Text() == "busy", r.Err
}
