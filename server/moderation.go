package server

import (
	"context"
	"fmt"
	"net/http"

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
		return m, ranking.Invalid("body", "comes beside parameters; give reason and by in the body or as parameters")
	}
	o, err := request.ParseObject("body", body)
	if err == nil {
		err = o.Only("reason", "by")
	}
	if err != nil {
		return m, err
	}
	return moderatorOf(c, o)
}

// moderatorOf reads the moderator and the reason from the fields of a body.
func moderatorOf(c *echo.Context, o request.Object) (m ranking.Moderator, err error) {
	if m.Reason, err = o.OptionalText("reason"); err == nil {
		m.By, err = o.OptionalText("by")
	}
	if err != nil {
		return m, err
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
		return m, &ranking.FieldError{Field: "by", Reason: fmt.Sprintf("is %q; want %q, the name of the key, or omit it",
			definition.Clip(m.By), name), Kind: access.ErrForbidden}
	}
	m.By = caller.KeyName()
	return m, nil
}

// author is the author of a request without a reason: the caller's key.
func author(c *echo.Context) ranking.Moderator {
	return ranking.Moderator{By: gate.Caller(c).KeyName()}
}

// moderated answers a request that hides a member, or shows it again.
func moderated(c *echo.Context, do func(ctx context.Context, by ranking.Moderator) error) error {
	by, err := readModerator(c)
	if err != nil {
		return err
	}
	if err := do(c.Request().Context(), by); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

func (s *Server) hide(c *echo.Context) error {
	return moderated(c, func(ctx context.Context, by ranking.Moderator) error {
		return s.store.Hide(ctx, request.PathValue(c, "board"), request.PathValue(c, "member"), by)
	})
}

func (s *Server) show(c *echo.Context) error {
	return moderated(c, func(ctx context.Context, by ranking.Moderator) error {
		return s.store.Show(ctx, request.PathValue(c, "board"), request.PathValue(c, "member"), by)
	})
}

func (s *Server) hideEverywhere(c *echo.Context) error {
	return moderated(c, func(ctx context.Context, by ranking.Moderator) error {
		return s.store.HideEverywhere(ctx, request.PathValue(c, "kind"), request.PathValue(c, "member"), by)
	})
}

func (s *Server) showEverywhere(c *echo.Context) error {
	return moderated(c, func(ctx context.Context, by ranking.Moderator) error {
		return s.store.ShowEverywhere(ctx, request.PathValue(c, "kind"), request.PathValue(c, "member"), by)
	})
}

const defaultHidden = 100

// listHidden answers a page of the members hidden on a board, by member id.
func (s *Server) listHidden(c *echo.Context) error {
	after, limit, err := readNamePage(c, defaultHidden, ranking.MaxHiddenPage)
	if err != nil {
		return err
	}
	board := request.PathValue(c, "board")
	page, err := s.store.Hidden(gate.AsCaller(c), board, after, limit)
	if err != nil {
		return err
	}
	type hiddenJSON struct {
		Member     string `json:"member"`
		Score      *int64 `json:"score"`
		Everywhere bool   `json:"everywhere"`
	}
	list := make([]hiddenJSON, len(page.Members))
	for i, h := range page.Members {
		list[i] = hiddenJSON{h.Member, h.Score, h.Everywhere}
	}
	return respond.OK(c, struct {
		Board  string       `json:"board"`
		Total  int          `json:"total"`
		Hidden []hiddenJSON `json:"hidden"`
		Cursor *string      `json:"cursor"`
	}{board, page.Total, list, newNameCursor(page.Next)})
}

// listHiddenEverywhere answers a page of the members hidden on all boards of a kind, by member id.
func (s *Server) listHiddenEverywhere(c *echo.Context) error {
	after, limit, err := readNamePage(c, defaultHidden, ranking.MaxHiddenPage)
	if err != nil {
		return err
	}
	kind := request.PathValue(c, "kind")
	page, err := s.store.HiddenEverywhere(gate.AsCaller(c), kind, after, limit)
	if err != nil {
		return err
	}
	type hiddenJSON struct {
		Member string `json:"member"`
	}
	list := make([]hiddenJSON, len(page.Members))
	for i, member := range page.Members {
		list[i] = hiddenJSON{member}
	}
	return respond.OK(c, struct {
		Kind   string       `json:"kind"`
		Total  int          `json:"total"`
		Hidden []hiddenJSON `json:"hidden"`
		Cursor *string      `json:"cursor"`
	}{kind, page.Total, list, newNameCursor(page.Next)})
}
