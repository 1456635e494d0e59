package ranking

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"rankcast/ranking/definition"
)

// MaxMembers is the most members that one call of Members looks up.
const MaxMembers = 100

// Members are some members of a board, at one state of it.
type Members struct {
	State
	Bounds
	Period string   // "" on a board without periods
	Kind   string   // kind of the members, as for their profiles
	Total  int64    // number of members on the board
	List   []Member // in the order of the question
}

// Member is one of the members in the question.
type Member struct {
	Entry // Rank is 0 for a member that is not on the board, and then only Member is set
	// Among is its rank among the members in the question, by the ties rule of the board.
	// It is 0 for a member that is not on the board. A member given twice counts once.
	Among int64
}

// Members looks up 1 to MaxMembers members at once, such as friends, and ranks them among
// themselves. The answer has the order of the question. It returns a FieldError for an
// invalid member id.
func (s *Store) Members(ctx context.Context, board string, members []string) (Members, error) {
	if len(members) < 1 || len(members) > MaxMembers {
		return Members{}, Invalid("id", fmt.Sprintf("is given %d times; want 1 to %d", len(members), MaxMembers))
	}
	lookups := make([]Lookup, len(members))
	for i, m := range members {
		if err := definition.CheckText("id", m); err != nil {
			return Members{}, err
		}
		lookups[i] = Lookup{Member: m}
	}
	p, err := s.Places(ctx, board, lookups)
	if err != nil {
		return Members{}, err
	}
	m := Members{State: p.State, Bounds: p.Bounds, Period: p.Period, Kind: p.Kind, Total: p.Total, List: make([]Member, len(members))}
	for i, place := range p.List {
		m.List[i].Entry = place.Entry
	}
	m.rank(p.Ties)
	return m, nil
}

// ByRank returns the list in the order of the board. Members that are not on the board come
// last, in the order of the question.
func (m Members) ByRank() []Member {
	list := slices.Clone(m.List)
	slices.SortStableFunc(list, func(a, b Member) int {
		switch {
		case a.Rank == 0 || b.Rank == 0:
			return cmp.Compare(b.Rank, a.Rank)
		case a.Key.Before(a.Member, b.Key, b.Member):
			return -1
		case b.Key.Before(b.Member, a.Key, a.Member):
			return 1
		}
		return 0
	})
	return list
}

// rank sets Among of each member.
func (m Members) rank(t definition.Ties) {
	among := make(map[string]int64, len(m.List))
	var last Entry
	rank := int64(0)
	for _, e := range m.ByRank() {
		if e.Rank == 0 {
			break
		}
		if _, again := among[e.Member]; again {
			continue
		}
		switch {
		case len(among) > 0 && t.Tied() && e.Score == last.Score:
		case t == definition.Dense:
			rank++
		default:
			rank = int64(len(among)) + 1
		}
		among[e.Member], last = rank, e.Entry
	}
	for i, e := range m.List {
		m.List[i].Among = among[e.Member]
	}
}
