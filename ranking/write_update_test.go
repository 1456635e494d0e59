package ranking

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A retry is told from another update by all that an update may have.
func TestDigestOfAnUpdate(t *testing.T) {
	digests := map[string]bool{}
	for _, u := range []Update{{Member: "m"}, {Member: "m", If: Exists}, {Member: "m", If: Absent}, {Member: "m", Data: "1"}, {Member: "m", Data: "2"}, {Member: "m", If: Exists, Data: "1"}} {
		digests[write{Update: u}.digest()] = true
	}
	require.Len(t, digests, 6)
}
