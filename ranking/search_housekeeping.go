package ranking

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"rankcast/ranking/internal/profiles"
	"rankcast/ranking/internal/script"
)

const (
	// nameVersion is the version of the records of the indexes of names. Raise it when package search folds names
	// differently, or Unicode changes. Then housekeeping builds all indexes again.
	nameVersion = 2
	// nameLease is how long a node claims the build of the indexes, or their repair.
	nameLease = 30 * time.Second
	// nameCheckInterval is the time from a build that changed nothing to the next one. A build repairs what nodes of an
	// older version, or a failover that lost writes, have left. It reads all profiles and changes little.
	nameCheckInterval = 24 * time.Hour
	// nameRecheckInterval is the time from a build that changed something to the next one. Nodes of an older version may
	// still run then, and slots of a cluster may still move.
	nameRecheckInterval = 10 * time.Minute
	// nameRepairInterval is how often a node looks for changes of profiles that have not ended. nameRepairAge is the age from
	// which they count as such.
	nameRepairInterval = 30 * time.Second
	nameRepairAge      = time.Minute
	// namePlanInterval is how often a node puts this work on its agenda, in case Redis has lost the agenda.
	namePlanInterval = 10 * time.Second
	// nameSlice bounds the time that a node goes on with a build before it looks at its claims.
	nameSlice = time.Second
)

// The items on the agenda of the indexes.
const (
	nameBuild  = "build"
	nameRepair = "repair"
)

// nameWork is the work of a node on the indexes of names. One goroutine uses it.
type nameWork struct {
	s       *Store
	planned time.Time // when the node last put the work on the agenda
	build   *nameWalk // the build that the node has claimed; nil: none
	claim   claim     // of build
}

func newNameWork(s *Store) *nameWork { return &nameWork{s: s} }

// due goes on with the work that is due, for about a second. more reports that more work is due. All nodes call it.
// Each item is claimed by one of them, so another node takes over when one ends.
func (w *nameWork) due(ctx context.Context) (more bool, err error) {
	s := w.s
	if s.rights.RefusesAll() != nil {
		return false, nil // each write would fail for the reason that RunRightsChecks logs
	}
	if err := w.plan(ctx); err != nil {
		return false, err
	}
	claims, err := s.claimDue(ctx, s.keys.NameAgenda(), 2, nameLease)
	if err != nil {
		return false, err
	}
	for _, c := range claims {
		switch c.member {
		case nameRepair:
			err = errors.Join(err, w.repair(ctx, c))
		case nameBuild:
			err = errors.Join(err, w.startBuild(ctx, c))
		}
	}
	if err != nil || w.build == nil {
		return false, err
	}
	ended, err := w.build.step(ctx, time.Now().Add(nameSlice))
	if err != nil {
		// The cursor of a scan means nothing to another process of Redis. So the build starts again, after the claim.
		// What a build leaves out because it met no error at a restart of Redis, the next one finds.
		w.build = nil
		return false, fmt.Errorf("build the indexes of names: %w", err)
	}
	next := s.catalog.clock.now() + nameLease.Microseconds()
	if ended {
		if err := s.noteNamesBuilt(ctx); err != nil {
			return false, err
		}
		interval := nameCheckInterval
		if w.build.changed {
			interval = nameRecheckInterval
		}
		next = s.catalog.clock.now() + interval.Microseconds()
	}
	ours, err := s.extendNameClaim(ctx, &w.claim, next)
	if err != nil || !ours || ended {
		w.build = nil
	}
	return w.build != nil, err
}

// startBuild begins a claimed build. A node of an older version leaves the indexes to the nodes of the later one.
func (w *nameWork) startBuild(ctx context.Context, c claim) error {
	s := w.s
	call, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	built, err := s.readNamesBuilt(call)
	if err != nil {
		return err
	}
	if built > nameVersion {
		return nil // the claim ends, and another node may claim it
	}
	if w.build, err = s.newNameWalk(ctx); err != nil {
		return err
	}
	// Another node may have built a part of this version, and have ended.
	w.build.changed = built < nameVersion
	w.claim = c
	return nil
}

// plan puts the work on the agenda, where it is not. A build is due soon if the indexes have an older version.
func (w *nameWork) plan(ctx context.Context) error {
	if time.Since(w.planned) < namePlanInterval {
		return nil
	}
	s := w.s
	if _, _, err := s.leasedDefinitions(ctx); err != nil { // which also reads the clock
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	built, err := s.readNamesBuilt(ctx)
	if err != nil {
		return err
	}
	err = s.schedule(ctx, s.keys.NameAgenda(), ifAbsent, 0, nameBuild, nameRepair)
	if err == nil && built < nameVersion {
		// A claim ends before, so a build that is under way stays as it is.
		err = s.schedule(ctx, s.keys.NameAgenda(), notLater, s.catalog.clock.now()+2*nameLease.Microseconds(), nameBuild)
	}
	if err != nil {
		return fmt.Errorf("plan the indexes of names: %w", err)
	}
	w.planned = time.Now()
	return nil
}

// extendNameClaim reschedules a claimed item. It returns false if another node has claimed the item meanwhile.
func (s *Store) extendNameClaim(ctx context.Context, c *claim, next int64) (ours bool, err error) {
	until := strconv.FormatInt(next, 10)
	r, err := s.callScript(ctx, script.Plan, []string{s.keys.NameAgenda()}, []any{c.member, c.until, c.since, until})
	if err != nil {
		return false, err
	}
	c.until = until
	return r.Text() == "ok", r.Err
}

// namesBuilt remembers that the indexes are built. It may be used concurrently.
type namesBuilt struct {
	until atomic.Pointer[time.Time] // when the node looks again; nil: at once
}

// areNamesBuilt reports whether the indexes hold all profiles. The node remembers it for namePlanInterval.
func (s *Store) areNamesBuilt(ctx context.Context) (bool, error) {
	if until := s.namesBuilt.until.Load(); until != nil && time.Now().Before(*until) {
		return true, nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	built, err := s.readNamesBuilt(ctx)
	if err != nil || built < nameVersion {
		return false, err
	}
	until := time.Now().Add(namePlanInterval)
	s.namesBuilt.until.Store(&until)
	return true, nil
}

// readNamesBuilt reads the version of the indexes that have been built; 0 for none.
func (s *Store) readNamesBuilt(ctx context.Context) (int64, error) {
	text, err := s.rdb.Get(ctx, s.keys.NamesBuilt()).Result()
	if errors.Is(err, redis.Nil) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("%w: read the version of the indexes of names: %w", ErrUnavailable, err)
	}
	version, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, nil // another program wrote it
	}
	return version, nil
}

func (s *Store) noteNamesBuilt(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	if err := s.rdb.Set(ctx, s.keys.NamesBuilt(), strconv.Itoa(nameVersion), 0).Err(); err != nil {
		return fmt.Errorf("%w: note the version of the indexes of names: %w", ErrUnavailable, err)
	}
	return nil
}

// indexedKinds lists the kinds that have an index: the kinds of boards, and those with profiles now or before. If more
// than maxProfiled kinds have profiles, kinds without a board may be missing: a search is always of a board.
func (d *definitions) indexedKinds() []string {
	kinds := maps.Clone(d.profiled)
	if kinds == nil {
		kinds = make(map[string]bool)
	}
	delete(kinds, profiles.EveryKind)
	for _, r := range d.boards {
		kinds[r.Kind] = true
	}
	return slices.Sorted(maps.Keys(kinds))
}
