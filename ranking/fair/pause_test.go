package fair_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/fair"
)

// A pause lasts as long as asked for, or until its context ends. An ended context is told also where no time is left.
func TestPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		began := time.Now()
		for _, none := range []time.Duration{0, -time.Second} {
			require.NoError(t, fair.Pause(ctx, none))
		}
		require.Zero(t, time.Since(began))
		require.NoError(t, fair.Pause(ctx, time.Second))
		require.Equal(t, time.Second, time.Since(began))
		require.ErrorIs(t, fair.Pause(ctx, time.Hour), context.DeadlineExceeded)
		require.Equal(t, time.Minute, time.Since(began))
		for _, d := range []time.Duration{time.Hour, 0, -time.Second} {
			require.ErrorIs(t, fair.Pause(ctx, d), context.DeadlineExceeded)
		}
		require.Equal(t, time.Minute, time.Since(began))
	})
}
