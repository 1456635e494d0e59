package ranking

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// A board that is built has a result: a sorted set like any board's, made of what others
// hold, and replaced as a whole. One node at a time builds it, aside, while all go on
// serving the one there is; so nobody ever sees a part of one.

const (
	// buildLease is for how long a builder is waited for of whom nothing is heard, and
	// buildKeep after what time it is heard of again.
	buildLease = 10 * time.Second
	buildKeep  = 2 * time.Second
	// gatherItems is how many members go in one call of gather.lua, which holds Redis for
	// half a millisecond to one then, so that it stays under 5 on a machine with other
	// work; compareItems of differs.lua.
	gatherItems  = 64
	compareItems = 128
	// otherBuilds is how often it is looked whether another node has built what is
	// waited for.
	otherBuilds = 50 * time.Millisecond
	// gentleMost bounds a pause between the calls of a build.
	gentleMost = 5 * time.Millisecond
	// resultsKnown bounds what a node remembers of results: 10 MB.
	resultsKnown = 100_000
)

// builds are the results that a node knows of, and has built.
type builds struct {
	end     context.Context // when the node goes
	stop    context.CancelFunc
	running sync.WaitGroup

	mu    sync.Mutex
	under map[string]*build // way, by instance
	built map[string]int64  // by instance: when its result was begun to be built, µs since 1970
}

// build is one attempt to have a result that is newer than one that was seen.
type build struct {
	timely bool          // it was begun while the result was not too old yet
	done   chan struct{} // closed when it has ended; what follows is read after that
	came   came
	since  int64 // where another builds: since when
	seen   int64 // and when the result was built that there is; both in µs since 1970
	took   time.Duration
	err    error
}

// came is what came of a build.
type came int

const (
	isNew     came = iota // there is a newer result, or the one there is was found to be it
	isNothing             // there is nothing to build it of, and no result
	isBusy                // another node builds
)

// scored is a member of a result.
type scored struct {
	member string
	score  int64
}

// isBuilt reports whether a board is one that nobody writes to.
func (r *rule) isBuilt() bool { return r.refresh() > 0 }

// takesNone is the error of an update to such a board.
func takesNone(instance string) error {
	return conflict("board", "%q is built from other boards: send updates to these", instance)
}

// soonDue is how old a result is when it is built anew: so early that the next is there
// before anybody has to wait for it.
func (r *rule) soonDue() time.Duration { return r.refresh() * 5 / 6 }

// goes is how long after its last write a board goes, or a result after it was last
// built, which it is as long as somebody asks for it; 0: never.
func (r *rule) goes() time.Duration {
	if !r.isBuilt() {
		return r.Retain
	}
	if r.Retain > 0 {
		return max(r.Retain, r.refresh())
	}
	return max(10*r.refresh(), 10*time.Minute)
}

// fresh sees to it that the result of a board that is built can be read: that it is not
// older than its refresh, and what a build took. While one is under way that was begun in
// time the old one will do.
func (s *Store) fresh(ctx context.Context, m meaning) error {
	r := m.rule
	age := func(built int64) time.Duration {
		return time.Duration(s.catalog.clock.now()-built) * time.Microsecond
	}
	if built := s.builds.known(m.Instance); built > 0 && age(built) < r.soonDue() {
		return nil
	}
	built, err := s.builtAt(ctx, m.keys.meta)
	if err != nil {
		return err
	}
	s.builds.note(m.Instance, built)
	if built > 0 && age(built) < r.soonDue() {
		return nil
	}
	timely := built > 0 && age(built) < r.refresh()
	lost := false
	giveUp := time.NewTimer(s.cfg.CallTimeout)
	defer giveUp.Stop()
	for {
		b := s.startBuild(m.Instance, built, timely)
		if timely || built > 0 && b.timely {
			return nil
		}
		select {
		case <-b.done:
		case <-ctx.Done():
			return fmt.Errorf("%w: its result is being built: %w", ErrUnavailable, ctx.Err())
		}
		switch {
		case b.err != nil && built > 0 && age(built) < r.refresh()+b.took:
			return nil
		case errors.Is(b.err, errLost) && !lost:
			lost = true // the next knows more
			continue
		case b.err != nil:
			return b.err
		case b.came != isBusy:
			return nil
		case b.seen > 0 && time.Duration(b.since-b.seen)*time.Microsecond <= r.refresh():
			return nil // the other was in time
		}
		again := time.NewTimer(otherBuilds)
		select {
		case <-again.C:
		case <-giveUp.C:
			again.Stop()
			return fmt.Errorf("%w: its result is being built by another node, try again", ErrUnavailable)
		case <-ctx.Done():
			again.Stop()
			return fmt.Errorf("%w: its result is being built: %w", ErrUnavailable, ctx.Err())
		}
	}
}

// refreshWatched has the result built of a board that is watched, where it is due, built
// being when that was last, µs since 1970, 0 for never.
func (s *Store) refreshWatched(m meaning, built int64) {
	s.builds.note(m.Instance, built)
	if age := time.Duration(s.catalog.clock.now()-built) * time.Microsecond; built == 0 || age >= m.rule.soonDue() {
		s.startBuild(m.Instance, built, built > 0 && age < m.rule.refresh())
	}
}

