package server

import (
	"fmt"
	"slices"
	"strings"

	"github.com/labstack/echo/v5"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/server/access"
	"rankcast/server/internal/gate"
	"rankcast/server/internal/request"
	"rankcast/server/internal/respond"
	"rankcast/server/overview"
)

const defaultAudit = 100

// listAudit answers a page of the audit: the actions that the caller may moderate, the latest first. A page may
// have fewer actions than the limit, also before the last page. With a filter one request looks at MaxAudit lines.
func (s *Server) listAudit(c *echo.Context) error {
	q := request.ReadQuery(c, "limit", "cursor", "action", "board", "kind", "member", "event", "by")
	limit := int(q.Integer("limit", defaultAudit, 1, ranking.MaxAudit))
	before, _ := q.Get("cursor")
	filter := readAuditFilter(q)
	if q.Err != nil {
		return q.Err
	}
	most := limit
	if filter != (auditFilter{}) {
		most = ranking.MaxAudit
	}
	actions, err := s.store.Audit(gate.AsCaller(c), before, most)
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
	}{Audit: []actionJSON{}}
	looked := 0
	for looked < len(actions) && len(answer.Audit) < limit {
		a := actions[looked]
		if looked++; filter.takes(a) && mayAudit(gate.Caller(c), a) {
			answer.Audit = append(answer.Audit, actionJSON{definition.FormatTime(a.At), a})
		}
	}
	if looked < len(actions) || looked == most {
		answer.Cursor = &actions[looked-1].Line
	}
	return respond.OK(c, answer)
}

// auditFilter chooses lines of the audit. An empty field takes any line, and another one the lines that have the same.
type auditFilter struct{ action, board, kind, member, event, by string }

// readAuditFilter reads a filter. The first parameter that no line can have sets q.Err.
func readAuditFilter(q *request.Query) (f auditFilter) {
	for _, p := range []struct {
		name  string
		text  *string
		check func(text string) error
	}{
		{"action", &f.action, checkAction}, {"board", &f.board, checkAuditBoard}, {"kind", &f.kind, definition.CheckKind},
		{"member", &f.member, definition.CheckMember}, {"event", &f.event, checkAuditEvent},
		{"by", &f.by, func(by string) error { return ranking.Moderator{By: by}.Check() }},
	} {
		if *p.text = q.OptionalText(p.name); *p.text != "" && q.Err == nil {
			q.Err = p.check(*p.text)
		}
	}
	return f
}

func checkAction(action string) error {
	if slices.Contains(ranking.Actions, action) {
		return nil
	}
	return definition.Invalid("action", fmt.Sprintf("is %q; want one of %s", definition.Clip(action), strings.Join(ranking.Actions, ", ")))
}

// checkAuditBoard takes the name of a board, an instance or a family, also of one that is deleted.
func checkAuditBoard(board string) error {
	if overview.IsFamily(board) {
		_, err := definition.ParseFamilyName(board)
		return err
	}
	n, err := definition.ParseName(board)
	if err == nil && n.Period != "" {
		return definition.Invalid("board", "names a period, but an act is on all periods of a board: omit the @ and the period")
	}
	return err
}

func checkAuditEvent(event string) error {
	if definition.IsEventName(event) {
		return nil
	}
	return definition.Invalid("event", fmt.Sprintf("is %q, which is no name of an event", definition.Clip(event)))
}

// takes reports whether the filter chooses a line. A family chooses the lines about its instances too.
func (f auditFilter) takes(a ranking.Action) bool {
	for _, field := range []struct{ wanted, is string }{
		{f.action, a.Action}, {f.kind, a.Kind}, {f.member, a.Member}, {f.event, a.Event}, {f.by, a.By},
	} {
		if field.wanted != "" && field.wanted != field.is {
			return false
		}
	}
	return f.board == "" || f.board == a.Board || overview.IsFamily(f.board) && definition.SlotOf(f.board) == definition.SlotOf(a.Board)
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
