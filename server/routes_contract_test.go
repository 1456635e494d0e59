//go:build !race

package server

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/server/internal/gate"
	"rankcast/server/servertest/contract"
)

// The contract has each route of the API and no other, and says of each what its caller needs.
func TestContractHasEachRoute(t *testing.T) {
	t.Parallel()
	s := new(Server)
	routes := make(map[string][]string)
	for _, r := range s.apiRoutes() {
		var scopes []string // nil: for everybody
		if r.need.Scope != 0 {
			scopes = []string{r.need.Scope.String()}
		} else if r.need.Credentials {
			scopes = []string{}
		}
		routes[r.method+" "+gate.DocumentedPath(r.path)] = scopes
	}
	routes["GET /v1/live"] = []string{} // each message needs rights, see the contract of messages
	require.Equal(t, routes, contract.Operations())
}
