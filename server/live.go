package server

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/labstack/echo/v4"

	"rankcast/ranking"
	"rankcast/server/access"
	"rankcast/server/internal/problem"
	"rankcast/server/internal/request"
)

// live turns a WebSocket handshake into a session. A ticket in the address replaces the caller of the request.
func (s *Server) live(c echo.Context) error {
	if c.Request().ProtoMajor != 1 { // the library would answer with fields that HTTP/2 forbids
		return fmt.Errorf("%w: it takes HTTP/1.1", problem.ErrHandshake)
	}
	find := func() (*access.Caller, error) { return callerOf(c), nil }
	if ticket, ok := ticketIn(c); ok {
		find = func() (*access.Caller, error) { return s.callerOfTicket(c.Request().Context(), ticket) }
	}
	err := s.sessions.Accept(c.Response().Writer, c.Request(), clientOf(c), find)
	if err == nil {
		c.Response().Committed = true // Echo answers nothing more
	}
	return err
}

// ticketIn is the ticket in the address of a request.
func ticketIn(c echo.Context) (ticket string, ok bool) {
	tickets := c.QueryParams()["ticket"]
	if len(tickets) == 0 {
		return "", false
	}
	return tickets[0], true
}

// callerOfTicket is the caller who has got a ticket, which it uses up. The error of a ticket that is not valid is
// an access.ErrExpired.
func (s *Server) callerOfTicket(ctx context.Context, ticket string) (*access.Caller, error) {
	about, err := s.store.TakeTicket(ctx, access.HashTicket(ticket))
	if errors.Is(err, ranking.ErrUnknownTicket) {
		return nil, access.ErrTicket
	}
	if err != nil {
		return nil, err
	}
	return s.guard.FromTicket(about)
}

// socketUpdater applies the updates and events that come over sockets.
type socketUpdater struct{ *Server }

func (s socketUpdater) Update(ctx context.Context, board string, update request.Object) (any, error) {
	answer, err := s.applyUpdate(ctx, board, update, "")
	return encoded(answer, err)
}

func (s socketUpdater) Event(ctx context.Context, caller *access.Caller, event string, fields request.Object) (any, error) {
	answer, err := s.applyEvent(ctx, caller, event, fields, "")
	return encoded(answer, err)
}

// encoded is an answer as JSON, unless there is an error.
func encoded(answer any, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	b, err := marshal(answer)
	return jsontext.Value(b), err
}
