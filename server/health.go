package server

import (
	"fmt"

	"github.com/labstack/echo/v4"

	"rankcast/server/internal/problem"
)

// healthz says that the process lives, whatever Redis does.
func (s *Server) healthz(c echo.Context) error {
	return ok(c, struct {
		Status string `json:"status"`
	}{"ok"})
}

// readyz says whether the node can do its work: Redis answers, its changes are
// heard, and the node is not about to stop.
func (s *Server) readyz(c echo.Context) error {
	switch {
	case s.stopping.Load():
		return fmt.Errorf("%w: stopping", problem.ErrNotReady)
	case !s.hub.Up():
		return fmt.Errorf("%w: changes are not heard", problem.ErrNotReady)
	}
	if err := s.store.Ping(c.Request().Context()); err != nil {
		s.log.Debug("not ready", "error", err)
		return fmt.Errorf("%w: Redis does not answer", problem.ErrNotReady)
	}
	return s.healthz(c)
}
