package ranking

import (
	"cmp"
	"context"
	"time"

	"rankcast/ranking/definition"
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
// on all boards of its kind, or if Redis does not answer.
func (s *Store) About(ctx context.Context, board string) (About, error) {
	m, err := s.resolve(ctx, board, 0)
	if err != nil {
		return About{}, err
	}
	return s.about(ctx, m), nil
}

// AboutEach is About of some boards. It reads the profiles of all instances of a family in one round trip for each kind.
// The result lacks boards that do not exist.
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

func (s *Store) about(ctx context.Context, m resolved) About {
	return s.aboutEach(ctx, []resolved{m})[0]
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
	a := About{Board: m.Board, Title: d.Title, Description: d.Description, Period: m.period.Name, Opens: m.period.Opens, Ends: m.compiled.PeriodEnd(m.period)}
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
