package ranking

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/redisconn"
)

// About tells people what a board is, and which span of time it shows.
type About struct {
	Board
	// Title and Description are those of the definition. In those of an instance, the value of each
	// placeholder stands in the place of the placeholder, see Store.About.
	Title, Description definition.Label
	Period             string    // "" on a board without periods
	Opens, Ends        time.Time // of the period, or of the activity; zero: none
}

// About tells what a board is. It reads no board.
//
// In the title of an instance, such as "Fans of {star}" of fans:s17, the name of the member s17 of kind star
// stands in the place of {star}. Its id stands there if the member has no profile, if it is hidden
// on all boards of its kind, or if Redis does not answer. It also stands there if the instance holds nothing, unless
// WithNames allows the kind.
func (s *Store) About(ctx context.Context, board string) (About, error) {
	m, err := s.resolve(ctx, board, 0)
	if err != nil {
		return About{}, err
	}
	return s.about(ctx, m, State{}), nil
}

// withNamesKey is the key of WithNames in a context.
type withNamesKey struct{}

// WithNames lets About name members in the title of an instance that holds nothing: those of the kinds for which mayRead
// returns true. By default About names none there, because anybody can make up instances of a family.
func WithNames(ctx context.Context, mayRead func(kind string) bool) context.Context {
	return context.WithValue(ctx, withNamesKey{}, mayRead)
}

// AboutEach is About of boards that hold something: it names members in each title. It reads the profiles of all
// instances of a family in one round trip for each kind. The result lacks boards that do not exist.
func (s *Store) AboutEach(ctx context.Context, boards []string) map[string]About {
	of := make(map[string][]resolved) // by definition
	for _, board := range boards {
		if m, err := s.resolve(ctx, board, 0); err == nil {
			of[m.compiled.Name] = append(of[m.compiled.Name], m)
		}
	}
	abouts := make(map[string]About, len(boards))
	for _, boards := range of {
		for i, about := range s.aboutEach(ctx, boards) {
			abouts[boards[i].Name] = about
		}
	}
	return abouts
}

// about tells what a board is. present is the state of its period; zero: the caller has not read it, or it has none.
func (s *Store) about(ctx context.Context, m resolved, present State) About {
	if present.Epoch == "" && !s.mayNameParts(ctx, m) {
		return m.about(bareParts(m.compiled.Board, m.Instance))
	}
	return s.aboutEach(ctx, []resolved{m})[0]
}

// mayNameParts reports whether the title of a board may name the members that its name stands for: the caller may read
// their kinds, or the board holds something.
func (s *Store) mayNameParts(ctx context.Context, m resolved) bool {
	if m.compiled.Title == nil && m.compiled.Description == nil {
		return true
	}
	mayRead, _ := ctx.Value(withNamesKey{}).(func(kind string) bool)
	for kind := range m.compiled.Parts(m.Instance) {
		if s.Profiled(kind) && (mayRead == nil || !mayRead(kind)) {
			return s.isListed(ctx, m)
		}
	}
	return true
}

// isListed reports whether an instance, or a source of its union, holds something. It does not if Redis does not answer.
func (s *Store) isListed(ctx context.Context, m resolved) bool {
	pipe := s.rdb.Pipeline()
	found := []*redis.FloatCmd{pipe.ZScore(ctx, s.keys.Instances(m.compiled.Slot()), m.Instance)}
	if m.compiled.Union != nil {
		d, err := s.catalog.get(ctx)
		if err != nil {
			return false
		}
		sources, _ := s.unionSources(m.compiled, d, m.Instance, s.catalog.clock.now())
		for _, source := range sources {
			found = append(found, pipe.ZScore(ctx, s.keys.Instances(source.rule.Slot()), source.instance))
		}
	}
	redisconn.ExecEach(ctx, pipe)
	return slices.ContainsFunc(found, func(c *redis.FloatCmd) bool { return c.Err() == nil })
}

// aboutEach tells what boards of one definition are.
func (s *Store) aboutEach(ctx context.Context, boards []resolved) []About {
	d := boards[0].compiled.Board
	parts := make([][]Part, len(boards))
	if d.Family() && (d.Title != nil || d.Description != nil) {
		instances := make([]string, len(boards))
		for i, m := range boards {
			instances[i] = m.Instance
		}
		parts = s.Parts(ctx, d, instances)
	}
	abouts := make([]About, len(boards))
	for i, m := range boards {
		abouts[i] = m.about(parts[i])
	}
	return abouts
}

// about tells what a board is. parts are the members that stand for placeholders in its title and description.
func (m resolved) about(parts []Part) About {
	d := m.compiled.Board
	a := About{Board: m.Board, Title: d.Title, Description: d.Description, Period: m.period.Name, Opens: m.period.Opens,
		Ends: m.compiled.PeriodEnd(m.period)}
	if d.Starts.After(a.Opens) {
		a.Opens = d.Starts
	}
	if len(parts) == 0 {
		return a
	}
	values := make(map[string]string)
	for _, part := range parts {
		values[part.Kind] = cmp.Or(part.Profile.Name, part.Member)
	}
	value := func(placeholder string) string { return values[placeholder] }
	if a.Title != nil {
		a.Title = d.Title.Fill(value)
	}
	if a.Description != nil {
		a.Description = d.Description.Fill(value)
	}
	return a
}

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
