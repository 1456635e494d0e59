//go:build !race

package server_test

import (
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
	n := servertest.Start(t, r.URL(), servertest.Config{Server: server.Config{Limits: access.Config{AddressRequests: access.Unlimited}}}, definition.Board{Name: "b"})
	before := scriptCalls(t, r)
	for i := range pages {
		sizeOfPage(t, n, "/boards/b", i)
	}
	require.Less(t, scriptCalls(t, r)-before, pages*3/2, "with what a node does by itself")
}
