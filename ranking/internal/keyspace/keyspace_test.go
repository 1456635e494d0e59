package keyspace

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// No two things of a board are kept under one name.
func TestKeysOfABoardDiffer(t *testing.T) {
	t.Parallel()
	k := New("rc")
	for _, period := range []string{"", "2026"} {
		b, ids := k.Board("u", period), k.Ids("u")
		all := slices.Concat(b.All(), k.Build("u").All(), ids[:], []string{b.Periods, b.Channel})
		slices.Sort(all)
		require.Equal(t, all, slices.Compact(slices.Clone(all)))
	}
}
