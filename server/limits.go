package server

import (
	"context"
	"iter"

	"github.com/labstack/echo/v4"

	"rankcast/ranking"
)

// Limited gives the number of refusals of each limit since the start, by the limit's name.
func (s *Server) Limited() iter.Seq2[string, uint64] { return s.limits.Counts() }

// limitRequests refuses the requests of an address that sends too many, before the server reads a body or
// asks the store. It counts the memory of those that it passes on.
func (s *Server) limitRequests(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		from := s.addresses.Of(c.Request())
		w := &waitingWriter{c.Response().Writer, s.limits, from}
		c.Response().Writer = w
		if err := s.limits.AllowRequest(from); err != nil {
			return err
		}
		defer w.countBody(c.Request())()
		return next(c)
	}
}

// asCaller is the context of a request for reads of large pages: addresses take turns.
func (s *Server) asCaller(c echo.Context) context.Context {
	return ranking.WithCaller(c.Request().Context(), s.addresses.Of(c.Request()))
}
