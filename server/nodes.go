package server

import (
	"context"
	"strings"
	"time"

	"github.com/labstack/echo/v5"

	"rankcast/server/internal/problem"
	"rankcast/server/internal/respond"
	"rankcast/server/status"
)

// statusTimeout bounds the read of the state of all nodes and of Redis. It exceeds the time of one call to Redis, whose
// error says more.
const statusTimeout = 3 * time.Second

// getNodes answers whether all is well, and the state of all nodes and of Redis. It answers while Redis is away, too.
func (s *Server) getNodes(c *echo.Context) error {
	report, err := s.statuses.Get(c.Request().Context(), "", func() (*status.Report, error) {
		ctx, cancel := context.WithTimeout(context.Background(), statusTimeout)
		defer cancel()
		return status.Read(ctx, s.store, s.reporter), nil
	})
	return respond.Answer(c, report, err)
}

// RunReports reports in Redis of this node, every two seconds, until ctx ends. Then it removes the report. Run it once, after
// the definitions are in Redis.
func (s *Server) RunReports(ctx context.Context) { s.reporter.Run(ctx) }

// reportedState is what the node reports beside its metrics.
func (s *Server) reportedState(ctx context.Context) status.State {
	ctx, cancel := context.WithTimeout(ctx, outageTimeout)
	defer cancel()
	state := status.State{Files: s.fileStates(), Watchers: s.hub.MostWatched(status.MaxWatchers)}
	if unready := s.probe(ctx).unready; unready != nil {
		state.Reason = strings.TrimPrefix(unready.Error(), problem.ErrNotReady.Error()+": ")
	}
	return state
}
