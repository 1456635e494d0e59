package reader

import (
	"context"
	"errors"
	"slices"
	"time"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/server/access"
	"rankcast/server/overview"
)

// boardWait bounds how long a page waits for Redis to say whether its board exists. The node asks only
// about a name that its own copy of the definitions does not have.
const boardWait = time.Second

// Check is for pages.Config.CheckBoard. It is checkBoard for pages, which hold only what callers without credentials may read. Any other
// board exists, as far as a page tells.
func (r *Reader) Check(ctx context.Context, name string) error {
	if !r.guard.Anonymous().May(access.ScopeRead, access.Board(name)) {
		return nil
	}
	return r.checkBoard(ctx, name)
}

// shownEvent is the event of the page /stars: the first one, by name, whose definition has a show; nil for none. It looks
// into a list: to look for a name that is not there, a call waits for Redis.
func (r *Reader) shownEvent(ctx context.Context) *definition.Event {
	events, err := r.store.Events(ctx)
	if err != nil {
		return nil
	}
	i := slices.IndexFunc(events, func(e definition.Event) bool { return e.Show != nil })
	if i < 0 {
		return nil
	}
	return &events[i]
}

// AnonymousMaySend reports whether callers without credentials may send the event of the page /stars; before there is
// one, whether they may send an event of any name.
func (r *Reader) AnonymousMaySend(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, boardWait)
	defer cancel()
	name := ""
	if e := r.shownEvent(ctx); e != nil {
		name = e.Name
	}
	return r.guard.Anonymous().May(access.ScopeWrite, access.Event(name))
}

// checkBoard returns ErrUnknownBoard or ErrUnknownPeriod if there is no board or family of a name. An
// instance of a family exists before its first score. While Redis does not answer, each board exists
// unless its name is invalid.
func (r *Reader) checkBoard(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, boardWait)
	defer cancel()
	var err error
	if overview.IsFamily(name) {
		_, err = r.store.Definition(ctx, name)
	} else {
		_, err = r.store.Board(ctx, name)
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
