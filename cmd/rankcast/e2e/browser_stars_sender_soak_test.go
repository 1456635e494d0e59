//go:build soak && !race

package e2e

import "testing"

func TestStarsGiftSenderCountsEachTapOnceForLong(t *testing.T) {
	t.Parallel()
	giftSenderCountsEachTapOnce(t, 60)
}
