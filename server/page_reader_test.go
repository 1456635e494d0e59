//go:build !race

package server_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server"
	"rankcast/server/access"
	"rankcast/server/servertest"
)

// The page of a board costs Redis one call. In particular, no page looks there for the boards of star flowers, to which it
// would link: a node asks Redis for a name that it does not know, and waits up to 20 ms.
func TestPageOfABoardIsOneCall(t *testing.T) {
	t.Parallel()
	const pages = 100
	r := redistest.Start(t)
	n := servertest.Start(t, r.URL(), servertest.Config{Server: server.Config{Limits: access.Config{AddressRequests: access.Unlimited}}},
		definition.Board{Name: "b"})
	// A node makes calls by itself, too: the more of them, the longer the pages take.
	fewest := math.MaxInt
	for i := 0; fewest >= pages*3/2 && i < 10*pages; i += pages {
		before := scriptCalls(t, r)
		for j := range pages {
			sizeOfPage(t, n, "/boards/b", i+j)
		}
		fewest = min(fewest, scriptCalls(t, r)-before)
	}
	require.Less(t, fewest, pages*3/2, "calls for the pages")
}
