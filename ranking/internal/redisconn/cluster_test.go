package redisconn

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// A node that hangs delays the search for the masters by slotsTimeout at most, once the client has found them. All other
// commands have the time that they had.
func TestSlotsTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var left time.Duration // until the deadline of the call; 0: it has none
		var answer error
		ask := new(slotsHook).ProcessHook(func(ctx context.Context, _ redis.Cmder) error {
			left = 0
			if deadline, ok := ctx.Deadline(); ok {
				left = time.Until(deadline)
			}
			return answer
		})
		slots := redis.NewClusterSlotsCmd(t.Context(), "cluster", "slots")
		answer = errors.New("connection refused")
		for range 2 {
			require.ErrorIs(t, ask(t.Context(), slots), answer)
			require.Zero(t, left, "a first connection takes its time")
		}
		answer = nil
		require.NoError(t, ask(t.Context(), slots))
		for range 2 {
			require.NoError(t, ask(t.Context(), slots))
			require.Equal(t, slotsTimeout, left)
		}
		require.NoError(t, ask(t.Context(), redis.NewCmd(t.Context(), "get", "k")))
		require.Zero(t, left)
	})
}
