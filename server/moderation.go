package server

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/labstack/echo/v5"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/server/access"
	"rankcast/server/internal/gate"
	"rankcast/server/internal/request"
	"rankcast/server/internal/respond"
)

// readModerator reads the moderator and the reason of an action: the fields "by" and "reason" of a
// body, or parameters of those names.
func readModerator(c *echo.Context) (ranking.Moderator, error) {
	q := request.ReadQuery(c, "reason", "by")
	m := ranking.Moderator{Reason: q.OptionalText("reason"), By: q.OptionalText("by")}
	if q.Err != nil {
		return m, q.Err
	}
	body, err := request.ReadBody(c)
	if err != nil {
		return m, err
	}
	if len(body) == 0 {
		return checkAuthor(c, m)
	}
	if len(q.Values) > 0 {
		return m, definition.Invalid("body", "comes beside parameters; give reason and by in the body or as parameters")
	}
	o, err := request.ParseObject("body", body)
	if err != nil {
		return m, err
	}
	return moderatorOf(c, o.Fields("reason", "by"))
}

// moderatorOf reads the moderator and the reason from the fields of a body.
func moderatorOf(c *echo.Context, f *request.Fields) (ranking.Moderator, error) {
	m := ranking.Moderator{Reason: f.OptionalText("reason"), By: f.OptionalText("by")}
	if f.Err != nil {
		return m, f.Err
	}
	return checkAuthor(c, m)
}

// checkAuthor gives an act its author: with an access file, always the caller's key. It refuses another name.
func checkAuthor(c *echo.Context, m ranking.Moderator) (ranking.Moderator, error) {
	caller := gate.Caller(c)
	if caller.Open() {
		return m, nil
	}
	if name := caller.KeyName(); m.By != "" && m.By != name {
		return m, &definition.FieldError{Field: "by", Reason: fmt.Sprintf("is %q; want %q, the name of the key, or omit it",
			definition.Clip(m.By), name), Kind: access.ErrForbidden}
	}
	m.By = caller.KeyName()
	return m, nil
}

// author is the author of a request without a reason: the caller's key.
func author(c *echo.Context) ranking.Moderator {
	return ranking.Moderator{By: gate.Caller(c).KeyName()}
}

// moderates answers requests that hide a member, or show it again. of is the parameter that says where: a board, or a kind.
func moderates(of string, do func(ctx context.Context, of, member string, by ranking.Moderator) error) echo.HandlerFunc {
	return func(c *echo.Context) error {
		by, err := readModerator(c)
		if err != nil {
			return err
		}
		return respond.Nothing(c, do(c.Request().Context(), request.PathValue(c, of), request.PathValue(c, "member"), by))
	}
}

const defaultHidden = 100

// hiddenListJSON is a page of the members hidden on a board, or on all boards of a kind.
type hiddenListJSON struct {
	Board  string  `json:"board,omitzero"`
	Kind   string  `json:"kind,omitzero"`
	Total  int     `json:"total"`
	Hidden []any   `json:"hidden"`
	Cursor *string `json:"cursor"`
}

// listsHidden answers a page of hidden members, by member id. of is the parameter that says where: a board, or a kind.
func listsHidden(of string, read func(ctx context.Context, of, after string, limit int) (hiddenListJSON, error)) echo.HandlerFunc {
	return func(c *echo.Context) error {
		after, limit, err := readNamePage(c, defaultHidden, ranking.MaxHiddenPage)
		if err != nil {
			return err
		}
		list, err := read(gate.AsCaller(c), request.PathValue(c, of), after, limit)
		return respond.Answer(c, list, err)
	}
}

// hiddenOn reads a page of the members hidden on a board.
func (s *Server) hiddenOn(ctx context.Context, board, after string, limit int) (hiddenListJSON, error) {
	page, err := s.store.Hidden(ctx, board, after, limit)
	j := hiddenListJSON{Board: board, Total: page.Total, Hidden: make([]any, len(page.Members)), Cursor: newNameCursor(page.Next)}
	for i, h := range page.Members {
		one := struct {
			Member     string         `json:"member"`
			Score      *int64         `json:"score"`
			Columns    jsontext.Value `json:"columns,omitzero"`
			Everywhere bool           `json:"everywhere"`
		}{h.Member, h.Score, nil, h.Everywhere}
		if h.Score != nil {
			one.Columns = page.Columns.JSON(*h.Score)
		}
		j.Hidden[i] = one
	}
	return j, err
}

// listPlaces answers where a member of a kind is hidden: on all boards of the kind, and those boards that the caller may moderate.
func (s *Server) listPlaces(c *echo.Context) error {
	after, limit, err := readNamePage(c, defaultHidden, ranking.MaxHiddenPage)
	if err != nil {
		return err
	}
	caller := gate.Caller(c)
	kind, member := request.PathValue(c, "kind"), request.PathValue(c, "member")
	places, err := s.store.HiddenPlaces(c.Request().Context(), kind, member, after, limit,
		func(board string) bool { return caller.May(access.ScopeModerate, access.Board(board)) })
	return respond.Answer(c, struct {
		Kind       string   `json:"kind"`
		Member     string   `json:"member"`
		Everywhere bool     `json:"everywhere"`
		Boards     []string `json:"boards"`
		Cursor     *string  `json:"cursor"`
	}{kind, member, places.Everywhere, places.Boards, newNameCursor(places.Next)}, err)
}

// hiddenEverywhere reads a page of the members hidden on all boards of a kind.
func (s *Server) hiddenEverywhere(ctx context.Context, kind, after string, limit int) (hiddenListJSON, error) {
	page, err := s.store.HiddenEverywhere(ctx, kind, after, limit)
	j := hiddenListJSON{Kind: kind, Total: page.Total, Hidden: make([]any, len(page.Members)), Cursor: newNameCursor(page.Next)}
	for i, member := range page.Members {
		j.Hidden[i] = struct {
			Member string `json:"member"`
		}{member}
	}
	return j, err
}
