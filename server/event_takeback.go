package server

import (
	"github.com/labstack/echo/v4"

	"rankcast/ranking"
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
	if err := body.Only("id", "sub", "reason", "by"); err != nil {
		return err
	}
	id, err := body.RequiredText("id")
	if err != nil {
		return err
	}
	sender, err := readSender(body)
	if err != nil {
		return err
	}
	by, err := moderatorOf(c, body)
	if err != nil {
		return err
	}
	result, err := s.store.TakeBack(c.Request().Context(), request.PathValue(c, "event"), id, sender, by)
	if err != nil {
		return err
	}
	return ok(c, struct {
		Duplicate bool  `json:"duplicate"`
		Results   []any `json:"results"`
	}{result.Before, newEventResult(callerOf(c), result.EventResult).Results})
}

// readSender reads who has sent an event: without the field "sub" a key, with an empty one an anonymous caller,
// and else the viewer of that sub.
func readSender(body request.Object) (*ranking.Sender, error) {
	if _, there := body["sub"]; !there {
		return nil, nil
	}
	sub, err := body.Text("sub")
	return &ranking.Sender{Sub: sub}, err
}
