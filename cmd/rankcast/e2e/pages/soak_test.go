//go:build soak && !race

package pages

import (
	"testing"
)

func TestElementLeavesNothingBehindForLong(t *testing.T) {
	t.Parallel()
	elementLeavesNothingBehind(t, 40, 20, 150) // 4,200 rows: left behind, they would be 70,000 nodes and over 4 MB
}

func TestOverlayLeavesNothingBehindForLong(t *testing.T) {
	t.Parallel()
	overlayLeavesNothingBehind(t, 300) // 600 snapshots left behind, of some twenty entries each, would be over 1 MB
}

func TestStarsBearALargeCrowd(t *testing.T) {
	t.Parallel()
	starsBearACrowd(t, 300) // the margin of the heap is below 1 KB for each of the 600 gifts that are compared
}

func TestStarsGiftSenderCountsEachTapOnceForLong(t *testing.T) {
	t.Parallel()
	giftSenderCountsEachTapOnce(t, 60)
}
