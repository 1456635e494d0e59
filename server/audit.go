package server

import (
	"github.com/labstack/echo/v4"

	"rankcast/ranking"
	"rankcast/server/internal/request"
)

const defaultAudit = 100

// listAudit answers a page of the audit: the moderators' actions, the latest first.
func (s *Server) listAudit(c echo.Context) error {
	q := request.ReadQuery(c, "limit", "cursor")
	limit := int(q.Integer("limit", defaultAudit, 1, ranking.MaxAudit))
	before, _ := q.Get("cursor")
	if q.Err != nil {
		return q.Err
	}
	actions, err := s.store.Audit(asCaller(c), before, limit)
	if err != nil {
		return err
	}
	type actionJSON struct {
		At *string `json:"at"`
		ranking.Action
	}
	answer := struct {
		Audit  []actionJSON `json:"audit"`
		Cursor *string      `json:"cursor"`
	}{Audit: make([]actionJSON, len(actions))}
	for i, a := range actions {
		answer.Audit[i] = actionJSON{timeJSON(a.At), a}
	}
	if len(actions) == limit {
		answer.Cursor = &actions[limit-1].Line
	}
	return ok(c, answer)
}
