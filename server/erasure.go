package server

import (
	"net/http"

	"github.com/labstack/echo/v5"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/server/access"
	"rankcast/server/internal/gate"
	"rankcast/server/internal/request"
	"rankcast/server/internal/respond"
)

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
	return erasureJSON{kind, member, e.Boards, e.Removed, e.Left, definition.FormatTime(e.Began), definition.FormatTime(e.Ended)}
}

// deleteMemberOf starts to erase a member from all boards of its kind, and deletes its profile. The
// erasure continues after the answer.
func (s *Server) deleteMemberOf(c *echo.Context) error {
	by, err := readModerator(c)
	if err != nil {
		return err
	}
	if by.Reason == "" {
		return definition.Invalid("reason", "is missing")
	}
	kind, member := request.PathValue(c, "kind"), request.PathValue(c, "member")
	e, err := s.store.Erase(c.Request().Context(), kind, member, by)
	if err != nil {
		return err
	}
	if err := s.store.DeleteProfile(c.Request().Context(), kind, member); err != nil {
		return err
	}
	return respond.JSON(c, http.StatusAccepted, echo.MIMEApplicationJSON, newErasure(kind, member, e))
}

// getErasure answers the progress of a member's erasure.
func (s *Server) getErasure(c *echo.Context) error {
	kind, member := request.PathValue(c, "kind"), request.PathValue(c, "member")
	e, err := s.store.Erasure(c.Request().Context(), kind, member)
	return respond.Answer(c, newErasure(kind, member, e), err)
}

const defaultErasures = 100

// listErasures answers a page of the erasures of the kinds that the caller may moderate: those under way, then those that
// have ended lately. A page may have fewer erasures than the limit, also before the last page.
func (s *Server) listErasures(c *echo.Context) error {
	after, limit, err := readNamePage(c, defaultErasures, ranking.MaxErasuresPage)
	if err != nil {
		return err
	}
	caller := gate.Caller(c)
	page, err := s.store.Erasures(gate.AsCaller(c), func(kind string) bool {
		return caller.May(access.ScopeModerate, access.Kind(kind))
	}, after, limit)
	if err != nil {
		return err
	}
	list := make([]erasureJSON, len(page.List))
	for i, e := range page.List {
		list[i] = newErasure(e.Kind, e.Member, e.Erasure)
	}
	return respond.OK(c, struct {
		Erasures []erasureJSON `json:"erasures"`
		Cursor   *string       `json:"cursor"`
	}{list, newNameCursor(page.Next)})
}
