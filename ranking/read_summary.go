package ranking

import (
	"context"
	"fmt"
)

// Summary is what a list of boards shows of one.
type Summary struct {
	State
	Bounds
	Period string
	Kind   string // as Page has it
	Total  int64
	Leader *Entry // the first entry; nil where there is none, or it is not known
	Built  bool   // the board is a result: this is of the last there is, if there is one
}

// Summary reads where a board is and who leads it. Unlike Read it has nothing built, and
// keeps no result that nobody asks for: of a board that is built it tells of the result
// there is, and who leads that only while it is no older than it may get. It is one call.
func (s *Store) Summary(ctx context.Context, board string) (Summary, error) {
	m, err := s.resolve(ctx, board, 0)
	if err != nil {
		return Summary{}, err
	}
	if m.compiled.IsBuilt() {
		return s.resultSummary(ctx, board, m)
	}
	p, err := s.Read(ctx, board, Query{Limit: 1})
	if err != nil {
		return Summary{}, err
	}
	g := Summary{State: p.State, Bounds: p.Bounds, Period: p.Period, Kind: p.Kind, Total: p.Total}
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
	g := Summary{State: p.State, Bounds: m.bounds(at.now), Period: m.period.Name, Kind: m.compiled.Kind, Total: p.Total, Built: true}
	if len(p.Entries) > 0 && at.built > 0 && s.age(at.built) <= m.compiled.RefreshInterval() {
		g.Leader = &p.Entries[0]
	}
	return g, nil
}
