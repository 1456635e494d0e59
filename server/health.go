package server

import (
	"fmt"

	"github.com/labstack/echo/v4"

	"rankcast/server/internal/problem"
)

// healthz answers that the process is alive, whatever the state of Redis.
func (s *Server) healthz(c echo.Context) error {
	return ok(c, struct {
		Status string `json:"status"`
	}{"ok"})
}

// readyz answers whether the node can serve traffic: Redis answers, and allows all that the node
// needs; the node receives its changes, and is not stopping.
func (s *Server) readyz(c echo.Context) error {
	switch {
	case s.stopping.Load():
		return fmt.Errorf("%w: the node is stopping", problem.ErrNotReady)
	case s.store.MissingRights() != nil:
		return fmt.Errorf("%w: %w", problem.ErrNotReady, s.store.MissingRights())
	case !s.hub.Up():
		return fmt.Errorf("%w: the node receives no changes from Redis", problem.ErrNotReady)
	}
	if err := s.store.Ping(c.Request().Context()); err != nil {
		s.log.Debug("the node is not ready", "error", err)
		return fmt.Errorf("%w: Redis does not answer", problem.ErrNotReady)
	}
	return s.healthz(c)
}
