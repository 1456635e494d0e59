package server

import (
	"github.com/labstack/echo/v5"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/server/access"
	"rankcast/server/internal/gate"
	"rankcast/server/internal/request"
	"rankcast/server/internal/respond"
)

const defaultAudit = 100

// listAudit answers a page of the audit: the actions that the caller may moderate, the latest first. A page may
// have fewer actions than the limit, also before the last page.
func (s *Server) listAudit(c *echo.Context) error {
	q := request.ReadQuery(c, "limit", "cursor")
	limit := int(q.Integer("limit", defaultAudit, 1, ranking.MaxAudit))
	before, _ := q.Get("cursor")
	if q.Err != nil {
		return q.Err
	}
	actions, err := s.store.Audit(gate.AsCaller(c), before, limit)
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
	}{Audit: make([]actionJSON, 0, len(actions))}
	for _, a := range actions {
		if mayAudit(gate.Caller(c), a) {
			answer.Audit = append(answer.Audit, actionJSON{definition.FormatTime(a.At), a})
		}
	}
	if len(actions) == limit {
		answer.Cursor = &actions[limit-1].Line
	}
	return respond.OK(c, answer)
}

// mayAudit reports whether a caller may moderate all that an action was about.
func mayAudit(c *access.Caller, a ranking.Action) bool {
	for _, r := range []access.Resource{access.Board(a.Board), access.Event(a.Event), access.Kind(a.Kind)} {
		if r.Name != "" && !c.May(access.ScopeModerate, r) {
			return false
		}
	}
	return true
}
