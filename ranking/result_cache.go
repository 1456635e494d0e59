package ranking

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/script"
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
	under map[string]*build    // way, by instance
	built map[string]int64     // by instance: when its result was begun to be built, µs since 1970
	swept map[string]*sweepRun // way, by instance
}

// build is one attempt to have a result that is newer than one that was seen.
type build struct {
	timely bool          // it was begun while the result was not too old yet
	done   chan struct{} // closed when it has ended; what follows is read after that
	came   buildOutcome
	since  int64 // where another builds: since when
	seen   int64 // and when the result was built that there is; both in µs since 1970
	took   time.Duration
	err    error
}

// buildOutcome is what came of a build.
type buildOutcome int

const (
	builtNew       buildOutcome = iota // there is a newer result, or the one there is was found to be it
	builtNothing                       // there is nothing to build it of, and no result
	builtElsewhere                     // another node builds
)

// scored is a member of a result.
type scored struct {
	member string
	score  int64
}

// errUnionWrite is the error of an update to a union.
func errUnionWrite(instance string) error {
	return conflict("board", "%q is built from other boards: send updates to these", instance)
}

// rebuildAfter is the age at which a result is built again: so early that the next one is
// ready before a reader has to wait for it.
func rebuildAfter(r *definition.Compiled) time.Duration { return r.RefreshInterval() * 5 / 6 }

// retention is how long after its last write a board goes, or a result after it was last
// built, which it is as long as somebody asks for it; 0: never. Nothing goes that is in a
// window.
func retention(r *definition.Compiled) time.Duration {
	if !r.IsBuilt() && !r.IsWindowed() {
		return r.Retain
	}
	if r.Retain > 0 {
		return max(r.Retain, r.Window+r.RefreshInterval()+definition.MaxAhead)
	}
	return r.Window + max(10*r.RefreshInterval(), 10*time.Minute)
}

// ensureFresh sees to it that the result of a board that is built can be read: that it is not
// older than its refresh, and what a build took. While one is under way that was begun in
// time the old one will do.
func (s *Store) ensureFresh(ctx context.Context, instance string, r *definition.Compiled) error {
	if built := s.builds.known(instance); built > 0 && s.age(built) < rebuildAfter(r) {
		return nil
	}
	built, err := s.builtAt(ctx, s.keys.Board(instance, "").Meta)
	if err != nil {
		return err
	}
	s.builds.note(instance, built)
	if built > 0 && s.age(built) < rebuildAfter(r) {
		return nil
	}
	timely := built > 0 && s.age(built) < r.RefreshInterval()
	lost := false
	giveUp := time.NewTimer(s.cfg.CallTimeout)
	defer giveUp.Stop()
	for {
		b := s.startBuild(instance, built, timely)
		if timely || built > 0 && b.timely {
			return nil
		}
		select {
		case <-b.done:
		case <-ctx.Done():
			return fmt.Errorf("%w: its result is being built: %w", ErrUnavailable, ctx.Err())
		}
		switch {
		case b.err != nil && built > 0 && s.age(built) < r.RefreshInterval()+b.took:
			return nil
		case (errors.Is(b.err, errBuildLost) || errors.Is(b.err, errStaleDefinitions)) && !lost:
			lost = true // the next knows more
			continue
		case b.err != nil:
			return b.err
		case b.came != builtElsewhere:
			return nil
		case b.seen > 0 && time.Duration(b.since-b.seen)*time.Microsecond <= r.RefreshInterval():
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

// age is how old a result is; one from a time to come, as the clock was set back, is older
// than any.
func (s *Store) age(built int64) time.Duration {
	age := time.Duration(s.catalog.clock.now()-built) * time.Microsecond
	if age < -definition.MaxAhead {
		return 2 * definition.MaxRefresh
	}
	return age
}

// refreshWatched has the result built of a board that is watched, where it is due, built
// being when that was last, µs since 1970, 0 for never.
func (s *Store) refreshWatched(m resolved, built int64) {
	s.builds.note(m.Instance, built)
	if age := s.age(built); built == 0 || age >= rebuildAfter(m.compiled) {
		s.startBuild(m.Instance, built, built > 0 && age < m.compiled.RefreshInterval())
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
	return parseBuilt(&script.Reply{Rest: values})
}

// builtField is the field of meta that tells it.
const builtField = "built"

func parseBuilt(r *script.Reply) (int64, error) {
	if len(r.Rest) > 0 && r.Rest[0] == nil {
		return 0, r.Err
	}
	return r.Number(), r.Err
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

// close ends what is under way, and waits for it.
func (b *builds) close() {
	b.stop()
	b.running.Wait()
}
