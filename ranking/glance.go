package ranking

import (
	"context"
	"fmt"
)

// Glance is what a list of boards shows of one.
type Glance struct {
	State
	Bounds
	Period string
	Kind   string // as Page has it
	Total  int64
	Leader *Entry // the first entry; nil where there is none, or it is not known
	Built  bool   // the board is a result: this is of the last there is, if there is one
}

// Glance reads where a board is and who leads it. Unlike Read it has nothing built, and
// keeps no result that nobody asks for: of a board that is built it tells of the result
// there is, and who leads that only while it is no older than it may get. It is one call.
func (s *Store) Glance(ctx context.Context, board string) (Glance, error) {
	m, err := s.meaning(ctx, board, 0)
	if err != nil {
		return Glance{}, err
	}
	if m.rule.IsBuilt() {
		return s.glanceBuilt(ctx, board, m)
	}
	p, err := s.Read(ctx, board, Query{Limit: 1})
	if err != nil {
		return Glance{}, err
	}
	g := Glance{State: p.State, Bounds: p.Bounds, Period: p.Period, Kind: p.Kind, Total: p.Total}
	if len(p.Entries) > 0 {
		g.Leader = &p.Entries[0]
	}
	return g, nil
}

func (s *Store) glanceBuilt(ctx context.Context, board string, m meaning) (Glance, error) {
	p, at, err := s.readPage(ctx, m.keys, m.rule.Board, Query{FromRank: 1, Limit: 1})
	if err != nil {
		return Glance{}, fmt.Errorf("read board %q: %w", board, err)
	}
	s.catalog.clock.hear(at.now)
	g := Glance{State: p.State, Bounds: m.bounds(at.now), Period: m.period.Name, Kind: m.rule.Kind, Total: p.Total, Built: true}
	if len(p.Entries) > 0 && at.built > 0 && s.age(at.built) <= m.rule.RefreshInterval() {
		g.Leader = &p.Entries[0]
	}
	return g, nil
}
