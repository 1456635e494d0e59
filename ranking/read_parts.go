package ranking

import (
	"context"

	"rankcast/ranking/definition"
)

// Part is what stands for one placeholder in the name of an instance: s17 for {star} in fans:s17. It is the id of a
// member if there are members of a kind with the placeholder's name.
type Part struct {
	Kind, Member string
	Profile      Profile // zero: the member has none, or is hidden on all boards of its kind
}

// Parts returns the parts of the name of each instance of a family, at most MaxPage instances that hold something.
// It reads the profiles of each kind in one call. Parts whose profiles it cannot read have none.
func (s *Store) Parts(ctx context.Context, family definition.Board, instances []string) [][]Part {
	of := make([][]Part, len(instances))
	members := make(map[string][]string) // by kind
	for i, instance := range instances {
		of[i] = bareParts(family, instance)
		for _, p := range of[i] {
			if definition.CheckKind(p.Kind) == nil && definition.CheckMember(p.Member) == nil {
				members[p.Kind] = append(members[p.Kind], p.Member)
			}
		}
	}
	if len(members) == 0 {
		return of
	}
	d, err := s.catalog.get(ctx)
	if err != nil {
		return of
	}
	for kind, ids := range members {
		found, _ := s.Profiles(ctx, kind, ids)
		for _, parts := range of {
			for i := range parts {
				if p := &parts[i]; p.Kind == kind && !d.hidden.hidesIn(kindScope(kind), p.Member) {
					p.Profile = found[p.Member]
				}
			}
		}
	}
	return of
}

// bareParts are the parts of the name of an instance, without profiles.
func bareParts(family definition.Board, instance string) (parts []Part) {
	for kind, member := range family.Parts(instance) {
		parts = append(parts, Part{Kind: kind, Member: member})
	}
	return parts
}
