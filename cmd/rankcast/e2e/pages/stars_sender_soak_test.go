//go:build soak && !race

package pages

import "testing"

func TestStarsGiftSenderCountsEachTapOnceForLong(t *testing.T) {
	t.Parallel()
	giftSenderCountsEachTapOnce(t, 60)
}
