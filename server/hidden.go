package server

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	"rankcast/ranking"
	"rankcast/server/internal/request"
)

// moderated answers a request that hides a member, or shows it again.
func moderated(c echo.Context, do func(ctx context.Context, by ranking.Moderator) error) error {
	by, err := readModerator(c)
	if err != nil {
		return err
	}
	if err := do(c.Request().Context(), by); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

func (s *Server) hide(c echo.Context) error {
	return moderated(c, func(ctx context.Context, by ranking.Moderator) error {
		return s.store.Hide(ctx, request.PathValue(c, "board"), request.PathValue(c, "member"), by)
	})
}

func (s *Server) show(c echo.Context) error {
	return moderated(c, func(ctx context.Context, by ranking.Moderator) error {
		return s.store.Show(ctx, request.PathValue(c, "board"), request.PathValue(c, "member"), by)
	})
}

func (s *Server) hideEverywhere(c echo.Context) error {
	return moderated(c, func(ctx context.Context, by ranking.Moderator) error {
		return s.store.HideEverywhere(ctx, request.PathValue(c, "kind"), request.PathValue(c, "member"), by)
	})
}

func (s *Server) showEverywhere(c echo.Context) error {
	return moderated(c, func(ctx context.Context, by ranking.Moderator) error {
		return s.store.ShowEverywhere(ctx, request.PathValue(c, "kind"), request.PathValue(c, "member"), by)
	})
}

const defaultHidden, maxHiddenPage = 100, 1000

// listHidden answers the members hidden on a board, by member id.
func (s *Server) listHidden(c echo.Context) error {
	after, limit, err := readNamePage(c, defaultHidden, maxHiddenPage)
	if err != nil {
		return err
	}
	board := request.PathValue(c, "board")
	hidden, err := s.store.Hidden(c.Request().Context(), board)
	if err != nil {
		return err
	}
	type hiddenJSON struct {
		Member     string `json:"member"`
		Score      *int64 `json:"score"`
		Everywhere bool   `json:"everywhere"`
	}
	part, cursor := namePage(hidden, after, limit, func(h ranking.HiddenMember) string { return h.Member })
	list := make([]hiddenJSON, len(part))
	for i, h := range part {
		list[i] = hiddenJSON{h.Member, h.Score, h.Everywhere}
	}
	return ok(c, struct {
		Board  string       `json:"board"`
		Total  int          `json:"total"`
		Hidden []hiddenJSON `json:"hidden"`
		Cursor *string      `json:"cursor"`
	}{board, len(hidden), list, cursor})
}

// listHiddenEverywhere answers the members hidden on all boards of a kind, by member id.
func (s *Server) listHiddenEverywhere(c echo.Context) error {
	after, limit, err := readNamePage(c, defaultHidden, maxHiddenPage)
	if err != nil {
		return err
	}
	kind := request.PathValue(c, "kind")
	hidden, err := s.store.HiddenEverywhere(c.Request().Context(), kind)
	if err != nil {
		return err
	}
	type hiddenJSON struct {
		Member string `json:"member"`
	}
	part, cursor := namePage(hidden, after, limit, func(member string) string { return member })
	list := make([]hiddenJSON, len(part))
	for i, member := range part {
		list[i] = hiddenJSON{member}
	}
	return ok(c, struct {
		Kind   string       `json:"kind"`
		Total  int          `json:"total"`
		Hidden []hiddenJSON `json:"hidden"`
		Cursor *string      `json:"cursor"`
	}{kind, len(hidden), list, cursor})
}
