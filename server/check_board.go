package server

import (
	"context"
	"errors"
	"time"

	"rankcast/ranking"
)

// boardWait bounds how long a page waits for Redis to say whether its board exists. The node asks only
// about a name that its own copy of the definitions does not have.
const boardWait = time.Second

// checkBoard returns ErrUnknownBoard or ErrUnknownPeriod if there is no board or family of a name. An
// instance of a family exists before its first score. While Redis does not answer, each board exists
// unless its name is invalid.
func (s *Server) checkBoard(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, boardWait)
	defer cancel()
	var err error
	if isFamily(name) {
		_, err = s.store.Definition(ctx, name)
	} else {
		_, err = s.store.Board(ctx, name)
	}
	var field *ranking.FieldError
	switch {
	case errors.Is(err, ranking.ErrUnknownBoard), errors.Is(err, ranking.ErrUnknownPeriod):
		return err
	case errors.Is(err, ranking.ErrInvalid) && errors.As(err, &field): // no board can have the name
		return &ranking.FieldError{Field: field.Field, Reason: field.Reason, Kind: ranking.ErrUnknownBoard}
	default:
		return nil
	}
}
