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
	Name       string           // the given name: "fans:s17@-1"
	Instance   string           // name for writes and for the feed: "fans:s17"
	Definition definition.Board // of the board, or of its family
}

// resolved is the meaning of a name at one moment of Redis's clock.
type resolved struct {
	Board
	compiled    *definition.Compiled
	askedPeriod string // the period in the name; "" for the current one
	period      calendar.Period
	changesAt   int64 // when the name gets another meaning, or this period closes, µs since 1970; 0: never
	keys        keyspace.BoardKeys
	shards      []keyspace.BoardKeys // of each shard; nil: the board has none, and keys are all
}

// eachShard returns the keys of each shard, or those of the board alone.
func (m *resolved) eachShard() []keyspace.BoardKeys {
	if m.shards == nil {
		return []keyspace.BoardKeys{m.keys}
	}
	return m.shards
}

// setKeys sets the keys of the period that a name means.
func (s *Store) setKeys(m *resolved) {
	if m.keys = s.keys.Board(m.Instance, m.period.Name); m.compiled.Shards > 0 {
		m.shards = s.periodKeys(m.compiled, m.Instance, m.period.Name)
	}
}

// resolvedPeriod is what a name of a period of an instance means.
func (s *Store) resolvedPeriod(instance string, r *definition.Compiled, p calendar.Period) resolved {
	m := resolved{Board: Board{Name: instance, Instance: instance, Definition: r.Board}, compiled: r, askedPeriod: p.Name, period: p}
	s.setKeys(&m)
	return m
}

// Board finds the board that a name means. It returns a FieldError for an invalid name, or
// ErrUnknownBoard or ErrUnknownPeriod. If this process has never reached Redis, Board
// accepts each valid name and leaves Definition empty.
func (s *Store) Board(ctx context.Context, name string) (Board, error) {
	m, err := s.resolve(ctx, name, 0)
	if errors.Is(err, definition.ErrUnavailable) && s.catalog.latest.Load() == nil {
		n, err := definition.ParseName(name)
		return Board{Name: name, Instance: n.Instance()}, err
	}
	return m.Board, err
}

// resolve finds the meaning of a name at a moment of Redis's clock, in µs since 1970; 0
// stands for now. When the node's copy of the definitions has no match, resolve reads the
// definitions from Redis: another node may have defined the board a moment ago.
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
	m.Name = named
	s.setKeys(&m)
	return m, nil
}

// resolve finds the meaning of a name at a moment of Redis's clock, in µs since 1970.
func (d *definitions) resolve(n definition.Name, now int64) (resolved, error) {
	r, err := d.compiled(n)
	if err != nil {
		return resolved{}, err
	}
	m := resolved{Board: Board{Instance: n.Instance(), Definition: r.Board}, compiled: r, askedPeriod: n.Period}
	m.period, m.changesAt, err = r.ResolvePeriod(n.Period, now)
	return m, err
}

// compiledOf finds the definition for a write to a board.
func (s *Store) compiledOf(ctx context.Context, n definition.Name) (*definition.Compiled, error) {
	return findDefinition(ctx, &s.catalog, func(d *definitions, _ bool) (*definition.Compiled, error) { return d.compiled(n) })
}

// compiledNamed is compiledOf for a name that is not parsed yet.
func (s *Store) compiledNamed(ctx context.Context, board string) (*definition.Compiled, error) {
	n, err := definition.ParseName(board)
	if err != nil {
		return nil, err
	}
	return s.compiledOf(ctx, n)
}

// maxAttempts bounds how often a call is made again because the node's knowledge was out of
// date: the clock, the period, the definitions or the window.
const maxAttempts = 5

// readTimes says when a read took place, and how old the data were.
type readTimes struct {
	now    int64 // Redis's clock, µs since 1970
	oldest int64 // of a live board: time of its oldest event, ms since 1970; 0: it has no event
	built  int64 // when the build of the result began, µs since 1970; 0: no result, or an unusable one

	frozen freezeState
}

// takeReadTimes takes the values with which each answer of a reading script begins.
func takeReadTimes(r *script.Reply) readTimes {
	return readTimes{now: r.Number(), built: r.Number(), oldest: r.Number(), frozen: takeFreezeState(r)}
}

// readResolved resolves a name and calls read. It calls read again when Redis's clock is in
// another period, or a result has gone. It does so too when a live board counts events that
// have left its window. It returns the meaning of the name at the time of the last read, and
// completes the head h, which that read has set.
func (s *Store) readResolved(ctx context.Context, name string, h *Head, read func(resolved) (readTimes, error)) (resolved, error) {
	at, lost, swept := int64(0), false, int64(0)
	for range maxAttempts {
		m, err := s.resolve(ctx, name, at)
		if err != nil {
			return m, err
		}
		known := int64(0)
		if m.compiled.IsBuilt() {
			if err := s.ensureFresh(ctx, m.Instance, m.compiled, s.builds.wait); err != nil {
				return m, fmt.Errorf("read board %q: %w", name, err)
			}
			known = s.builds.known(m.Instance)
		}
		found, err := read(m)
		if err != nil {
			return m, fmt.Errorf("read board %q: %w", name, err)
		}
		if found.built < known { // a caller deleted the result, or Redis lost it
			s.builds.note(m.Instance, 0)
			if lost {
				return m, fmt.Errorf("read board %q: %w: its result disappeared twice during the read", name, definition.ErrUnavailable)
			}
			lost = true
			continue
		}
		// Events that left the window after the last sweep may stay.
		if m.compiled.IsLive() && isOverdue(m.compiled, found.oldest, found.now) && (swept == 0 || isOverdue(m.compiled, found.oldest, swept)) {
			if swept, err = s.sweepToNow(ctx, m.Instance); err != nil {
				return m, fmt.Errorf("read board %q: %w", name, err)
			}
			continue
		}
		now := found.now
		s.catalog.clock.observe(now)
		was := m.period
		if m.period, m.changesAt, err = m.compiled.ResolvePeriod(m.askedPeriod, now); err == nil && m.period == was {
			h.describe(m, found)
			return m, nil
		}
		s.catalog.clock.set(now)
		at = now
	}
	return resolved{}, fmt.Errorf("read board %q: %w: the board's periods pass too fast", name, definition.ErrUnavailable)
}
