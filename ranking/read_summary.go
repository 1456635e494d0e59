package ranking

import (
	"context"
	"fmt"
)

// Summary is the line of a board in a list of boards.
type Summary struct {
	About About
	State
	Bounds
	Period string
	Kind   string // as in Page
	Total  int64
	Leader *Entry // the first entry; nil where the board has none, or it is not known
	Built  bool   // the board has a result: the summary is of the latest one, if any
}

// Summary reads the state of a board and its first entry, in one call. Unlike Read it
// starts no build, and does not extend the retention of a result. Of a board with a result
// it reads the present one. Leader is nil then if that result is older than refresh allows.
func (s *Store) Summary(ctx context.Context, board string) (Summary, error) {
	m, err := s.resolve(ctx, board, 0)
	if err != nil {
		return Summary{}, err
	}
	if m.compiled.IsBuilt() {
		return s.resultSummary(ctx, board, m)
	}
	p, m, err := s.readMeaning(ctx, board, Query{Limit: 1})
	if err != nil {
		return Summary{}, err
	}
	g := Summary{About: s.about(ctx, m), State: p.State, Bounds: p.Bounds, Period: p.Period, Kind: p.Kind, Total: p.Total}
	if len(p.Entries) > 0 {
		g.Leader = &p.Entries[0]
	}
	return g, nil
}

func (s *Store) resultSummary(ctx context.Context, board string, m resolved) (Summary, error) {
	p, at, err := s.readPage(ctx, m.keys, m.compiled.Board, Query{FromRank: 1, Limit: 1})
	if err != nil {
		return Summary{}, fmt.Errorf("read board %q: %w", board, err)
	}
	s.catalog.clock.observe(at.now)
	g := Summary{About: s.about(ctx, m), State: p.State, Bounds: m.bounds(at.now), Period: m.period.Name, Kind: m.compiled.Kind, Total: p.Total, Built: true}
	if len(p.Entries) > 0 && at.built > 0 && s.age(at.built) <= m.compiled.RefreshInterval() {
		g.Leader = &p.Entries[0]
	}
	return g, nil
}
