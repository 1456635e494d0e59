package ranking

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// No two things of a board are kept under one name.
func TestKeysOfABoardDiffer(t *testing.T) {
	k := keys{"rc"}
	for _, period := range []string{"", "2026"} {
		b, ids := k.board("u", period), k.ids("u")
		all := slices.Concat(b.all(), k.build("u").all(), ids[:], []string{b.periods, b.channel})
		slices.Sort(all)
		require.Equal(t, all, slices.Compact(slices.Clone(all)))
	}
}
