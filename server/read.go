package server

import (
	"context"
	"fmt"

	"github.com/labstack/echo/v5"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/server/internal/gate"
	"rankcast/server/internal/respond"
)

// boardRead reads the state of a board, and returns what the answer encodes. It uses nothing of the request, which may have
// ended: others may wait for the answer too.
type boardRead func(ctx context.Context) (any, error)

// okRead answers a read. Reads of one key that come while one is out share the next one, and its encoded answer. The key
// holds all that the answer depends on. Of the caller that is at most which names the answer may hold: authorize has checked
// all other rights.
func (s *Server) okRead(c *echo.Context, key string, read boardRead) error {
	ctx := c.Request().Context()
	b, err := s.reads.Do(ctx, key, read.encode)
	switch {
	case err == nil:
		return respond.Encoded(c, b)
	case ctx.Err() != nil:
		return fmt.Errorf("%w: %w", definition.ErrUnavailable, err)
	}
	return err
}

// okPage is okRead for a page of up to limit entries. Callers take turns for a large page, so it is not shared.
func (s *Server) okPage(c *echo.Context, key string, limit int, read boardRead) error {
	if limit <= ranking.PacedEntries {
		return s.okRead(c, key, read)
	}
	b, err := read.encode(gate.AsCaller(c))
	if err != nil {
		return err
	}
	return respond.Encoded(c, b)
}

// encode reads and encodes the answer.
func (read boardRead) encode(ctx context.Context) ([]byte, error) {
	answer, err := read(ctx)
	if err != nil {
		return nil, err
	}
	return respond.Encode(answer)
}
