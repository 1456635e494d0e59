package ranking

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"rankcast/ranking/definition"
)

// MembersQuery asks for members of a kind.
type MembersQuery struct {
	Text   string // as that of Search
	Limit  int    // 1 to MaxFound
	Hidden bool   // also find members that are hidden on all boards of the kind
}

// FoundMembers are the members of a kind that a search has found.
type FoundMembers struct {
	Complete bool // as that of SearchResult
	List     []FoundMember
}

// FoundMember is a member of a kind that a search has found.
type FoundMember struct {
	Member  string
	Profile Profile
	Hidden  bool // on all boards of the kind
}

// SearchMembers finds members of a kind by their names and ids, wherever they stand. It matches as Search does on a board of
// more than 1,000 members, and finds a member without a profile only if the member is hidden and the text is its id. The
// member with the id comes first, then members whose whole name is the text, then all others; each by id.
func (s *Store) SearchMembers(ctx context.Context, kind string, asked MembersQuery) (found FoundMembers, err error) {
	q, err := parseQuery(asked.Text, asked.Limit)
	if err := cmp.Or(definition.CheckKind(kind), err); err != nil {
		return found, err
	}
	d, err := s.catalog.get(ctx)
	if err != nil {
		return found, fmt.Errorf("search members of kind %q: %w", kind, err)
	}
	isHidden := func(member string) bool { return d.hidden.hidesIn(kindScope(kind), member) }
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	var list []candidate
	var profiles map[string]Profile
	err = s.inTurn(ctx, func() (err error) {
		if list, found.Complete, err = s.searchKind(ctx, kind, q); err != nil {
			return err
		}
		if !asked.Hidden {
			list = slices.DeleteFunc(list, func(c candidate) bool { return isHidden(c.member) })
		}
		slices.SortFunc(list, compareCandidates)
		// The text and its spelling without white space may be ids of no member.
		list, profiles, err = s.firstMatching(ctx, kind, q, list, asked.Limit+2)
		return err
	})
	if err != nil {
		return FoundMembers{}, fmt.Errorf("search members of kind %q: %w", kind, err)
	}
	for _, c := range list {
		m := FoundMember{c.member, profiles[c.member], isHidden(c.member)}
		if (m.Profile != Profile{} || m.Hidden && c.isID) && len(found.List) < asked.Limit {
			found.List = append(found.List, m)
		}
	}
	return found, nil
}