// builtAt is when a result was begun to be built, in µs since 1970; 0: there is none.
func (s *Store) builtAt(ctx context.Context, meta string) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	values, err := s.rdb.HMGet(ctx, meta, builtField).Result()
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return parseBuilt(&reply{rest: values})
}

// builtField is the field of meta that tells it.
const builtField = "built"

func parseBuilt(r *reply) (int64, error) {
	if len(r.rest) > 0 && r.rest[0] == nil {
		return 0, r.err
	}
	return r.number(), r.err
}

// known is when a result was built at the earliest; 0: that is not known.
func (b *builds) known(instance string) int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.built[instance]
}

// note remembers when a result was built.
func (b *builds) note(instance string, built int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.built == nil || len(b.built) >= resultsKnown {
		b.built = make(map[string]int64) // they are asked for again
	}
	if built == 0 {
		delete(b.built, instance)
	} else {
		b.built[instance] = built
	}
}

// startBuild has a result built that is newer than one which was seen, by this node's
// only builder of it. Nobody who waits for it ends it.
func (s *Store) startBuild(instance string, seen int64, timely bool) *build {
	bs := &s.builds
	bs.mu.Lock()
	defer bs.mu.Unlock()
	if b := bs.under[instance]; b != nil {
		return b
	}
	if bs.under == nil {
		bs.under = make(map[string]*build)
	}
	b := &build{timely: timely, done: make(chan struct{})}
	bs.under[instance] = b
	bs.running.Go(func() {
		defer close(b.done)
		began := time.Now()
		err := s.build(bs.end, instance, seen, b)
		b.took = time.Since(began)
		if err != nil {
			b.err = fmt.Errorf("build board %q: %w", instance, err)
		}
		bs.mu.Lock()
		defer bs.mu.Unlock()
		delete(bs.under, instance)
	})
	return b
}

// builder is a node that has the lock of a board.
type builder struct {
	*Store
	instance string
	rule     *rule
	keys     boardKeys
	its      buildKeys
	token    string
	kept     time.Time // when it was last heard of

	now, clock   int64 // when it took the lock, and the build's time, µs since 1970
	from, length int64 // what keys' fractions are a fraction of
	epoch        string
	total        int64 // of the result there is
	was          int64 // and when that was built
}

var errLost = fmt.Errorf("%w: another builds it meanwhile, or it was deleted", ErrUnavailable)

// build builds a result, unless there is a newer one than was seen, in µs since 1970, or
// another builds it.
func (s *Store) build(ctx context.Context, instance string, seen int64, b *build) error {
	d, until, err := s.leased(ctx)
	if err != nil {
		return err
	}
	n, err := parseName(instance)
	if err != nil {
		return err
	}
	r, err := d.rule(n)
	if err != nil {
		return err
	}
	if !r.isBuilt() {
		return fmt.Errorf("%w: it was defined otherwise meanwhile", ErrUnavailable)
	}
	t, err := parseTemplate(r.Board)
	if err != nil {
		return err
	}
	if seen == 0 {
		// Names that there is nothing of must leave nothing.
		all, err := r.Union.summed(d, s.keys, n, t, s.catalog.clock.now())
		if err != nil {
			return err
		}
		if some, err := s.anyOf(ctx, s.keys.board(instance, "").meta, all); err != nil || !some {
			b.came = isNothing
			return err
		}
	}
	w := &builder{Store: s, instance: instance, rule: r, keys: s.keys.board(instance, ""), its: s.keys.build(instance), token: newEpoch()}
	if has, err := w.hold(ctx, until, seen, b); err != nil || !has {
		return err
	}
	err = w.replace(ctx, d, n, t)
	if err != nil {
		w.release(ctx)
	}
	if errors.Is(err, errLost) {
		s.catalog.newer(ctx, d) // others may be hidden than this node knew
	}
	return err
}

// hold takes the lock, or says in b why not.
func (w *builder) hold(ctx context.Context, until, seen int64, b *build) (has bool, err error) {
	sp := w.rule.span(w.catalog.clock.now())
	r, err := w.callKeys(ctx, holdScript, []string{w.its.lock, w.keys.meta, w.keys.members, w.its.aside, w.its.distinct},
		[]any{w.token, buildLease.Microseconds(), until, seen, w.rule.shape})
	if err != nil {
		return false, err
	}
	switch r.text() {
	case "ok":
		w.now, w.clock = r.number(), r.number()
		w.from, w.length = cmp.Or(r.number(), sp.from), cmp.Or(r.number(), sp.length)
		w.epoch, w.total, w.was = r.text(), r.number(), r.number()
		w.kept = time.Now()
		has = true
	case "busy":
		b.came, b.since, b.seen = isBusy, r.number(), r.number()
	case "fresh":
		w.builds.note(w.instance, r.number())
	case "shape":
		return false, conflict("board", "%q holds data of another order than it is defined with: delete it first", w.instance)
	case "stale":
		return false, fmt.Errorf("%w: the definitions that this node has have grown old", ErrUnavailable)
	default:
		r.fail("is none of a lock")
	}
	return has, r.err
}

