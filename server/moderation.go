package server

import (
	"github.com/labstack/echo/v4"

	"rankcast/ranking"
	"rankcast/server/internal/request"
)

// What is done by hand. The reason, and who it is, come as fields of a body or as
// parameters.

// readModerator reads who does something, and why.
func readModerator(c echo.Context) (ranking.Moderator, error) {
	q := request.ReadQuery(c, "reason", "by")
	reason, _ := q.Get("reason")
	by, _ := q.Get("by")
	m := ranking.Moderator{Reason: reason, By: by}
	if q.Err != nil {
		return m, q.Err
	}
	body, err := request.ReadBody(c)
	if err != nil || len(body) == 0 {
		return m, err
	}
	if len(q.Values) > 0 {
		return m, ranking.Invalid("body", "is there beside parameters; give reason and by in one of them")
	}
	o, err := request.ParseObject("body", body)
	if err == nil {
		err = o.Only("reason", "by")
	}
	if err != nil {
		return m, err
	}
	return moderatorOf(o)
}

// moderatorOf reads it from the fields of a body.
func moderatorOf(o request.Object) (m ranking.Moderator, err error) {
	if m.Reason, err = o.OptionalText("reason"); err == nil {
		m.By, err = o.OptionalText("by")
	}
	return m, err
}
