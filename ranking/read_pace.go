package ranking

import (
	"context"
	"fmt"
	"time"

	"rankcast/ranking/definition"
)

// PacedEntries is the number of entries beyond which a page of Read takes its turn. A smaller page holds Redis
// for little longer than an update does.
const PacedEntries = 100

// maxRest bounds the pause after a page. A page that took long because Redis was away says nothing of
// the next one.
const maxRest = 100 * time.Millisecond

// callerKey is the key of WithCaller in a context.
type callerKey struct{}

// WithCaller says for whom a context reads large pages. Callers take turns: one that reads many pages does
// not delay another one by more than a page for each of its own. caller is comparable. Without WithCaller,
// all reads are of one caller.
func WithCaller(ctx context.Context, caller any) context.Context {
	return context.WithValue(ctx, callerKey{}, caller)
}

// withoutBuildsKey is the key of WithoutBuilds in a context.
type withoutBuildsKey struct{}

// WithoutBuilds makes reads return ErrNotBuilt at once where they would wait until a result is built. The
// build goes on. If the last build has ended a moment ago, reads return what it came to: its result, although that
// may be too old by now, no data, or its error.
func WithoutBuilds(ctx context.Context) context.Context {
	return context.WithValue(ctx, withoutBuildsKey{}, true)
}

// inTurn runs read when it is the turn of the context's caller. It returns ErrUnavailable when ctx ends before. Callers that
// read large pages take half of the time of Redis at most, all together. A page of 1,000 entries holds Redis for about a
// millisecond: without turns, each update would wait for a page of each caller.
func (s *Store) inTurn(ctx context.Context, read func() error) error {
	end, err := s.largePages.Wait(ctx, ctx.Value(callerKey{}))
	if err != nil {
		return fmt.Errorf("%w: wait for a turn: %w", definition.ErrUnavailable, err)
	}
	defer end()
	return read()
}

// inTurnIf is inTurn for a read that is large enough to wait for its turn. It runs any other read at once.
func (s *Store) inTurnIf(ctx context.Context, isLarge bool, read func() error) error {
	if isLarge {
		return s.inTurn(ctx, read)
	}
	return read()
}
