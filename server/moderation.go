package server

import (
	"context"
	"net/http"

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

// moderated answers a request that hides somebody, or shows them again.
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

// listHidden tells who is hidden on a board, by member id.
func (s *Server) listHidden(c echo.Context) error {
	after, limit, err := readNames(c, defaultHidden, maxHiddenPage)
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
	part, cursor := pageOf(hidden, after, limit, func(h ranking.HiddenMember) string { return h.Member })
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

// listHiddenEverywhere tells who is hidden on all boards of a kind, by member id.
func (s *Server) listHiddenEverywhere(c echo.Context) error {
	after, limit, err := readNames(c, defaultHidden, maxHiddenPage)
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
	part, cursor := pageOf(hidden, after, limit, func(member string) string { return member })
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

// putScore sets a member's score outright.
func (s *Server) putScore(c echo.Context) error {
	if err := request.NoQuery(c); err != nil {
		return err
	}
	body, err := request.ReadObject(c)
	if err != nil {
		return err
	}
	if err := body.Only("score", "reason", "by"); err != nil {
		return err
	}
	score, err := body.Integer("score")
	if err != nil {
		return err
	}
	by, err := moderatorOf(body)
	if err != nil {
		return err
	}
	board, member := request.PathValue(c, "board"), request.PathValue(c, "member")
	r, err := s.store.SetScore(c.Request().Context(), board, member, score, by)
	if err != nil {
		return err
	}
	return ok(c, newResult(board, member, r))
}

// takeBack takes back an event by its id.
func (s *Server) takeBack(c echo.Context) error {
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
	took, err := s.store.TakeBack(c.Request().Context(), request.PathValue(c, "event"), id, by)
	if err != nil {
		return err
	}
	return ok(c, struct {
		Duplicate bool  `json:"duplicate"`
		Results   []any `json:"results"`
	}{took.Before, newResults(took.Happened).Results})
}

type erasureJSON struct {
	Kind    string  `json:"kind"`
	Member  string  `json:"member"`
	Boards  int64   `json:"boards"`
	Removed int64   `json:"removed"`
	Left    int64   `json:"left"`
	Began   *string `json:"began"`
	Ended   *string `json:"ended"`
}

func newErasure(kind, member string, e ranking.Erasure) erasureJSON {
	return erasureJSON{kind, member, e.Boards, e.Removed, e.Left, timeJSON(e.Began), timeJSON(e.Ended)}
}

// deleteMemberOf erases a member from all boards of its kind, which goes on when it is
// answered, and takes its profile away.
func (s *Server) deleteMemberOf(c echo.Context) error {
	by, err := readModerator(c)
	if err != nil {
		return err
	}
	if by.Reason == "" {
		return ranking.Invalid("reason", "is missing")
	}
	kind, member := request.PathValue(c, "kind"), request.PathValue(c, "member")
	e, err := s.store.Erase(c.Request().Context(), kind, member, by)
	if err != nil {
		return err
	}
	if err := s.store.DeleteProfile(c.Request().Context(), kind, member); err != nil {
		return err
	}
	return writeJSON(c, http.StatusAccepted, echo.MIMEApplicationJSON, newErasure(kind, member, e))
}

// deleteProfile takes a member's profile away, and nothing else.
func (s *Server) deleteProfile(c echo.Context) error {
	if err := request.NoQuery(c); err != nil {
		return err
	}
	if err := s.store.DeleteProfile(c.Request().Context(), request.PathValue(c, "kind"), request.PathValue(c, "member")); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// getErasure tells how far that has come.
func (s *Server) getErasure(c echo.Context) error {
	if err := request.NoQuery(c); err != nil {
		return err
	}
	kind, member := request.PathValue(c, "kind"), request.PathValue(c, "member")
	e, err := s.store.Erasure(c.Request().Context(), kind, member)
	if err != nil {
		return err
	}
	return ok(c, newErasure(kind, member, e))
}

const defaultAudit = 100

// listAudit tells what was done by hand, the latest first.
func (s *Server) listAudit(c echo.Context) error {
	q := request.ReadQuery(c, "limit", "cursor")
	limit := int(q.Integer("limit", defaultAudit, 1, ranking.MaxAudit))
	before, _ := q.Get("cursor")
	if q.Err != nil {
		return q.Err
	}
	actions, err := s.store.Audit(c.Request().Context(), before, limit)
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
