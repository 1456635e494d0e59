package overview

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// However many boards there are, nobody waits for 3 s to hear that a store is away.
func TestOverviewTimeoutWithoutAnswers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now().Add(-time.Second) // the definitions took their time, too
		failures := readEach(t.Context(), began, maxOverviewBoards, func(ctx context.Context, _ int) error {
			return call(ctx, time.Hour)
		})
		require.Len(t, failures, maxOverviewBoards)
		for _, err := range failures {
			require.Error(t, err)
		}
		require.Less(t, time.Since(began), 3*time.Second)
	})
}

// A store that is slow, and answers, is waited for however many boards there are.
func TestOverviewContinuesWhileAnswersCome(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for i, err := range readEach(t.Context(), time.Now(), 100,
			func(ctx context.Context, _ int) error { return call(ctx, 1500*time.Millisecond) }) {
			require.NoError(t, err, i)
		}
	})
}

// A part of the store that hangs takes nothing but its own boards from an overview.
func TestOverviewTimeoutOfHangingBoards(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), overviewTimeout)
		defer cancel()
		for i, err := range readEach(ctx, time.Now(), 60, func(ctx context.Context, i int) error {
			if i%3 == 0 || i < 8 { // the first that are asked for, too
				return call(ctx, time.Hour)
			}
			return call(ctx, time.Millisecond)
		}) {
			require.Equal(t, i%3 == 0 || i < 8, err != nil, i)
		}
	})
}

// call stands for a call to a store that takes so long to answer, and for as long as the
// package ranking waits.
func call(ctx context.Context, takes time.Duration) error {
	select {
	case <-time.After(takes):
		return nil
	case <-time.After(2 * time.Second):
	case <-ctx.Done():
	}
	return errors.New("no answer")
}
