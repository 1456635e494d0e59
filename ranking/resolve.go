package ranking

import (
	"context"
	"errors"
	"fmt"

	"rankcast/ranking/calendar"
	"rankcast/ranking/definition"
	"rankcast/ranking/internal/keyspace"
	"rankcast/ranking/internal/script"
)

// Board is a board as a client named it.
type Board struct {
	Name       string           // as named: "fans:s17@-1"
	Instance   string           // what is written to, and whose changes are told: "fans:s17"
	Definition definition.Board // of the board, or of its family
}

// resolved is what a name means at a moment of Redis's clock.
type resolved struct {
	Board
	compiled    *definition.Compiled
	askedPeriod string // the period that was named: "" for the one that is current
	period      calendar.Period
	changesAt   int64 // when the name means another period, or this one closes, µs since 1970; 0: never
	keys        keyspace.BoardKeys
}

// Board finds the board that a name means. It returns a FieldError for what is no
// name, ErrUnknownBoard and ErrUnknownPeriod. As long as Redis was away since this
// process began, each name is taken to mean a board, whose Definition is not known.
func (s *Store) Board(ctx context.Context, name string) (Board, error) {
	m, err := s.resolve(ctx, name, 0)
	if errors.Is(err, ErrUnavailable) && s.catalog.latest.Load() == nil {
		n, err := definition.ParseName(name)
		return Board{Name: name, Instance: n.Instance()}, err
	}
	return m.Board, err
}

// resolve finds what a name means at a moment of Redis's clock, in µs since 1970; 0 for
// now. What is not found is looked for once more by what Redis has, for another node
// may have defined it a moment ago.
func (s *Store) resolve(ctx context.Context, named string, now int64) (resolved, error) {
	n, err := definition.ParseName(named)
	if err != nil {
		return resolved{}, err
	}
	m, err := findDefinition(ctx, &s.catalog, func(d *definitions, anew bool) (resolved, error) {
		at := now
		switch {
		case anew:
			at = d.readAt
		case at == 0:
			at = s.catalog.clock.now()
		}
		m, err := d.resolve(n, at)
		if err != nil {
			err = fmt.Errorf("board %q: %w", named, err)
		}
		return m, err
	})
	if err != nil {
		return resolved{}, err
	}
	m.Name, m.keys = named, s.keys.Board(m.Instance, m.period.Name)
	return m, nil
}

// resolve finds what a name means at a moment of Redis's clock.
func (d *definitions) resolve(n definition.Name, now int64) (resolved, error) {
	r, err := d.compiled(n)
	if err != nil {
		return resolved{}, err
	}
	m := resolved{Board: Board{Instance: n.Instance(), Definition: r.Board}, compiled: r, askedPeriod: n.Period}
	m.period, m.changesAt, err = r.ResolvePeriod(n.Period, now)
	return m, err
}

// compiledOf finds the definition of a board that is to be written to.
func (s *Store) compiledOf(ctx context.Context, n definition.Name) (*definition.Compiled, error) {
	return findDefinition(ctx, &s.catalog, func(d *definitions, _ bool) (*definition.Compiled, error) { return d.compiled(n) })
}

// compiledNamed is rule of a name.
func (s *Store) compiledNamed(ctx context.Context, board string) (*definition.Compiled, error) {
	n, err := definition.ParseName(board)
	if err != nil {
		return nil, err
	}
	return s.compiledOf(ctx, n)
}

// maxAttempts is how often a call is made again because Redis's clock turned out to be
// in another period.
const maxAttempts = 5

// readTimes tells when something was read, and of what result.
type readTimes struct {
	now    int64 // Redis's clock
	oldest int64 // of a live board: when the oldest event happened that there is, ms since 1970; 0: there is none
	built  int64 // when the result was begun to be built that it is of; 0: there is none, or it is no good any more
}

// takeReadTimes takes the values with which each answer of a reading script begins.
func takeReadTimes(r *script.Reply) readTimes {
	return readTimes{now: r.Number(), built: r.Number(), oldest: r.Number()}
}

// readResolved calls read with what a name means, again where Redis's clock turns out to
// be in another period than was thought, or a result has gone that was there before, or
// points count that have left their window. It
// returns what the name meant at the time that read returned.
func (s *Store) readResolved(ctx context.Context, name string, read func(resolved) (readTimes, error)) (resolved, int64, error) {
	at, lost, swept := int64(0), false, int64(0)
	for range maxAttempts {
		m, err := s.resolve(ctx, name, at)
		if err != nil {
			return m, 0, err
		}
		known := int64(0)
		if m.compiled.IsBuilt() {
			if err := s.ensureFresh(ctx, m.Instance, m.compiled); err != nil {
				return m, 0, fmt.Errorf("read board %q: %w", name, err)
			}
			known = s.builds.known(m.Instance)
		}
		found, err := read(m)
		if err != nil {
			return m, 0, fmt.Errorf("read board %q: %w", name, err)
		}
		if found.built < known { // it was deleted, or Redis has lost it
			s.builds.note(m.Instance, 0)
			if lost {
				return m, 0, fmt.Errorf("read board %q: %w: its result is lost again and again", name, ErrUnavailable)
			}
			lost = true
			continue
		}
		// What has come to be over since the last sweep will do.
		if m.compiled.IsLive() && isOverdue(m.compiled, found.oldest, found.now) && (swept == 0 || isOverdue(m.compiled, found.oldest, swept)) {
			if swept, err = s.sweepToNow(ctx, m.Instance); err != nil {
				return m, 0, fmt.Errorf("read board %q: %w", name, err)
			}
			continue
		}
		now := found.now
		s.catalog.clock.observe(now)
		was := m.period
		if m.period, m.changesAt, err = m.compiled.ResolvePeriod(m.askedPeriod, now); err == nil && m.period == was {
			return m, now, nil
		}
		s.catalog.clock.set(now)
		at = now
	}
	return resolved{}, 0, fmt.Errorf("read board %q: %w: its periods pass too fast", name, ErrUnavailable)
}
