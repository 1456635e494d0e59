package ingest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
)

func TestPace(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		p := rateLimit{rate: 1000}
		require.Zero(t, p.book(100), "the credit")
		began := time.Now()
		total := time.Duration(0)
		for _, updates := range []int{100, 20, 64, 700, 135} {
			total += time.Duration(updates) * time.Millisecond
			time.Sleep(10 * time.Millisecond) // the batch is at work
			time.Sleep(p.book(updates))
			require.Equal(t, total, time.Since(began))
		}
		time.Sleep(time.Hour) // what was not used is not saved beyond the credit
		require.Zero(t, p.book(100))
		require.Equal(t, 100*time.Millisecond, p.book(100))
		require.Equal(t, 200*time.Millisecond, p.book(100), "consumers share the rate")
	})
	require.Equal(t, maxEntries, (&rateLimit{rate: 5000}).batch())
	require.Equal(t, 50, (&rateLimit{rate: 500}).batch())
	require.Equal(t, 1, (&rateLimit{rate: MinRate}).batch())
	unbounded := rateLimit{}
	require.Equal(t, maxEntries, unbounded.batch())
	require.Zero(t, unbounded.book(1_000_000))
}
