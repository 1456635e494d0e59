package server

import (
	"net/http"

	"github.com/labstack/echo/v5"

	"rankcast/ranking"
	"rankcast/server/internal/request"
	"rankcast/server/internal/respond"
)

type profileJSON struct {
	Kind   string `json:"kind"`
	Member string `json:"member"`
	ranking.Profile
}

// getProfile answers the profile of a member of a kind.
func (s *Server) getProfile(c *echo.Context) error {
	kind, member := request.PathValue(c, "kind"), request.PathValue(c, "member")
	p, err := s.store.Profile(c.Request().Context(), kind, member)
	return respond.Answer(c, profileJSON{kind, member, p}, err)
}

// putProfile replaces the profile of a member of a kind.
func (s *Server) putProfile(c *echo.Context) error {
	f := request.ReadFields(c, "name", "avatar")
	p := ranking.Profile{Name: f.OptionalText("name"), Avatar: f.OptionalText("avatar")}
	if f.Err != nil {
		return f.Err
	}
	kind, member := request.PathValue(c, "kind"), request.PathValue(c, "member")
	first, err := s.store.SetProfile(c.Request().Context(), kind, member, p)
	if err != nil {
		return err
	}
	status := http.StatusOK
	if first {
		status = http.StatusCreated
	}
	return respond.JSON(c, status, echo.MIMEApplicationJSON, profileJSON{kind, member, p})
}

type reindexJSON struct {
	Kind     string  `json:"kind"`
	Profiles int64   `json:"profiles"`
	Changed  int64   `json:"changed"`
	Cursor   *string `json:"cursor"`
}

// postReindex goes on for about a second to build the index of names of a kind anew.
func (s *Server) postReindex(c *echo.Context) error {
	q := request.ReadQuery(c, "cursor")
	from := cursorOf(q)
	if q.Err != nil {
		return q.Err
	}
	if err := request.NoBody(c); err != nil {
		return err
	}
	kind := request.PathValue(c, "kind")
	done, err := s.store.Reindex(c.Request().Context(), kind, from)
	return respond.Answer(c, reindexJSON{kind, done.Profiles, done.Changed, newNameCursor(done.Next)}, err)
}

// deleteProfile deletes a member's profile only.
func (s *Server) deleteProfile(c *echo.Context) error {
	return respond.Nothing(c, s.store.DeleteProfile(c.Request().Context(), request.PathValue(c, "kind"), request.PathValue(c, "member")))
}
