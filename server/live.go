package server

import (
	"context"

	"github.com/labstack/echo/v4"

	"rankcast/server/internal/request"
)

// live turns a WebSocket handshake into a session.
func (s *Server) live(c echo.Context) error {
	err := s.sessions.Accept(c.Response().Writer, c.Request(), clientOf(c))
	if err == nil {
		c.Response().Committed = true
	}
	return err
}

// socketUpdater applies the updates and events that come over sockets.
type socketUpdater struct{ *Server }

func (s socketUpdater) Update(ctx context.Context, board string, update request.Object) (any, error) {
	return s.applyUpdate(ctx, board, update, "")
}

func (s socketUpdater) Event(ctx context.Context, event string, fields request.Object) (any, error) {
	return s.applyEvent(ctx, event, fields, "")
}
