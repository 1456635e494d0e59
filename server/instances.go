package server

import (
	"github.com/labstack/echo/v4"

	"rankcast/ranking"
	"rankcast/server/internal/request"
)

const defaultInstances = 100

// listInstances answers a page of a family's instances, by name.
func (s *Server) listInstances(c echo.Context) error {
	after, limit, err := readNamePage(c, defaultInstances, ranking.MaxInstancesPage)
	if err != nil {
		return err
	}
	family := request.PathValue(c, "board")
	page, err := s.store.Instances(c.Request().Context(), family, after, limit)
	if err != nil {
		return err
	}
	return ok(c, struct {
		Board     string   `json:"board"`
		Total     int64    `json:"total"`
		Instances []string `json:"instances"`
		Cursor    *string  `json:"cursor"`
	}{family, page.Total, page.Names, newNameCursor(page.Next)})
}
