package main

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
)

// A stop ends at its limit, however long the parts of the node take.
func TestStopEndsAtItsLimit(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		time.AfterFunc(time.Hour, stop) // the node serves for a while
		release := make(chan struct{})
		defer close(release)
		started := time.Now()
		var out bytes.Buffer
		log := slog.New(slog.NewTextHandler(&out, nil))
		require.NoError(t, stopWithin(ctx, stopTimeout, log, func() error {
			<-release // a part that never ends
			return nil
		}))
		require.Equal(t, time.Hour+stopTimeout, time.Since(started))
		require.Contains(t, out.String(), "level=WARN")
	})
}

// The parts of a node have until the limit: an earlier end of the node is its result.
func TestStopWaitsForTheNode(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		failed := errors.New("failed")
		ctx, stop := context.WithCancel(t.Context())
		stop()
		require.Equal(t, failed, stopWithin(ctx, stopTimeout, slog.New(slog.DiscardHandler), func() error {
			time.Sleep(stopTimeout - time.Millisecond)
			return failed
		}))
	})
}

// Clients are cut before calls to Redis are, and both before the process ends. All count from the
// same moment.
func TestLimitsOfAStopCountFromItsBegin(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		cuts := make(chan time.Duration, 3)
		began := time.Now().Add(time.Minute)
		for _, limit := range []time.Duration{clientsTimeout, redisTimeout, stopTimeout} {
			defer afterEnd(ctx, limit, func() { cuts <- time.Since(began) })()
		}
		cancel := afterEnd(ctx, redisTimeout, func() { t.Error("was cancelled") })
		time.Sleep(time.Minute)
		stop()
		cancel()
		time.Sleep(stopTimeout)
		for _, limit := range []time.Duration{4 * time.Second, 4500 * time.Millisecond, 5 * time.Second} {
			require.Equal(t, limit, <-cuts)
		}
	})
}
