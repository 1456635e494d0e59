package ranking

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
)

// A store knows Redis's clock once it has heard it.
func TestStoreTellsRedisClock(t *testing.T) {
	url, set := redistest.Clocked(t)
	now := time.Date(2031, 5, 1, 12, 0, 0, 0, time.UTC)
	set(now)
	s := newNode(t, url)
	require.Zero(t, s.Now())
	_, err := s.Boards(t.Context())
	require.NoError(t, err)
	require.WithinDuration(t, now, s.Now(), time.Minute)
	require.False(t, s.Now().Before(now))
}
