package ranking

import (
	"context"
	"fmt"

	"rankcast/ranking/definition"
)

// SummaryEntries is the number of entries in a Summary.
const SummaryEntries = 5

// Summary is the line of a board in a list of boards.
type Summary struct {
	About About
	State
	Bounds
	Period string
	Kind   string // as in Page
	Total  int64
	Top    []Entry // the first SummaryEntries; nil where the board has none, or they are not known
	Built  bool    // the board has a result: the summary is of the latest one, if any
}

// Summary reads the state of a board and its first entries, in one call. Unlike Read it
// starts no build, and does not extend the retention of a result. Of a board with a result
// it reads the present one. Top is nil then if that result is older than refresh allows.
func (s *Store) Summary(ctx context.Context, board string) (Summary, error) {
	var p Page
	m, now, isFresh, err := s.readPresent(ctx, board, func(m resolved) (at readTimes, err error) {
		p, at, err = s.readPage(ctx, m.keys, m.compiled.Board, Query{FromRank: 1, Limit: SummaryEntries})
		return at, err
	})
	if err != nil {
		return Summary{}, err
	}
	g := Summary{About: s.about(ctx, m, p.State), State: p.State, Bounds: m.bounds(now), Period: m.period.Name, Kind: m.compiled.Kind, Total: p.Total, Built: m.compiled.IsBuilt()}
	if len(p.Entries) > 0 && isFresh {
		g.Top = p.Entries
	}
	return g, nil
}

// readPresent is readResolved without builds: of a board with a result it reads the present one, and does not extend
// its retention. isFresh reports whether that result is young enough to answer from; it is true of a board without
// results.
func (s *Store) readPresent(ctx context.Context, board string, read func(resolved) (readTimes, error)) (m resolved, now int64, isFresh bool, err error) {
	m, err = s.resolve(ctx, board, 0)
	if err != nil {
		return m, 0, false, err
	}
	if !m.compiled.IsBuilt() {
		m, now, err = s.readResolved(ctx, board, read)
		return m, now, true, err
	}
	at, err := read(m)
	if err != nil {
		return m, 0, false, fmt.Errorf("read board %q: %w", board, err)
	}
	s.catalog.clock.observe(at.now)
	return m, at.now, s.isFresh(m.compiled, at.built), nil
}

// isFresh reports whether refresh allows to answer from a result. built is when its build began, in µs since 1970; 0
// stands for no result.
func (s *Store) isFresh(r *definition.Compiled, built int64) bool {
	return built > 0 && s.age(built) <= r.RefreshInterval()
}
