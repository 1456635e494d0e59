package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/ingest"
)

// A replay says how many dead letters it has moved, and why it has left others.
func TestReplayed(t *testing.T) {
	t.Parallel()
	for want, got := range map[string]string{
		"0 dead letters moved, 0 left": replayed(0, 0, ingest.Refused),
		"1 dead letter moved, 0 left":  replayed(1, 0, ingest.All),
		"1,200 dead letters moved, 3,400 left: only --replay-unknown moves what may have counted": replayed(1200, 3400, ingest.Refused),
		"1 dead letter moved, 1 left: only --replay-unknown moves what may have counted":          replayed(1, 1, ingest.Refused),
		"2 dead letters moved, 1 left: no fields to apply, as the entries were deleted":           replayed(2, 1, ingest.All),
	} {
		require.Equal(t, want, got)
	}
}
