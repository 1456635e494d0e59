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

func (s *Store) about(ctx context.Context, m resolved) About {
	d := m.compiled.Board
	a := About{Board: m.Board, Title: d.Title, Description: d.Description, Period: m.period.Name, Opens: m.period.Opens, Ends: m.compiled.PeriodEnd(m.period)}
	if d.Starts.After(a.Opens) {
		a.Opens = d.Starts
	}
	if !d.Family() || a.Title == nil && a.Description == nil {
		return a
	}
	values := make(map[string]string)
	for _, part := range s.Parts(ctx, d, []string{m.Instance})[0] {
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
