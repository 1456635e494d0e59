//go:build soak && !race

package pages

import "testing"

func TestElementLeavesNothingBehindForLong(t *testing.T) {
	t.Parallel()
	elementLeavesNothingBehind(t, 40, 20, 150) // 4,200 rows: left behind, they would be 70,000 nodes and over 4 MB
}
