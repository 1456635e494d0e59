package watch

import (
	"strings"

	"rankcast/cmd/rankcast/internal/term"
	"rankcast/ranking/scoretext"
	"rankcast/server/client"
)

// heads are the heads above scores: one, or that of each column.
func (s *model) heads() []string {
	if s.columns == nil {
		return []string{"score"}
	}
	heads := make([]string, len(s.columns))
	for i, c := range s.columns {
		heads[i] = term.Printable(scoretext.Head(c, "en"))
	}
	return heads
}

// scores are the texts of an entry's score, in English as all texts here: one, or that of each column.
func (s *model) scores(e client.Entry) []string {
	if s.columns == nil {
		return []string{term.Printable(scoretext.Score(e.Score, s.display, "en"))}
	}
	texts := make([]string, len(s.columns))
	for i, c := range s.columns {
		texts[i] = term.Printable(scoretext.Score(e.Columns.Value(c.Name), c.Display, "en"))
	}
	return texts
}

// allColumns are texts of scores, with the head of each column.
func (s *model) allColumns(texts []string) string {
	if s.columns == nil {
		return texts[0]
	}
	parts := make([]string, len(texts))
	for i, head := range s.heads() {
		parts[i] = head + " " + texts[i]
	}
	return strings.Join(parts, ", ")
}

// gap is the text of the distance to the next entry: of each column that differs.
func (s *model) gap(m *client.Me) string {
	if s.columns == nil {
		without := s.display
		without.Unit = nil
		return scoretext.Score(*m.ToNext, without, "en")
	}
	var parts []string
	for i, head := range s.heads() {
		c := s.columns[i]
		if n := m.ToNextColumns.Value(c.Name); n != 0 {
			without := c.Display
			without.Unit = nil
			parts = append(parts, head+" "+scoretext.Score(n, without, "en"))
		}
	}
	if parts == nil {
		return "0"
	}
	return strings.Join(parts, ", ")
}

// toNext is what each column of a score lacks to be that of the one above, as the server computes it.
func (s *model) toNext(own, above client.Columns) (lacks client.Columns) {
	for _, c := range s.columns {
		n := above.Value(c.Name) - own.Value(c.Name)
		lacks = append(lacks, client.Column{Name: c.Name, Value: -c.Order.Sign() * n})
	}
	return lacks
}
