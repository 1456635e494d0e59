package server

import (
	"context"
	"encoding/base64"
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"rankcast/ranking"
)

// What is done by hand. The reason, and who it is, come as fields of a body or as
// parameters.

// readModerator reads who does something, and why.
func readModerator(c echo.Context) (ranking.Moderator, error) {
	q := readQuery(c, "reason", "by")
	reason, _ := q.get("reason")
	by, _ := q.get("by")
	m := ranking.Moderator{Reason: reason, By: by}
	if q.err != nil {
		return m, q.err
	}
	body, err := readBody(c)
	if err != nil || len(body) == 0 {
		return m, err
	}
	if len(q.values) > 0 {
		return m, ranking.Invalid("body", "is there beside parameters; give reason and by in one of them")
	}
	o, err := parseObject("body", body)
	if err == nil {
		err = o.only("reason", "by")
	}
	if err != nil {
		return m, err
	}
	return o.takeModerator()
}

// takeModerator reads it from a body.
func (o object) takeModerator() (m ranking.Moderator, err error) {
	if m.Reason, err = o.optional("reason"); err == nil {
		m.By, err = o.optional("by")
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
		return s.store.Hide(ctx, param(c, "board"), param(c, "member"), by)
	})
}

func (s *Server) show(c echo.Context) error {
	return moderated(c, func(ctx context.Context, by ranking.Moderator) error {
		return s.store.Show(ctx, param(c, "board"), param(c, "member"), by)
	})
}

func (s *Server) hideEverywhere(c echo.Context) error {
	return moderated(c, func(ctx context.Context, by ranking.Moderator) error {
		return s.store.HideEverywhere(ctx, param(c, "kind"), param(c, "member"), by)
	})
}

func (s *Server) showEverywhere(c echo.Context) error {
	return moderated(c, func(ctx context.Context, by ranking.Moderator) error {
		return s.store.ShowEverywhere(ctx, param(c, "kind"), param(c, "member"), by)
	})
}

const defaultHidden, maxHiddenPage = 100, 1000

// readNames reads where a page of a list by name begins, and how long it is at most.
func readNames(c echo.Context, otherwise, most int64) (after string, limit int, err error) {
	q := readQuery(c, "limit", "cursor")
	limit = int(q.integer("limit", otherwise, 1, most))
	if cursor, there := q.get("cursor"); there && q.err == nil {
		name, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
		if err != nil || len(name) == 0 {
			q.err = ranking.Invalid("cursor", "is not a cursor that this server gave")
		}
		after = string(name)
	}
	return after, limit, q.err
}

// nameCursor is the cursor of the page after one that ends with a name.
func nameCursor(name string) *string {
	cursor := base64.RawURLEncoding.EncodeToString([]byte(name))
	return &cursor
}

// pageOf gives up to limit of a list, which is by name, after a name, and the cursor of
// the next page; nil on the last.
func pageOf[T any](list []T, after string, limit int, name func(T) string) ([]T, *string) {
	from, there := slices.BinarySearchFunc(list, after, func(e T, after string) int { return strings.Compare(name(e), after) })
	if there {
		from++
	}
	if list = list[from:]; len(list) <= limit {
		return list, nil
	}
	return list[:limit], nameCursor(name(list[limit-1]))
}

// listHidden tells who is hidden on a board, by member id.
func (s *Server) listHidden(c echo.Context) error {
	after, limit, err := readNames(c, defaultHidden, maxHiddenPage)
	if err != nil {
		return err
	}
	board := param(c, "board")
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
	kind := param(c, "kind")
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
	if err := readQuery(c).err; err != nil {
		return err
	}
	body, err := readObject(c)
	if err != nil {
		return err
	}
	if err := body.only("score", "reason", "by"); err != nil {
		return err
	}
	score, err := body.integer("score")
	if err != nil {
		return err
	}
	by, err := body.takeModerator()
	if err != nil {
		return err
	}
	board, member := param(c, "board"), param(c, "member")
	r, err := s.store.SetScore(c.Request().Context(), board, member, score, by)
	if err != nil {
		return err
	}
	return ok(c, newResult(board, member, r))
}

// takeBack takes back an event by its id.
func (s *Server) takeBack(c echo.Context) error {
	if err := readQuery(c).err; err != nil {
		return err
	}
	body, err := readObject(c)
	if err != nil {
		return err
	}
	if err := body.only("id", "reason", "by"); err != nil {
		return err
	}
	id, err := body.required("id")
	if err != nil {
		return err
	}
	by, err := body.takeModerator()
	if err != nil {
		return err
	}
	took, err := s.store.TakeBack(c.Request().Context(), param(c, "event"), id, by)
	if err != nil {
		return err
	}
	return ok(c, struct {
		Duplicate bool  `json:"duplicate"`
		Results   []any `json:"results"`
	}{took.Before, newResults(took.EventResult).Results})
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
	kind, member := param(c, "kind"), param(c, "member")
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
	if err := readQuery(c).err; err != nil {
		return err
	}
	if err := s.store.DeleteProfile(c.Request().Context(), param(c, "kind"), param(c, "member")); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// getErasure tells how far that has come.
func (s *Server) getErasure(c echo.Context) error {
	if err := readQuery(c).err; err != nil {
		return err
	}
	kind, member := param(c, "kind"), param(c, "member")
	e, err := s.store.Erasure(c.Request().Context(), kind, member)
	if err != nil {
		return err
	}
	return ok(c, newErasure(kind, member, e))
}

const defaultAudit = 100

// listAudit tells what was done by hand, the latest first.
func (s *Server) listAudit(c echo.Context) error {
	q := readQuery(c, "limit", "cursor")
	limit := int(q.integer("limit", defaultAudit, 1, ranking.MaxAudit))
	before, _ := q.get("cursor")
	if q.err != nil {
		return q.err
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
