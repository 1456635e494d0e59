//go:build soak && !race

package pages

import "testing"

func TestOverlayLeavesNothingBehindForLong(t *testing.T) {
	t.Parallel()
	overlayLeavesNothingBehind(t, 300) // 600 snapshots left behind, of some twenty entries each, would be over 1 MB
}
