package server

import (
	"context"
	"errors"
	"time"

	"rankcast/ranking"
	"rankcast/server/access"
)

// boardWait bounds how long a page waits for Redis to say whether its board exists. The node asks only
// about a name that its own copy of the definitions does not have.
const boardWait = time.Second

// checkPageBoard is checkBoard for pages, which hold only what callers without credentials may read. Any other
// board exists, as far as a page tells.
func (s *Server) checkPageBoard(ctx context.Context, name string) error {
	if !s.guard.Anonymous().May(access.ScopeRead, access.Board(name)) {
		return nil
	}
	return s.checkBoard(ctx, name)
}

// giftEvent is the event that the star-flower page sends.
const giftEvent = "gift"

// anonymousMaySend reports whether callers without credentials may send what the star-flower page sends.
func (s *Server) anonymousMaySend() bool {
	return s.guard.Anonymous().May(access.ScopeWrite, access.Event(giftEvent))
}

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
