package recent_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
	"rankcast/server/internal/recent"
	"rankcast/server/internal/sharedread"
)

// All who ask for an answer within its age share one read, and no error of it is kept.
func TestCallersShareARead(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		c := recent.New(recent.Age, 10, func(int64) int { return 1 })
		var reads atomic.Int64
		var failure error
		read := func() (int64, error) {
			time.Sleep(recent.Age / 2)
			return reads.Add(1), failure
		}
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() {
				n, err := c.Get(t.Context(), "a", read)
				require.NoError(t, err)
				require.EqualValues(t, 1, n)
			})
		}
		wg.Wait()
		_, ok := c.Fresh("a")
		require.True(t, ok)
		time.Sleep(recent.Age / 2) // the age counts from when the read began
		_, ok = c.Fresh("a")
		require.False(t, ok)

		failure = errors.New("away")
		for range 2 {
			_, err := c.Get(t.Context(), "a", read)
			require.ErrorIs(t, err, failure)
		}
		require.EqualValues(t, 3, reads.Load())
	})
}

// When a caller gives up, the read goes on for the others. A read that panics fails.
func TestACallerMayGiveUp(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		c := recent.New(recent.Age, 10, func(string) int { return 1 })
		gone, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			_, err := c.Get(gone, "a", func() (string, error) { time.Sleep(time.Minute); return "kept", nil })
			require.ErrorIs(t, err, context.Canceled)
		})
		synctest.Wait()
		cancel()
		wg.Wait()
		answer, err := c.Get(t.Context(), "a", func() (string, error) { return "another", nil })
		require.NoError(t, err)
		require.Equal(t, "kept", answer)
		_, err = c.Get(t.Context(), "b", func() (string, error) { panic("a test") })
		require.ErrorIs(t, err, sharedread.ErrPanicked)
	})
}
