package definition

import (
	"fmt"
	"slices"
	"strings"
)

// Show says what a page about an event shows. Each board is one that the event updates, as its updates name it.
type Show struct {
	Board  string `json:"board"`           // its members are whom the event is for, such as stars: one field of the event is the member
	Fans   string `json:"fans,omitzero"`   // one board for each of those members: "fans:{star}"; "" for none
	Recent string `json:"recent,omitzero"` // the same for a short time: "fans3h:{star}"; "" for none
}

// ShownField is the field that names a member of Show.Board. The event must be normalized and have a Show.
func (e Event) ShownField() string { return e.compiled.shown }

// ShownBoards returns the names of Show.Fans and Show.Recent for a member of Show.Board. A name is "" where the
// definition has no such board, and both are "" for a member that can be no part of a name. The event must be
// normalized and have a Show.
func (e Event) ShownBoards(member string) (fans, recent string) {
	if partFault(member, TextFault) != "" {
		return "", ""
	}
	field := "{" + e.ShownField() + "}"
	return strings.ReplaceAll(e.Show.Fans, field, member), strings.ReplaceAll(e.Show.Recent, field, member)
}

// compileShow checks the show of an event whose updates are compiled.
func (c *compiledEvent) compileShow(e Event) error {
	if e.Show == nil {
		return nil
	}
	if e.Show.Board == "" {
		return Invalid("show.board", "is missing")
	}
	if err := e.checkShown("show.board", e.Show.Board); err != nil {
		return err
	}
	if strings.Contains(e.Show.Board, "{") {
		return Invalid("show.board", fmt.Sprintf("is %s, which is many boards; want one, such as stars", Clip(e.Show.Board)))
	}
	for _, t := range e.Updates {
		if field, ok := t.MemberField(); ok && t.Board == e.Show.Board && c.shown == "" {
			c.shown = field
		}
	}
	if c.shown == "" {
		const want = "is %s, whose member is no field; want a board with a member such as {star}"
		return Invalid("show.board", fmt.Sprintf(want, Clip(e.Show.Board)))
	}
	for _, f := range []struct{ path, board string }{{"show.fans", e.Show.Fans}, {"show.recent", e.Show.Recent}} {
		if f.board == "" {
			continue
		}
		if err := e.checkShown(f.path, f.board); err != nil {
			return err
		}
		if rest := strings.ReplaceAll(f.board, "{"+c.shown+"}", ""); rest == f.board || strings.Contains(rest, "{") {
			const want = "is %s; want a board for each {%s}, the member of %s, and for no other field"
			return Invalid(f.path, fmt.Sprintf(want, Clip(f.board), c.shown, e.Show.Board))
		}
	}
	return nil
}

// checkShown refuses a board that the event does not update.
func (e Event) checkShown(path, board string) error {
	var boards []string
	for _, t := range e.Updates {
		if !slices.Contains(boards, t.Board) {
			boards = append(boards, t.Board)
		}
	}
	if slices.Contains(boards, board) {
		return nil
	}
	const want = "is %q, which event %s does not update; want one of %s"
	return Invalid(path, fmt.Sprintf(want, Clip(board), e.Name, Clip(strings.Join(boards, ", "))))
}

func readShow(v Value, s *Show) error {
	return ReadFields(v, s, "an object, such as {board: stars, fans: \"fans:{star}\"}", "show", showReaders)
}

// showReaders read the fields of show.
var showReaders = []FieldReader[Show]{
	{Name: "board", Read: func(s *Show, v Value) error { return ReadText(v, &s.Board) }},
	{Name: "fans", Read: func(s *Show, v Value) error { return ReadText(v, &s.Fans) }},
	{Name: "recent", Read: func(s *Show, v Value) error { return ReadText(v, &s.Recent) }},
}
