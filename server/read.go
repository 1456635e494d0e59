package server

import (
	"context"
	"errors"
	"fmt"

	"github.com/labstack/echo/v5"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/server/internal/gate"
	"rankcast/server/internal/respond"
)

// boardRead is a valid request for the state of a board. It is comparable, and holds all that its answer depends
// on: two requests that mean the same are equal. Of the caller it has at most which names the answer may hold:
// authorize has checked all other rights.
type boardRead interface {
	// answer reads the board, and returns what the answer encodes.
	answer(ctx context.Context, s *Server) (any, error)
}

// okRead answers a read. Equal reads that come while one is out share the next one, and its encoded answer.
func (s *Server) okRead(c *echo.Context, r boardRead) error {
	ctx := c.Request().Context()
	b, err := s.reads.Do(ctx, r)
	switch {
	case err == nil:
		return respond.Encoded(c, b)
	case ctx.Err() != nil:
		return fmt.Errorf("%w: %w", definition.ErrUnavailable, err)
	}
	return err
}

// okPage is okRead for a page of up to limit entries. Callers take turns for a large page, so it is not shared.
func (s *Server) okPage(c *echo.Context, r boardRead, limit int) error {
	if limit <= ranking.PacedEntries {
		return s.okRead(c, r)
	}
	b, err := s.encodeRead(gate.AsCaller(c), r)
	if err != nil {
		return err
	}
	return respond.Encoded(c, b)
}

// encodeRead reads and encodes the answer to a read.
func (s *Server) encodeRead(ctx context.Context, r boardRead) ([]byte, error) {
	answer, err := r.answer(ctx, s)
	if err != nil {
		return nil, err
	}
	return respond.Encode(answer)
}

// isTimeout reports whether an error says that Redis was silent for as long as a call waits.
func isTimeout(err error) bool {
	var silent interface{ Timeout() bool }
	return errors.As(err, &silent) && silent.Timeout()
}

// optional is a parameter of a request that may be absent. Unlike a pointer, it equals another one with the same
// value.
type optional[T comparable] struct {
	value T
	given bool
}

// optionally copies the value of a pointer; nil stands for none.
func optionally[T comparable](value *T) optional[T] {
	if value == nil {
		return optional[T]{}
	}
	return optional[T]{*value, true}
}

// pointer returns a pointer to a copy of the value; nil for none.
func (o optional[T]) pointer() *T {
	if !o.given {
		return nil
	}
	return &o.value
}
