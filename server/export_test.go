package server

import (
	"context"

	"github.com/labstack/echo/v5"

	"rankcast/ranking"
)

// APIRoutes are the methods and paths of all routes of the API, for tests of other packages.
func APIRoutes() (all []string) {
	for _, r := range (&Server{}).apiRoutes() {
		all = append(all, r.method+" "+r.path)
	}
	return all
}

// WaitingReads is the number of requests that wait for an answer which they share.
func (s *Server) WaitingReads() int { return s.reads.Waiting() }

// EncodeTop reads the first entries of a board as GET top does, and encodes them.
func (s *Server) EncodeTop(ctx context.Context, board string, limit int) ([]byte, error) {
	return boardRead(func(ctx context.Context) (any, error) {
		return s.top(ctx, board, ranking.Query{Limit: limit, FromRank: 1})
	}).encode(ctx)
}

// HandlePanics adds a route whose handler panics.
func (s *Server) HandlePanics(path string) {
	s.echo.GET(path, func(*echo.Context) error { panic("a test") })
}
