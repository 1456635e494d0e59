package server

import (
	"github.com/labstack/echo/v4"

	"rankcast/ranking"
	"rankcast/server/internal/request"
)

// readModerator reads the moderator and the reason of an action: the fields "by" and "reason" of a
// body, or parameters of those names.
func readModerator(c echo.Context) (ranking.Moderator, error) {
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
func moderatorOf(c echo.Context, o request.Object) (m ranking.Moderator, err error) {
	if m.Reason, err = o.OptionalText("reason"); err == nil {
		m.By, err = o.OptionalText("by")
	}
	if err != nil {
		return m, err
	}
	return checkAuthor(c, m)
}
