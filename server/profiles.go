package server

import (
	"context"
	"fmt"
	"net/http"

	"github.com/labstack/echo/v4"

	"rankcast/ranking"
	"rankcast/server/internal/request"
)

// entries are entries of a board as the wire has them, each with the profile of its
// member, who is of a kind, if there is one. All profiles that the node does not know are read at once;
// where they cannot be read the answer goes without: its scores are right.
func (s *Server) entries(c echo.Context, kind string, list []ranking.Entry) []entryJSON {
	return s.entriesWithin(c.Request().Context(), c, kind, list)
}

// entriesWithin is entries in a time of its own.
func (s *Server) entriesWithin(ctx context.Context, c echo.Context, kind string, list []ranking.Entry) []entryJSON {
	members := make([]string, len(list))
	for i, e := range list {
		members[i] = e.Member
	}
	profiles := s.profiles(ctx, c, kind, members)
	entries := make([]entryJSON, len(list))
	for i, e := range list {
		p := profiles[e.Member]
		entries[i] = entryJSON{e.Rank, e.Member, e.Score, p.Name, p.Avatar, dataJSON(e.Data)}
	}
	return entries
}

// profiles are those of some members of a kind, up to ranking.MaxPage. Who has none is
// left out.
func (s *Server) profiles(ctx context.Context, c echo.Context, kind string, members []string) map[string]ranking.Profile {
	if len(members) == 0 {
		return nil
	}
	profiles, err := s.store.Profiles(ctx, kind, members)
	if err != nil && ctx.Err() == nil {
		s.logFailure(c, fmt.Errorf("answered without some profiles: %w", err))
	}
	return profiles
}

type profileJSON struct {
	Kind   string `json:"kind"`
	Member string `json:"member"`
	ranking.Profile
}

// getProfile tells the profile of a member of a kind.
func (s *Server) getProfile(c echo.Context) error {
	if err := request.NoQuery(c); err != nil {
		return err
	}
	kind, member := request.PathValue(c, "kind"), request.PathValue(c, "member")
	p, err := s.store.Profile(c.Request().Context(), kind, member)
	if err != nil {
		return err
	}
	return ok(c, profileJSON{kind, member, p})
}

// putProfile sets the profile of a member of a kind, all of it.
func (s *Server) putProfile(c echo.Context) error {
	if err := request.NoQuery(c); err != nil {
		return err
	}
	body, err := request.ReadObject(c)
	if err != nil {
		return err
	}
	if err := body.Only("name", "avatar"); err != nil {
		return err
	}
	var p ranking.Profile
	if p.Name, err = body.OptionalText("name"); err != nil {
		return err
	}
	if p.Avatar, err = body.OptionalText("avatar"); err != nil {
		return err
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
	return writeJSON(c, status, echo.MIMEApplicationJSON, profileJSON{kind, member, p})
}
