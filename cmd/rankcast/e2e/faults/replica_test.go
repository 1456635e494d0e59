package faults

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

// readOnlyReplica is the reason of a node whose Redis is a replica.
const readOnlyReplica = "READONLY You can't write against a read only replica."

// A node whose Redis is a read-only replica is not ready, at its start and later, and says why. It shows
// boards, and takes updates once the replica has become the primary.
func TestReadOnlyReplica(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../../web/docs/operations.md")
	require.NoError(t, err)
	require.Contains(t, string(page), readOnlyReplica, "the page shows what /readyz says")
	primary, replica := redistest.Start(t), redistest.Start(t)
	a := e2etest.Launch(t, "--redis", primary.URL())
	a.Ready()
	require.Equal(t, 200, a.PostOnce("stars", `{"member":"m","score":1,"id":"1"}`).Status)
	replica.Replicate(primary)

	b := e2etest.Launch(t, "--redis", replica.URL(), "--probe-interval", "100ms")
	s := servertest.Dial(t, b.Addr)
	s.Subscribe("stars", 10)
	e2etest.EndsAs(s, a, "stars")
	refuses := func(id string) {
		t.Helper()
		b.Refuses(readOnlyReplica)
		answer := b.PostOnce("stars", `{"member":"m","score":1,"id":"`+id+`"}`)
		require.Equal(t, 503, answer.Status, answer.Body)
		require.Contains(t, answer.Body, readOnlyReplica)
		e2etest.EndsAs(s, b, "stars")
	}
	logged := func(refusals, ends int) {
		t.Helper()
		require.Equal(t, refusals, strings.Count(b.Output(), `reason="`+readOnlyReplica), b.Output())
		require.Equal(t, ends, strings.Count(b.Output(), "Redis allows what this node needs"), b.Output())
	}
	refuses("2")
	require.Equal(t, 200, a.PostOnce("stars", `{"member":"m","score":1,"id":"3"}`).Status)
	e2etest.EndsAs(s, a, "stars")
	require.NoError(t, b.NotReady(readOnlyReplica))
	logged(1, 0)
	require.NotContains(t, b.Output(), "node is ready")

	replica.Promote()
	b.Ready()
	require.Contains(t, b.PostOnce("stars", `{"member":"m","score":1,"id":"2"}`).Body, `"score":3`)
	logged(1, 1)

	// No connection breaks, and no client sends anything: the node notices by itself.
	replica.Replicate(primary)
	refuses("4")
	logged(2, 1)
	replica.Promote()
	b.Ready()
	require.Contains(t, b.PostOnce("stars", `{"member":"m","score":2,"id":"4"}`).Body, `"score":4`)
	e2etest.EndsAs(s, b, "stars")
	logged(2, 2)
}