// replace builds the result and puts it in its place.
func (w *builder) replace(ctx context.Context, d *definitions, n name, t template) error {
	// Before anything is there that nobody would look after.
	listed, err := w.list(ctx, d, n, w.rule, 0)
	if err != nil {
		return err
	}
	if listed == 0 {
		return fmt.Errorf("%w: it was defined otherwise meanwhile", ErrUnavailable)
	}
	all, err := w.rule.Union.summed(d, w.Store.keys, n, t, w.now)
	if err != nil {
		return err
	}
	scores, err := w.sum(ctx, w.rule.Union, all, w.between)
	if err != nil {
		return err
	}
	scores = slices.DeleteFunc(scores, func(s scored) bool { return d.hidden.hides(w.instance, w.rule.Kind, s.member) })
	if w.epoch == "" && len(scores) == 0 {
		return w.release(ctx)
	}
	sign := w.rule.Order.sign()
	for i := range scores {
		scores[i].score *= sign // as keys have it
	}
	// In their order: the places of a sorted set that are written to are warm then.
	slices.SortFunc(scores, func(a, b scored) int { return cmp.Or(cmp.Compare(a.score, b.score), cmp.Compare(a.member, b.member)) })
	next := newEpoch()
	if same, err := w.same(ctx, scores); err != nil {
		return err
	} else if same {
		next = ""
	} else if err := w.gather(ctx, scores); err != nil {
		return err
	}
	return w.swap(ctx, next, d.hidden.revision)
}

// same reports whether the result there is has the same members with the same scores, so
// that nothing need be written and nobody told.
func (w *builder) same(ctx context.Context, scores []scored) (bool, error) {
	if w.epoch == "" || w.total != int64(len(scores)) {
		return false, nil
	}
	for some := range slices.Chunk(scores, compareItems) {
		args := appendScores([]any{w.token, buildLease.Microseconds()}, some)
		answer, err := w.step(ctx, differsScript, []string{w.its.lock, w.keys.members}, args)
		if err != nil || answer == "other" {
			return false, err
		}
	}
	return true, nil
}

// gather puts the result aside.
func (w *builder) gather(ctx context.Context, scores []scored) error {
	for some := range slices.Chunk(scores, gatherItems) {
		args := appendScores([]any{w.token, buildLease.Microseconds(), string(w.rule.Ties), w.clock, w.from, w.length}, some)
		if _, err := w.step(ctx, gatherScript, []string{w.its.lock, w.keys.members, w.its.aside, w.its.distinct}, args); err != nil {
			return err
		}
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
	r, err := w.callKeys(ctx, swapScript,
		[]string{w.its.lock, w.keys.members, w.keys.distinct, w.keys.meta, w.keys.periods, w.its.aside, w.its.distinct, w.keys.hidden},
		[]any{w.token, w.epoch, epoch, w.now, w.clock, w.from, w.length, w.rule.shape, w.keys.channel, w.instance, revision, w.was})
	if err != nil {
		return err
	}
	if r.text() == "lost" {
		return errLost
	}
	w.builds.note(w.instance, w.now)
	return r.err
}

// step is one call of a script that keeps the lock.
func (w *builder) step(ctx context.Context, sc script, keys []string, args []any) (string, error) {
	began := time.Now()
	r, err := w.callKeys(ctx, sc, keys, args)
	if err != nil {
		return "", err
	}
	answer := r.text()
	if answer == "lost" {
		return "", errLost
	}
	w.kept = time.Now()
	return answer, cmp.Or(r.err, gently(ctx, time.Since(began)))
}

// between keeps the lock while others' data are read.
func (w *builder) between(ctx context.Context, took time.Duration) error {
	if time.Since(w.kept) < buildKeep {
		return gently(ctx, took)
	}
	_, err := w.step(ctx, keepScript, []string{w.its.lock}, []any{w.token, buildLease.Microseconds()})
	return err
}

// gently leaves Redis to others for half as long as a call took.
func gently(ctx context.Context, took time.Duration) error {
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
	_, err := w.leaveBuild(context.WithoutCancel(ctx), w.instance, w.token)
	return err
}

// leaveBuild takes away what a builder has left, "" for one who died; busy says that
// there is another.
func (s *Store) leaveBuild(ctx context.Context, instance, token string) (busy bool, err error) {
	k := s.keys.build(instance)
	r, err := s.callKeys(ctx, releaseScript, k.all(), []any{token})
	if err != nil {
		return false, err
	}
	return r.text() == "busy", r.err
}

// callKeys runs a script within the call timeout.
func (s *Store) callKeys(ctx context.Context, sc script, keys []string, args []any) (*reply, error) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	answer, err := sc.run(ctx, s.rdb, keys, args)
	return &reply{rest: answer}, err
}

// close ends what is under way, and waits for it.
func (b *builds) close() {
	b.stop()
	b.running.Wait()
}
