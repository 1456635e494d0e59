package profiles

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// A node keeps so many kinds that it has heard of, and then takes it that each has profiles.
func TestKindsThatANodeHasHeardOfAreBounded(t *testing.T) {
	t.Parallel()
	var known Kinds
	require.False(t, known.Has("kind0"))
	for i := range 2 * MaxKinds {
		kind := fmt.Sprint("kind", i)
		known.Add(kind)
		require.True(t, known.Has(kind))
	}
	require.Len(t, known.kinds, MaxKinds+1)
}
