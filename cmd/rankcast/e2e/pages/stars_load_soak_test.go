//go:build soak && !race

package pages

import "testing"

func TestStarsBearALargeCrowd(t *testing.T) {
	t.Parallel()
	starsBearACrowd(t, 300) // the margin of the heap is below 1 KB for each of the 600 gifts that are compared
}
