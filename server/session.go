package server

import (
	"fmt"
	"net/http"
	"time"

	"github.com/labstack/echo/v5"

	"rankcast/ranking/definition"
	"rankcast/server/access"
	"rankcast/server/internal/gate"
	"rankcast/server/internal/problem"
	"rankcast/server/internal/respond"
)

// sessionJSON is who has signed in to the console, and what the caller may do there.
type sessionJSON struct {
	Open    bool     `json:"open"` // there is no access file: anybody may do anything
	Key     *string  `json:"key"`  // null if open
	Scopes  []string `json:"scopes"`
	Boards  []string `json:"boards"`
	Events  []string `json:"events"`
	Kinds   []string `json:"kinds"`
	Expires *string  `json:"expires"` // of the session; null without one
}

func newSession(c *access.Caller, expires time.Time) sessionJSON {
	j := sessionJSON{Open: c.Open(), Expires: definition.FormatTime(expires)}
	j.Scopes, j.Boards, j.Events, j.Kinds = c.Grants()
	if name := c.KeyName(); name != "" {
		j.Key = &name
	}
	return j
}

// getSession answers who the caller is. Without an access file the console opens on the machine of the node alone.
func (s *Server) getSession(c *echo.Context) error {
	caller := gate.Caller(c)
	if caller.Open() && !access.IsLocal(c.Request()) {
		return fmt.Errorf("%w: without an access file the console opens only on the machine of the node; start the server with --access",
			problem.ErrForbidden)
	}
	return respond.OK(c, newSession(caller, caller.Expires()))
}

// postSession exchanges a key for a session of a browser. A session begins none, or its cookie would be valid for ever.
func (s *Server) postSession(c *echo.Context) error {
	caller := gate.Caller(c)
	switch {
	case caller.Open():
		return fmt.Errorf("%w: there is no access file, so nobody signs in", definition.ErrConflict)
	case !caller.Expires().IsZero():
		return fmt.Errorf("%w: a session begins with a key, as Authorization: Bearer", access.ErrUnauthorized)
	}
	about, err := caller.EncodeForTicket()
	if err != nil {
		return err
	}
	id := access.NewSession()
	expires, err := s.store.SaveSession(c.Request().Context(), access.HashSecret(id), about, access.SessionTime)
	if err != nil {
		return err
	}
	s.gate.BeginSession(c, id)
	c.Response().Header().Set(echo.HeaderCacheControl, "no-store")
	return respond.JSON(c, http.StatusCreated, echo.MIMEApplicationJSON, newSession(caller, expires))
}

// deleteSession ends the session of the caller's browser on all nodes.
func (s *Server) deleteSession(c *echo.Context) error {
	return respond.Nothing(c, s.gate.EndSession(c))
}
