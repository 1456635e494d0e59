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
		"1,200 dead letters moved, 3,400 left: they may have counted, and only --replay-unknown moves them": replayed(1200, 3400,
			ingest.Refused),
		"40 dead letters moved, 1 left: it may have counted, and only --replay-unknown moves it":    replayed(40, 1, ingest.Refused),
		"1 dead letter moved, 2 left: they may have counted, and only --replay-unknown moves them":  replayed(1, 2, ingest.Refused),
		"2 dead letters moved, 1 left: its entry was deleted, so there are no fields to apply":      replayed(2, 1, ingest.All),
		"0 dead letters moved, 2 left: their entries were deleted, so there are no fields to apply": replayed(0, 2, ingest.All),
	} {
		require.Equal(t, want, got)
	}
}
