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

// meaning is what a name means at a moment of Redis's clock.
type meaning struct {
	Board
	rule   *definition.Compiled
	asked  string // the period that was named: "" for the one that is current
	period calendar.Period
	moves  int64 // when the name means another period, or this one closes, µs since 1970; 0: never
	keys   keyspace.BoardKeys
}

// Board finds the board that a name means. It returns a FieldError for what is no
// name, ErrUnknownBoard and ErrUnknownPeriod. As long as Redis was away since this
// process began, each name is taken to mean a board, whose Definition is not known.
func (s *Store) Board(ctx context.Context, name string) (Board, error) {
	m, err := s.meaning(ctx, name, 0)
	if errors.Is(err, ErrUnavailable) && s.catalog.latest.Load() == nil {
		n, err := definition.ParseName(name)
		return Board{Name: name, Instance: n.Instance()}, err
	}
	return m.Board, err
}

// meaning finds what a name means at a moment of Redis's clock, in µs since 1970; 0 for
// now. What is not found is looked for once more by what Redis has, for another node
// may have defined it a moment ago.
func (s *Store) meaning(ctx context.Context, named string, now int64) (meaning, error) {
	n, err := definition.ParseName(named)
	if err != nil {
		return meaning{}, err
	}
	m, err := find(ctx, &s.catalog, func(d *definitions, anew bool) (meaning, error) {
		at := now
		switch {
		case anew:
			at = d.looked
		case at == 0:
			at = s.catalog.clock.now()
		}
		m, err := d.meaning(n, at)
		if err != nil {
			err = fmt.Errorf("board %q: %w", named, err)
		}
		return m, err
	})
	if err != nil {
		return meaning{}, err
	}
	m.Name, m.keys = named, s.keys.Board(m.Instance, m.period.Name)
	return m, nil
}

// meaning finds what a name means at a moment of Redis's clock.
func (d *definitions) meaning(n definition.Name, now int64) (meaning, error) {
	r, err := d.rule(n)
	if err != nil {
		return meaning{}, err
	}
	m := meaning{Board: Board{Instance: n.Instance(), Definition: r.Board}, rule: r, asked: n.Period}
	m.period, m.moves, err = r.ResolvePeriod(n.Period, now)
	return m, err
}

// rule finds the definition of a board that is to be written to.
func (s *Store) rule(ctx context.Context, n definition.Name) (*definition.Compiled, error) {
	return find(ctx, &s.catalog, func(d *definitions, _ bool) (*definition.Compiled, error) { return d.rule(n) })
}

// ruleNamed is rule of a name.
func (s *Store) ruleNamed(ctx context.Context, board string) (*definition.Compiled, error) {
	n, err := definition.ParseName(board)
	if err != nil {
		return nil, err
	}
	return s.rule(ctx, n)
}

// turnsMost is how often a call is made again because Redis's clock turned out to be
// in another period.
const turnsMost = 5

// readAt tells when something was read, and of what result.
type readAt struct {
	now    int64 // Redis's clock
	oldest int64 // of a live board: when the oldest event happened that there is, ms since 1970; 0: there is none
	built  int64 // when the result was begun to be built that it is of; 0: there is none, or it is no good any more
}

// takeReadAt takes the values with which each answer of a reading script begins.
func takeReadAt(r *script.Reply) readAt {
	return readAt{now: r.Number(), built: r.Number(), oldest: r.Number()}
}

// reading calls read with what a name means, again where Redis's clock turns out to
// be in another period than was thought, or a result has gone that was there before, or
// points count that have left their window. It
// returns what the name meant at the time that read returned.
func (s *Store) reading(ctx context.Context, name string, read func(meaning) (readAt, error)) (meaning, int64, error) {
	at, lost, swept := int64(0), false, int64(0)
	for range turnsMost {
		m, err := s.meaning(ctx, name, at)
		if err != nil {
			return m, 0, err
		}
		known := int64(0)
		if m.rule.IsBuilt() {
			if err := s.fresh(ctx, m.Instance, m.rule); err != nil {
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
		if m.rule.IsLive() && isOverdue(m.rule, found.oldest, found.now) && (swept == 0 || isOverdue(m.rule, found.oldest, swept)) {
			if swept, err = s.current(ctx, m.Instance); err != nil {
				return m, 0, fmt.Errorf("read board %q: %w", name, err)
			}
			continue
		}
		now := found.now
		s.catalog.clock.hear(now)
		was := m.period
		if m.period, m.moves, err = m.rule.ResolvePeriod(m.asked, now); err == nil && m.period == was {
			return m, now, nil
		}
		s.catalog.clock.set(now)
		at = now
	}
	return meaning{}, 0, fmt.Errorf("read board %q: %w: its periods pass too fast", name, ErrUnavailable)
}
