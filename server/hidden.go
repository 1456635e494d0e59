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

const defaultHidden = 100

// listHidden answers a page of the members hidden on a board, by member id.
func (s *Server) listHidden(c echo.Context) error {
	after, limit, err := readNamePage(c, defaultHidden, ranking.MaxHiddenPage)
	if err != nil {
		return err
	}
	board := request.PathValue(c, "board")
	page, err := s.store.Hidden(asCaller(c), board, after, limit)
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
	return ok(c, struct {
		Board  string       `json:"board"`
		Total  int          `json:"total"`
		Hidden []hiddenJSON `json:"hidden"`
		Cursor *string      `json:"cursor"`
	}{board, page.Total, list, newNameCursor(page.Next)})
}

// listHiddenEverywhere answers a page of the members hidden on all boards of a kind, by member id.
func (s *Server) listHiddenEverywhere(c echo.Context) error {
	after, limit, err := readNamePage(c, defaultHidden, ranking.MaxHiddenPage)
	if err != nil {
		return err
	}
	kind := request.PathValue(c, "kind")
	page, err := s.store.HiddenEverywhere(asCaller(c), kind, after, limit)
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
	return ok(c, struct {
		Kind   string       `json:"kind"`
		Total  int          `json:"total"`
		Hidden []hiddenJSON `json:"hidden"`
		Cursor *string      `json:"cursor"`
	}{kind, page.Total, list, newNameCursor(page.Next)})
}
