package ranking

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
)

// A retry is told from another update by all that an update may have.
func TestDigestOfAnUpdate(t *testing.T) {
	digests := map[string]bool{}
	for _, u := range []definition.Update{{Member: "m"}, {Member: "m", If: definition.Exists},
		{Member: "m", If: definition.Absent}, {Member: "m", Data: "1"}, {Member: "m", Data: "2"},
		{Member: "m", If: definition.Exists, Data: "1"}, {Member: "m", Op: definition.Last}} {
		digests[write{Update: u}.digest(definition.Board{Mode: definition.Sum})] = true
	}
	require.Len(t, digests, 7)
}
