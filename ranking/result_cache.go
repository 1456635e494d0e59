package ranking

import (
	"context"
	"errors"
	"fmt"
	"time"

	"rankcast/ranking/definition"
)

// A board that is built has a result: a sorted set like any board's, computed from other
// data and replaced as a whole. One node at a time builds it aside, while all nodes serve
// the present one. So no reader ever sees a part of a result.

const (
	// buildLease is how long other nodes wait for a silent builder. buildKeep is how often
	// a builder extends its lock.
	buildLease = 10 * time.Second
	buildKeep  = 2 * time.Second
	// gatherItems is the number of members in one call of gather.lua. Such a call holds
	// Redis for half a millisecond to one, so that it stays under 5 ms on a busy machine.
	// compareItems is the number of members in one call of differs.lua.
	gatherItems  = 64
	compareItems = 128
	// otherBuilds is how often a waiting caller checks whether another node has built the
	// result.
	otherBuilds = 50 * time.Millisecond
	// gentleMost bounds the pause between two calls of a build.
	gentleMost = 5 * time.Millisecond
	// resultsKnown bounds the results whose age a node remembers, and those of whose last build it remembers
	// the end: 20 MB each.
	resultsKnown = 100_000
)

// scored is a member of a result, with its score.
type scored struct {
	member string
	score  int64
}

// errUnionWrite is the error of an update to a union.
func errUnionWrite(instance string) error {
	return conflict("board", "%q is built from other boards: send updates to those boards", instance)
}

// rebuildAfter is the age at which a node builds a result again. It is below refresh, so
// that the next result is ready before a reader has to wait.
func rebuildAfter(r *definition.Compiled) time.Duration { return r.RefreshInterval() * 5 / 6 }

// retention is how long after its last write a board goes; 0: never. For a result it counts
// from the last build, and reads keep a result built. So do the steps of a history while the result has
// members. Events in a window are always kept.
func retention(r *definition.Compiled) time.Duration {
	if !r.IsBuilt() && !r.IsWindowed() {
		return r.Retain
	}
	if r.Retain > 0 {
		return max(r.Retain, r.Window+r.RefreshInterval()+definition.MaxAhead, historyResults*r.History)
	}
	return r.Window + max(10*r.RefreshInterval(), 10*time.Minute)
}

// ensureFresh makes the result of a board readable: not older than refresh plus the time of
// one build. During a build that began in time it accepts the present result. wait waits for a build, and reports
// whether the build has ended before the context.
func (s *Store) ensureFresh(ctx context.Context, instance string, r *definition.Compiled, wait func(context.Context, *build) bool) error {
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
		b := s.builds.start(r.Board.Name, instance, built, timely)
		if timely || built > 0 && b.timely {
			return nil
		}
		if ctx.Value(withoutBuildsKey{}) != nil {
			return s.builds.lastOf(instance, built > 0, r.RefreshInterval())
		}
		if !wait(ctx, b) {
			return fmt.Errorf("%w: %w", definition.ErrNotBuilt, ctx.Err())
		}
		switch {
		case b.err != nil && built > 0 && s.age(built) < r.RefreshInterval()+b.took:
			return nil
		case (errors.Is(b.err, errBuildLost) || errors.Is(b.err, errStaleDefinitions)) && !lost:
			lost = true // the next build knows more
			continue
		case b.err != nil:
			return b.err
		case b.came != builtElsewhere:
			return nil
		case b.behind() <= r.RefreshInterval():
			return nil // the other node began in time
		}
		again := time.NewTimer(otherBuilds)
		select {
		case <-again.C:
		case <-giveUp.C:
			again.Stop()
			return fmt.Errorf("%w: another node is building it; try again", definition.ErrNotBuilt)
		case <-ctx.Done():
			again.Stop()
			return fmt.Errorf("%w: %w", definition.ErrNotBuilt, ctx.Err())
		}
	}
}

// age is the age of a result. A result from the future, after the clock was set back, is
// older than any refresh.
func (s *Store) age(built int64) time.Duration {
	age := time.Duration(s.catalog.clock.now()-built) * time.Microsecond
	if age < -definition.MaxAhead {
		return 2 * definition.MaxRefresh
	}
	return age
}

// refreshWatched starts the build of a watched board's result if it is due. built is when
// the present result was built, µs since 1970; 0: there is none.
func (s *Store) refreshWatched(m resolved, built int64) {
	s.builds.note(m.Instance, built)
	if age := s.age(built); built == 0 || age >= rebuildAfter(m.compiled) {
		s.builds.start(m.compiled.Board.Name, m.Instance, built, built > 0 && age < m.compiled.RefreshInterval())
	}
}

// builtAt is when the build of the present result began, in µs since 1970; 0: there is
// none.
func (s *Store) builtAt(ctx context.Context, meta string) (int64, error) {
	r := s.readFields(ctx, meta, builtField)
	return r.OptionalNumber(), r.Err
}

// builtField is the field of meta that holds when the build of the result began.
const builtField = "built"

// known is a time, in µs since 1970, at or after which the build of the present result
// began; 0: not known.
func (b *builds) known(instance string) int64 {
	built, _ := b.built.Get(instance)
	return built
}

// note remembers when a result was built; 0: there is none.
func (b *builds) note(instance string, built int64) {
	if built == 0 {
		b.built.Drop(instance) // a name that anybody made up must not displace a result
		return
	}
	b.built.Put(instance, built, 1)
}
