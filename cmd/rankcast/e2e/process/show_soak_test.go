//go:build soak

package process

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A node of a show of 40 that gets the changes of all of them shows each of its viewers the right rank at the end.
// The page Capacity gives the figures of such a show.
func TestShowForLong(t *testing.T) {
	r := runBench(t, "show", "--nodes", "40", "--viewers", "5000", "--rate", "1000", "--interval", "1s", "--duration", "30s")
	f := r.Columns[0].Median.Figures
	require.EqualValues(t, 30_000, f["done"])
	require.EqualValues(t, 5000, f["sockets_right"])
	require.Greater(t, f["messages_per_second"], 1000.0, "of two boards and the feed; Redis sends those of a moment together")
}
