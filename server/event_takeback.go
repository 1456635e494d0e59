package server

import (
	"github.com/labstack/echo/v4"

	"rankcast/server/internal/request"
)

// takeBackEvent takes back an event by its id (POST …/take-back).
func (s *Server) takeBackEvent(c echo.Context) error {
	if err := request.NoQuery(c); err != nil {
		return err
	}
	body, err := request.ReadObject(c)
	if err != nil {
		return err
	}
	if err := body.Only("id", "reason", "by"); err != nil {
		return err
	}
	id, err := body.RequiredText("id")
	if err != nil {
		return err
	}
	by, err := moderatorOf(body)
	if err != nil {
		return err
	}
	result, err := s.store.TakeBack(c.Request().Context(), request.PathValue(c, "event"), id, by)
	if err != nil {
		return err
	}
	return ok(c, struct {
		Duplicate bool  `json:"duplicate"`
		Results   []any `json:"results"`
	}{result.Before, newEventResult(result.EventResult).Results})
}
