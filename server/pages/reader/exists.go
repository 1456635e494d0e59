package reader

import (
	"context"
	"errors"
	"time"

	"rankcast/ranking/definition"
	"rankcast/server/access"
	"rankcast/server/overview"
)

// boardWait bounds how long a page waits for Redis to say whether its board exists. The node asks only
// about a name that its own copy of the definitions does not have.
const boardWait = time.Second

// Check is part of pages.Reader. It returns ErrUnknownBoard or ErrUnknownPeriod if there is no board or family of a name that
// callers without credentials may read. Any other board exists, as far as a page tells. An instance of a family exists before
// its first score. While Redis does not answer, each board exists unless its name is invalid.
func (r *Reader) Check(ctx context.Context, name string) error {
	if !r.guard.Anonymous().May(access.ScopeRead, access.Board(name)) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, boardWait)
	defer cancel()
	var err error
	if overview.IsFamily(name) {
		_, err = r.store.Definition(ctx, name)
	} else {
		_, err = r.store.Board(ctx, name)
	}
	var field *definition.FieldError
	switch {
	case errors.Is(err, definition.ErrUnknownBoard), errors.Is(err, definition.ErrUnknownPeriod):
		return err
	case errors.Is(err, definition.ErrInvalid) && errors.As(err, &field): // no board can have the name
		return &definition.FieldError{Field: field.Field, Reason: field.Reason, Kind: definition.ErrUnknownBoard}
	default:
		return nil
	}
}
