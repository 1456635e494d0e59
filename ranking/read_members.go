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
	Period string // "" on a board without periods
	Kind   string // what the members are, as their profiles are kept
	Total  int64  // members on the board
	List   []Member
}

// Member is one that was asked for.
type Member struct {
	Entry // Rank is 0 for a member that is not on the board, which has no more than its name
	// Among is its rank among those asked for, by the ties of the board; 0 likewise. One
	// that was asked for twice counts once.
	Among int64
}

// Members looks up 1 to MaxMembers members at once, friends for one, and ranks them
// among themselves. The answer has the order of the question. It returns a FieldError
// for a member that is none.
func (s *Store) Members(ctx context.Context, board string, members []string) (Members, error) {
	if len(members) < 1 || len(members) > MaxMembers {
		return Members{}, Invalid("id", fmt.Sprintf("is there %d times; want 1 to %d", len(members), MaxMembers))
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

// ByRank has the list in the order of the board, and those that are not on it last, as
// they were asked for.
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

// rank gives each its rank among them all.
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
