package definition

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Show says what a page about an event shows. Each board is one that the event updates, as its updates name it.
type Show struct {
	Board  string `json:"board"`           // its members are whom the event is for, such as stars: one field of the event is the member
	Fans   string `json:"fans,omitzero"`   // one board for each of those members: "fans:{star}"; "" for none
	Recent string `json:"recent,omitzero"` // the same for a short time: "fans3h:{star}"; "" for none
	Title  Label  `json:"title,omitzero"`  // the heading of the page, and the text of links to it; up to 80 characters. Default: that of Board
}

// ShownField is the field that names a member of Show.Board. The event must be normalized and have a Show.
func (e Event) ShownField() string { return e.compiled.shown }

// ShownBoards returns the names of Show.Fans and Show.Recent for a member of Show.Board. A name is "" where the
// definition has no such board, and both are "" for a member that can be no part of a name. The event must be
// normalized and have a Show.
func (e Event) ShownBoards(member string) (fans, recent string) {
	if partFault(member) != "" {
		return "", ""
	}
	field := "{" + e.ShownField() + "}"
	return strings.ReplaceAll(e.Show.Fans, field, member), strings.ReplaceAll(e.Show.Recent, field, member)
}

// compileShow checks the show of an event whose updates are compiled, and normalizes its title.
func (c *compiledEvent) compileShow(e *Event) error {
	if e.Show == nil {
		return nil
	}
	show := *e.Show
	e.Show = &show
	if err := show.Title.normalize("show.title", func(text string) string { return lengthFault(text, maxTitleChars) }); err != nil {
		return err
	}
	var boards []string
	for _, t := range e.Updates {
		field, ok := t.MemberField()
		if !ok || strings.Contains(t.Board, "{") {
			continue
		}
		if boards = append(boards, t.Board); t.Board == e.Show.Board && c.shown == "" {
			c.shown = field
		}
	}
	if c.shown == "" {
		return notShown("show.board", e.Show.Board, "one board that the event updates, and whose member is one field, such as {star}", boards)
	}
	var ofMember []string // a board for each member of Show.Board
	for _, t := range e.Updates {
		if rest := strings.ReplaceAll(t.Board, "{"+c.shown+"}", ""); rest != t.Board && !strings.Contains(rest, "{") {
			ofMember = append(ofMember, t.Board)
		}
	}
	for _, f := range []struct{ path, board string }{{"show.fans", e.Show.Fans}, {"show.recent", e.Show.Recent}} {
		if f.board != "" && !slices.Contains(ofMember, f.board) {
			return notShown(f.path, f.board, fmt.Sprintf("a board that the event updates for each {%s} alone", c.shown), ofMember)
		}
	}
	return nil
}

// notShown refuses a board that a page about the event cannot show as the field at path.
func notShown(path, board, want string, boards []string) error {
	is := "is missing"
	if board != "" {
		is = fmt.Sprintf("is %q", Clip(board))
	}
	return Invalid(path, fmt.Sprintf("%s; want %s: %s", is, want, cmp.Or(Clip(strings.Join(boards, ", ")), "there is none")))
}

func readShow(v Value, s *Show) error {
	return ReadFields(v, s, "an object, such as {board: stars, fans: \"fans:{star}\"}", "show", showReaders)
}

// showReaders read the fields of show.
var showReaders = []FieldReader[Show]{
	{Name: "board", Read: func(s *Show, v Value) error { return ReadText(v, &s.Board) }},
	{Name: "fans", Read: func(s *Show, v Value) error { return ReadText(v, &s.Fans) }},
	{Name: "recent", Read: func(s *Show, v Value) error { return ReadText(v, &s.Recent) }},
	{Name: "title", Read: func(s *Show, v Value) error { return s.Title.read(v) }},
}
