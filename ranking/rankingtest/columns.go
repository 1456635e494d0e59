package rankingtest

import (
	"fmt"

	"pgregory.net/rapid"

	"rankcast/ranking/definition"
)

// Columns draws columns whose ranges have a product of at most 2^bits, and often just that.
func Columns(t *rapid.T, bits int) definition.Columns {
	columns := make(definition.Columns, rapid.IntRange(2, 4).Draw(t, "columns"))
	if rapid.IntRange(0, 9).Draw(t, "all columns") == 0 {
		columns = make(definition.Columns, definition.MaxColumns)
	}
	for i := range columns {
		left := len(columns) - 1 - i // each takes one bit at least
		own := rapid.IntRange(1, max(1, bits-left)).Draw(t, "bits")
		if left == 0 && rapid.Bool().Draw(t, "full") {
			own = bits
		}
		bits -= own
		width := int64(1) << own
		low := rapid.SampledFrom([]int64{0, 0, -1, 2 - width, -width / 2}).Draw(t, "min")
		low = max(low, 2-width)
		columns[i] = definition.Column{
			Name: fmt.Sprint("c", i), Order: rapid.SampledFrom([]definition.Order{definition.Desc, definition.Asc}).Draw(t, "order"),
			Min: low, Max: low + width - 1,
		}
	}
	return columns
}

// CompareColumns compares tuples of columns from the left: −1 if the first ranks higher.
func CompareColumns(columns definition.Columns, a, b []int64) int {
	for i, c := range columns {
		switch better := c.Order == definition.Desc; {
		case a[i] == b[i]:
		case a[i] > b[i] == better:
			return -1
		default:
			return 1
		}
	}
	return 0
}
